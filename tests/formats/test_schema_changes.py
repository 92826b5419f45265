"""Some changes of a record need a higher version of its document, and others do not."""

from dataclasses import field, make_dataclass
from enum import Enum
from typing import Any, Literal

import pytest

from flareiac.kernel.records import OPTIONAL, SPARSE, named
from tests.formats.documents import DOCUMENTS, Document
from tests.formats.record_schemas import schema_of
from tests.formats.schema_changes import breaking_changes
from tests.formats.test_formats import complaint


class Colour(Enum):
    RED = "red"


class MoreColours(Enum):
    RED = "red"
    BLUE = "blue"


def _record(**fields: Any) -> Any:
    """A record with fields; of a pair, the second part is the ``dataclasses.field``."""
    parts = [(name, *kind) if isinstance(kind, tuple) else (name, kind) for name, kind in fields.items()]
    return make_dataclass("Thing", parts, kw_only=True)


def _inside(record: Any) -> Any:
    """The record inside a list of another one, where paths go on."""
    return make_dataclass("Outer", [("things", tuple[record, ...])])


BEFORE: dict[str, Any] = {"a": str, "b": int | None, "c": Colour}
SPARSE_TEXT = (str, field(default="", metadata=SPARSE))
OPTIONAL_TEXT = (str | None, field(default=None, metadata=OPTIONAL))
CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"a": str, "b": int | None}, ".things[].c is gone."),
    ({**BEFORE, "new": str}, ".things[].new is new and always written."),
    ({**BEFORE, "a": int}, 'a: type was "string" and is "integer"'),
    ({**BEFORE, "b": int}, ".things[].b"),
    ({**BEFORE, "b": int | str | None}, "takes other values"),
    ({**BEFORE, "c": MoreColours}, 'enum was ["red"] and is ["red", "blue"]'),
    ({**BEFORE, "a": SPARSE_TEXT}, "is no longer always written"),
    ({**BEFORE, "a": (str, field(default="x"))}, "default"),
    ({**BEFORE, "a": tuple[str, ...]}, "type was"),
    ({"b": int | None, "c": Colour, "z": (str, field(metadata=named("y")))}, ".things[].a is gone."),
    ({**BEFORE, "c": Literal["green"]}, "enum was"),
]


@pytest.mark.parametrize(("fields", "said"), CHANGES)
@pytest.mark.parametrize("passed_over", [True, False])
def test_a_change_that_needs_a_higher_version(fields: dict[str, Any], said: str, passed_over: bool) -> None:
    old, new = (schema_of(_inside(_record(**each))) for each in (BEFORE, fields))
    assert said in " ".join(breaking_changes(old, new, passed_over=passed_over))


@pytest.mark.parametrize("new", [SPARSE_TEXT, OPTIONAL_TEXT])
@pytest.mark.parametrize("passed_over", [True, False])
def test_a_new_field_that_is_left_out_while_it_is_empty_needs_none(new: Any, passed_over: bool) -> None:
    old, after = schema_of(_inside(_record(**BEFORE))), schema_of(_inside(_record(**BEFORE, new=new)))
    assert breaking_changes(old, after, passed_over=passed_over) == []


def test_a_new_field_with_a_default_needs_none_where_readers_pass_over_it() -> None:
    new = (str, field(default="x"))
    old, after = schema_of(_inside(_record(**BEFORE))), schema_of(_inside(_record(**BEFORE, new=new)))
    assert breaking_changes(old, after, passed_over=True) == []
    assert breaking_changes(old, after, passed_over=False) == [".things[].new is new and always written."]


def _kind(name: str, **fields: Any) -> Any:
    """A record that is distinguished by its ``kind``."""
    kind = (Literal[name], field(default=name))
    return make_dataclass(name.title(), [("kind", *kind), *fields.items()], kw_only=True)


FILES, TOPIC, QUEUE = _kind("files", path=str), _kind("topic", topic=str), _kind("queue", queue=str)
UNTAGGED = make_dataclass("Untagged", [("name", str)])


def _between(before: Any, after: Any, *, passed_over: bool = False) -> list[str]:
    """The changes between two unions."""
    old, new = (schema_of(_inside(kind)) for kind in (before, after))
    return breaking_changes(old, new, passed_over=passed_over)


@pytest.mark.parametrize("old", [FILES | TOPIC, FILES | TOPIC | None, FILES | UNTAGGED])
def test_one_more_kind_in_a_union_needs_none_where_readers_refuse_it(old: Any) -> None:
    assert _between(old, old | QUEUE) == []
    assert "takes other values" in " ".join(_between(old, old | QUEUE, passed_over=True))


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (FILES, "takes other values"),
        (FILES | QUEUE, "takes other values"),
        (FILES | _kind("topic", topic=int), ".things[].topic: type was"),
        (FILES | _kind("topic", topic=int) | QUEUE, ".things[].topic: type was"),
        (FILES | TOPIC | UNTAGGED, "takes other values"),
        (FILES | TOPIC | make_dataclass("Twin", [("kind", Literal["topic"])]), "takes other values"),
        (FILES | TOPIC | None, "takes other values"),
    ],
)
def test_another_change_of_a_union_needs_a_higher_version(new: Any, said: str) -> None:
    assert said in " ".join(_between(FILES | TOPIC, new))


def test_one_more_kind_of_records_without_kinds_needs_a_higher_version() -> None:
    other = make_dataclass("Other", [("path", str)])
    assert "takes other values" in " ".join(_between(UNTAGGED | other, UNTAGGED | other | QUEUE))


def test_one_more_kind_of_source_keeps_the_version_of_a_job() -> None:
    """A contributor's source is refused by drivers that do not know it; nothing else of the files changes."""
    document = next(each for each in DOCUMENTS if each.name == "job-spec")
    committed, fewer = document.schema(), document.schema()
    sources = fewer["$defs"]["StreamInput"]["properties"]["source"]["anyOf"]
    del sources[0]
    assert complaint(document, fewer) == ""
    assert complaint(document, committed) == ""
    committed["$defs"]["StreamInput"]["properties"]["source"]["anyOf"].append({"$ref": "#/$defs/Step"})
    assert "takes other values" in complaint(document, committed)


def test_an_unchanged_record_needs_none() -> None:
    schema = schema_of(_inside(_record(**BEFORE)))
    assert breaking_changes(schema, schema, passed_over=False) == []


def test_a_new_name_of_a_record_needs_none() -> None:
    renamed = make_dataclass("Other", list(BEFORE.items()))
    old, new = schema_of(_inside(_record(**BEFORE))), schema_of(_inside(renamed))
    assert breaking_changes(old, new, passed_over=False) == []


def _document(kind: Any, version: int) -> Document:
    return Document(
        name="thing",
        title="Thing",
        place="`thing.json`",
        kind=kind,
        version=version,
        version_in="in `version`",
        declared_in="`VERSION` in `thing.py`",
        writer="commands",
        reader="commands",
    )


def test_a_developer_is_told_what_to_do() -> None:
    committed = _document(_record(**BEFORE), 1).schema()
    changed = _record(**BEFORE, new=str)
    said = complaint(_document(changed, 1), committed)
    for part in (
        "The stored document thing changed, and its version is still 1",
        ".new is new and always written.",
        "give it a default and the metadata SPARSE or OPTIONAL",
        "raise the version: `VERSION` in `thing.py`",
        "FLAREIAC_UPDATE_GOLDEN=1 pytest tests/formats",
    ):
        assert part in said
    assert complaint(_document(changed, 2), committed) == ""
    assert "it was 2 already" in complaint(_document(changed, 1), _document(changed, 2).schema())
