"""Some changes of the record of a resource type make earlier states unreadable, and others do not."""

from dataclasses import field, make_dataclass
from typing import Any, Literal

import pytest

from flareiac.kernel.records import SPARSE, named
from tests.formats.reading_changes import unreadable_changes
from tests.formats.recorded_resources import RecordedType
from tests.formats.test_recorded_resources import complaint


def _record(name: str = "Thing", **fields: Any) -> Any:
    """A record with fields; of a pair, the second part is the ``dataclasses.field``."""
    parts = [(key, *kind) if isinstance(kind, tuple) else (key, kind) for key, kind in fields.items()]
    return make_dataclass(name, parts, kw_only=True)


def _type(**fields: Any) -> RecordedType:
    """A resource type with the record inside a list and in a map, where paths go on."""
    thing: Any = _record(**fields)
    outer = _record("Outer", things=tuple[thing, ...], named=dict[str, thing])
    # The version is that of an installed type.
    return RecordedType(name="topic", attributes=outer)


INNER = _record("Inner", x=int)
BEFORE: dict[str, Any] = {
    "a": str,
    "b": int | None,
    "c": Literal["red", "blue"],
    "d": INNER | None,
    "e": (str, field(default="", metadata=SPARSE)),
    "f": (int, field(default=5)),
}
BREAKING: list[tuple[dict[str, Any], str]] = [
    ({name: kind for name, kind in BEFORE.items() if name != "a"}, ".attributes.things[].a is gone."),
    ({name: kind for name, kind in BEFORE.items() if name != "a"}, ".attributes.named.*.a is gone."),
    ({**BEFORE, "a": (str, field(metadata=named("z")))}, ".z is new and has no default."),
    ({**BEFORE, "new": str}, ".new is new and has no default."),
    ({**BEFORE, "a": int}, ".a was of type string and is of type integer."),
    ({**BEFORE, "b": int}, ".b was of type null and is of type integer."),
    ({**BEFORE, "b": str | None}, ".b was of type integer and is of type"),
    ({**BEFORE, "a": tuple[str, ...]}, ".a was of type string and is of type array."),
    ({**BEFORE, "a": Literal["x"]}, ".a took any value, and takes ['x']."),
    ({**BEFORE, "c": Literal["red"]}, ".c took ['red', 'blue'], and takes ['red']."),
    ({**BEFORE, "d": dict[str, int] | None}, ".d was a record and is a map."),
    ({**BEFORE, "d": _record("Inner", x=str) | None}, ".d.x was of type integer and is of type string."),
    ({**BEFORE, "e": str}, ".e has no default any more."),
    ({**BEFORE, "e": (str, field(default="x"))}, ".e is left out for '', and its default is another one."),
    ({**BEFORE, "f": int}, ".f has no default any more."),
]
READABLE: list[dict[str, Any]] = [
    BEFORE,
    {**BEFORE, "new": (str, field(default="x"))},
    {**BEFORE, "new": (str, field(default="", metadata=SPARSE))},
    {**BEFORE, "a": str | None},
    {**BEFORE, "a": Any},
    {**BEFORE, "b": float | None},
    {**BEFORE, "b": int | str | None},
    {**BEFORE, "c": Literal["red", "blue", "green"]},
    {**BEFORE, "c": str},
    {**BEFORE, "d": _record("Other", x=int) | None},
    {**BEFORE, "e": (str, field(default=""))},
    {**BEFORE, "f": (int, field(default=6))},
]


@pytest.mark.parametrize(("fields", "said"), BREAKING)
def test_a_change_that_needs_an_upgrade(fields: dict[str, Any], said: str) -> None:
    """The complaint names the field, and what to do."""
    committed, changed = _type(**BEFORE).schema(), _type(**fields)
    text = complaint(changed, committed)
    assert said in text
    assert "add an upgrade to `upgrades` of the type" in text
    assert complaint(changed, {**committed, "version": 0}) == ""


@pytest.mark.parametrize("fields", READABLE)
def test_a_change_that_needs_none(fields: dict[str, Any]) -> None:
    assert complaint(_type(**fields), _type(**BEFORE).schema()) == ""


def test_a_version_never_goes_back() -> None:
    later = {**_type(**BEFORE).schema(), "version": 2}
    assert "it was 2 already" in complaint(_type(**BEFORE), later)


def test_a_record_may_hold_records_of_its_own_kind() -> None:
    own: Any = {"$ref": "#/$defs/T"}

    def tree(kind: str) -> Any:
        parts = {"x": {"type": kind}, "below": {"type": "array", "items": own}}
        return {**own, "$defs": {"T": {"type": "object", "properties": parts, "required": ["x", "below"]}}}

    assert unreadable_changes(tree("string"), tree("string")) == []
    assert unreadable_changes(tree("string"), tree("integer")) == [
        ".x was of type string and is of type integer."
    ]
