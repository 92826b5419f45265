"""The files in the user's cache fit the schemas, each is of a document, and no module keeps one there that
has none.
"""

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from flareiac.kernel import user_cache
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.grammar import SHIPPED
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import NODE_TYPES, Node, children, literal_text
from flareiac.lang.syntax_cache import encode
from flareiac_spark.checkpoint_files.manager import mark
from flareiac_spark.runtime.cache import remembered
from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.lock_file import render_lock
from flareiac_spark_runtime.checkpoint_log import MANAGED_BY
from tests.docs.pages import ROOT
from tests.formats.cached import KeptBlock
from tests.formats.documents import DOCUMENTS, Document
from tests.formats.record_schemas import schema_of
from tests.formats.test_formats import complaint
from tests.formats.test_written_documents import PROJECT, check
from tests.support.command_line import flareiac

_KEPT: Final = {"syntax/*": "syntax-cache", "blocks/*": "kept-blocks", "figures-*": "figures"}
"""The documents that a project without jobs keeps."""
_KEEPERS: Final = {
    "flareiac/app/figures_cache.py": "figures",
    "flareiac/config/kept_blocks.py": "kept-blocks",
    "flareiac/lang/grammar.py": "grammar-table",
    "flareiac/lang/syntax_cache.py": "syntax-cache",
    "providers/flareiac_spark/job/kept_answers.py": "kept-answers",
    "providers/flareiac_spark/runtime/jars.py": "file-note",
    "providers/flareiac_spark/runtime/java.py": "file-note",
    # No documents
    "flareiac/kernel/user_cache.py": "the cache itself",
    "providers/flareiac_spark/runtime/archive.py": "archives of classes, which the JVM writes and checks",
    "providers/flareiac_spark/runtime/doctor.py": "looks at the folder",
    "providers/flareiac_spark_runtime/control/records.py": "logs and locks of a driver on this machine",
    "providers/flareiac_spark_runtime/driver/code_folder.py": "Python code of jobs, by its digest",
}
"""The modules that write to the cache, or know where it is: the document, or what it is instead."""
_USE: Final = re.compile(r"user_cache\.keep\w*\(|\bcache_directory\(|(?<!def )\bremembered\(")


def test_what_a_project_keeps_fits(tmp_path: Path, empty_cache: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(PROJECT, encoding="utf-8")
    for command in (("apply", "-auto-approve"), ("plan",)):
        done = flareiac(tmp_path, *command)
        assert done.code == 0, done.text
    folder, kept = empty_cache, set()
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = path.relative_to(folder).as_posix()
        (document,) = (document for pattern, document in _KEPT.items() if fnmatch(name, pattern))
        content = user_cache.read_json(name)
        check(document, content)
        if document == "kept-blocks":
            block = Draft202012Validator(schema_of(KeptBlock))
            errors = [
                each.message for text in content.values() for each in block.iter_errors(json.loads(text))
            ]
            assert content
            assert errors == []
        kept.add(document)
    assert kept == set(_KEPT.values())


_EVERY_NODE: Final = """
a = -1 + b.c[0] * f::g(x, y...) == (true ? null : "t")
b = [d.*.e, d[*].e[*].f, { k = "x ${y} %{if z}1%{else}2%{endif}%{for q in r}${q}%{endfor}" }]
c = [for v in w : v if v]
d = { for k, v in w : k => v... }
e = <<-END
  text ${y}
END
block "label" {
  inner {}
}
"""


def test_every_kind_of_node_fits() -> None:
    body = parse_file(Source("x", _EVERY_NODE), Diagnostics(), cache=False)
    seen: dict[type[Node], Node] = {}
    rest: list[Node] = [body]
    for node in rest:  # grows while it is gone through
        seen.setdefault(type(node), node)
        rest.extend(children(node))
    assert [kind.__name__ for kind in NODE_TYPES if kind not in seen] == []
    for node in seen.values():
        entry = {"syntax": json.loads(json.dumps(encode(node))), "mentions": []}
        check("syntax-cache", {"reader": "", "text": "", "ranges": [], "entries": {"x": entry}})


def test_the_grammar_fits() -> None:
    check("grammar-table", SHIPPED.read_bytes())


def test_a_note_of_a_file_fits(tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_bytes(b"a")
    assert remembered(tmp_path / "note.json", tmp_path / "a.jar", lambda _path: "hash") == "hash"
    check("file-note", (tmp_path / "note.json").read_bytes())


def test_the_lock_of_jars_fits() -> None:
    """Its blocks, which are HCL, as the JSON that the schema is of."""
    written = render_lock({Coordinate("g", "a", "1"): "0" * 64, Coordinate("g", "b", "2"): "1" * 64})
    body = parse_file(Source("lock", written), Diagnostics(), cache=False)
    content: dict[str, Any] = {}
    for block in body.blocks:
        values = {item.name: literal_text(item.expr) for item in block.body.attributes}
        content.setdefault(block.type, {})[block.labels[0]] = values
    assert len(content["jar"]) == 2
    check("jar-lock", content)


def test_a_mark_of_a_checkpoint_fits(tmp_path: Path) -> None:
    mark(tmp_path, "lineage", moved_to="there")
    check("mark", (tmp_path / MANAGED_BY).read_bytes())


def test_every_module_that_keeps_something_has_a_document() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ("flareiac", "providers", "state")
        for path in (ROOT / room).rglob("*.py")
        if _USE.search(path.read_text(encoding="utf-8"))
    }
    assert found == _KEEPERS.keys()
    names = {document.name for document in DOCUMENTS}
    assert {name for name in _KEEPERS.values() if " " not in name} <= names


_MADE_AGAIN: Final = [each for each in DOCUMENTS if each.made_again]


@pytest.mark.parametrize("document", _MADE_AGAIN, ids=lambda each: each.name)
def test_a_developer_hears_that_a_cache_is_made_again(document: Document) -> None:
    fresh = document.schema()
    said = complaint(document, {**fresh, "type": "array"})
    assert "What was kept is then made again." in said
    assert document.declared_in in said
    assert "tests/compatibility" not in said
    assert complaint(document, {**fresh, "type": "array", "version": 0}) == ""
