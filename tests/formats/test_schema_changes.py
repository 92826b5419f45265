"""Some changes of a record need a higher version of its document, and others do not."""

from dataclasses import field, make_dataclass
from enum import Enum
from typing import Any, Literal

import pytest

from flareiac.kernel.records import OPTIONAL, SPARSE, named
from tests.formats.documents import Document
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
