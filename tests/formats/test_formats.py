"""The schemas and the page of stored documents are those of the code, and a document that changes gets a
higher version. FLAREIAC_UPDATE_GOLDEN=1 writes schemas and page where no version is missing.
"""

import json
import os
import re
from typing import Any, Final

import pytest

from tests.docs.pages import DOCS
from tests.formats.documents import DOCUMENTS, PASSED_OVER, PRINTED, Document
from tests.formats.schema_changes import breaking_changes

FORMATS: Final = DOCS / "formats"
PAGE: Final = FORMATS / "README.md"
_AGAIN: Final = "FLAREIAC_UPDATE_GOLDEN=1 pytest tests/formats"


def _text(document: Document) -> str:
    return json.dumps(document.schema(), indent=1, ensure_ascii=False) + "\n"


def complaint(document: Document, committed: dict[str, Any]) -> str:
    """Tells a developer who changed a document, and not its version, what to do; empty where all is well."""
    fresh = document.schema()
    if fresh["version"] < committed["version"]:
        return f"The version of {document.name} is {fresh['version']}; it was {committed['version']} already."
    if fresh["version"] > committed["version"]:
        return ""
    lenient = document.unknown == PASSED_OVER
    changes = breaking_changes(committed, fresh, passed_over=lenient)
    if not changes:
        return ""
    changed = "\n".join(f"  {change}" for change in changes)
    if document.made_again:
        return (
            f"The stored document {document.name} changed, and its version is still {document.version}:\n"
            f"{changed}\n"
            f"Raise the version: {document.declared_in}. What was kept is then made again.\n"
            f"Then write the schemas again: {_AGAIN}"
        )
    gentle = "give it a default" if lenient else "give it a default and the metadata SPARSE or OPTIONAL"
    return (
        f"The stored document {document.name} changed, and its version is still {document.version}:\n"
        f"{changed}\n"
        f"Keep the version where a field is new, and {gentle}.\n"
        f"Otherwise raise the version: {document.declared_in}. Let its reader take the earlier version, too, "
        "and prove that in tests/compatibility.\n"
        f"Then write the schemas again: {_AGAIN}"
    )


@pytest.mark.parametrize("document", [*DOCUMENTS, *PRINTED], ids=lambda document: document.file)
def test_a_changed_document_has_a_higher_version(document: Document) -> None:
    path, text = FORMATS / document.file, _text(document)
    committed = path.read_text(encoding="utf-8") if path.exists() else text
    if said := complaint(document, json.loads(committed)):
        pytest.fail(said)
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or committed != text:
        pytest.fail(f"{path.name} is not the schema of what this release writes. Write it again: {_AGAIN}")


def _table() -> str:
    names = ("document", "place", "version", "written by", "read by", "unknown fields", "a higher version")
    return f"| {' | '.join(names)} |\n{'|---' * len(names)}|\n" + "".join(map(_row, [*DOCUMENTS, *PRINTED]))


def _row(document: Document) -> str:
    cells = (
        f"[{document.title}]({document.file})",
        document.place,
        f"{document.version}, {document.version_in}",
        document.writer,
        document.reader,
        document.unknown,
        document.higher,
    )
    return f"| {' | '.join(cells)} |\n"


def check_generated(name: str, table: str) -> None:
    """Fails unless the page has this table between the marks of that name."""
    text = PAGE.read_text(encoding="utf-8")
    fresh = re.sub(
        rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)",
        lambda match: f"{match[1]}{table}{match[2]}",
        text,
        flags=re.DOTALL,
    )
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        PAGE.write_text(fresh, encoding="utf-8")
    else:
        assert text == fresh, f"Write it again: {_AGAIN}"


def test_the_page_lists_the_documents() -> None:
    check_generated("documents", _table())


def test_each_schema_is_of_a_document() -> None:
    paths = {path.relative_to(FORMATS).as_posix() for path in FORMATS.rglob("*.json")}
    of_resources = {path for path in paths if path.startswith("resources/")}
    assert paths - of_resources == {document.file for document in (*DOCUMENTS, *PRINTED)} | {
        "printed/language.json"
    }
