"""Schemas and page of stored documents are those of the code. FLAREIAC_UPDATE_GOLDEN=1 writes them."""

import json
import os
import re
from typing import Final

import pytest

from tests.docs.pages import DOCS
from tests.formats.documents import DOCUMENTS, Document

FORMATS: Final = DOCS / "formats"
PAGE: Final = FORMATS / "README.md"
_AGAIN: Final = "FLAREIAC_UPDATE_GOLDEN=1 pytest tests/formats"


def _text(document: Document) -> str:
    return json.dumps(document.schema(), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_schema_is_that_of_the_record(document: Document) -> None:
    path, text = FORMATS / f"{document.name}.json", _text(document)
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        pytest.fail(f"{path.name} is not the schema of what this release writes. Write it again: {_AGAIN}")


def _table() -> str:
    names = ("document", "place", "version", "written by", "read by", "unknown fields", "a higher version")
    return f"| {' | '.join(names)} |\n{'|---' * len(names)}|\n" + "".join(map(_row, DOCUMENTS))


def _row(item: Document) -> str:
    cells = (
        f"[{item.title}]({item.name}.json)",
        item.place,
        f"{item.version}, {item.version_in}",
        item.writer,
        item.reader,
        item.unknown,
        item.higher,
    )
    return f"| {' | '.join(cells)} |\n"


def test_the_page_lists_the_documents() -> None:
    text = PAGE.read_text(encoding="utf-8")
    fresh = re.sub(
        r"(<!-- generated: documents -->\n).*?(<!-- end -->)",
        lambda match: f"{match[1]}{_table()}{match[2]}",
        text,
        flags=re.DOTALL,
    )
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        PAGE.write_text(fresh, encoding="utf-8")
    else:
        assert text == fresh, f"Write it again: {_AGAIN}"


def test_each_schema_is_of_a_document() -> None:
    assert {path.stem for path in FORMATS.glob("*.json")} == {document.name for document in DOCUMENTS}
