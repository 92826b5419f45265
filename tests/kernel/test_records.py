"""The codec of records: what is written comes back; what does not fit is refused by the place where it
stands.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.data import ABSENT, UNKNOWN, Attributes, Reference, Seconds
from flareiac.kernel.records import (
    IMPLIED,
    SPARSE,
    UNSTORED,
    Foreign,
    Form,
    Mismatch,
    MissingField,
    _compiled_decoder,
    _compiled_encoder,
    _decode_record,
    _encode_record,
    _Rules,
    decode,
    encode,
    named,
)


class Colour(StrEnum):
    RED = "red"


Spelled: TypeAlias = Annotated[int, Form(str, int)]
"""A number that is written as a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle:
    radius: float
    kind: Literal["circle"] = "circle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    side: int = 1
    kind: Literal["square"] = "square"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    colour: Colour
    source: str = field(metadata=named("from"))
    shapes: tuple[Circle | Square, ...] = ()
    path: tuple[str | int, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    facts: Attributes = field(default_factory=dict)
    inner: "Picture | None" = field(default=None, metadata=SPARSE)
    spelled: Spelled | None = None
    each_spelled: tuple[Spelled, ...] = ()
    cache: Any = field(default=None, metadata=UNSTORED)


WHOLE = Picture(
    colour=Colour.RED,
    source="x",
    shapes=(Circle(radius=1.5), Square()),
    path=("column", 0),
    sizes={"a": 1},
    facts={"table": Reference("table.a"), "later": UNKNOWN, "gone": ABSENT, "odd": {"$ref": "no reference"}},
    inner=Picture(colour=Colour.RED, source="y"),
)


def test_a_record_comes_back() -> None:
    assert decode(Picture, encode(WHOLE), complete=True) == WHOLE


def test_names_enums_and_plain_data_are_written_as_json_has_them() -> None:
    data = encode(WHOLE)
    assert data["from"] == "x"
    assert type(data["colour"]) is str
    assert data["facts"]["table"] == {"$ref": "table.a"}
    assert data["facts"]["odd"] == {"$$ref": "no reference"}


def test_what_lives_in_memory_alone_is_not_written_and_what_is_empty_may_be_left_out() -> None:
    data = encode(Picture(colour=Colour.RED, source="y", cache=object()))
    assert "cache" not in data
    assert "inner" not in data
    assert decode(Picture, data, complete=True).inner is None


def test_a_field_with_a_default_may_be_missing_unless_all_must_be_there() -> None:
    assert decode(Picture, {"colour": "red", "from": "x"}) == Picture(colour=Colour.RED, source="x")
    with pytest.raises(MissingField, match=r"^Picture\.shapes is missing"):
        decode(Picture, {"colour": "red", "from": "x"}, complete=True)


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"colour": "green"}, r"Picture\.colour is 'green'"),
        ({"more": 1}, r"Picture\.more is not known"),
        ({"from": 1}, r"Picture\.from is 1, expected a value of type str"),
        ({"path": [True]}, r"Picture\.path\[0\] is True"),
        ({"sizes": {"a": 1.5}}, r"Picture\.sizes\.a is 1\.5"),
        ({"shapes": [{"kind": "circle"}]}, r"Picture\.shapes\[0\]\.radius is missing"),
        ({"shapes": [{"kind": "cube"}]}, r"Picture\.shapes\[0\]\.kind is 'cube', which is not known"),
        ({"shapes": [{"kind": ["circle"]}]}, r"Picture\.shapes\[0\]\.kind"),
        ({"inner": {"colour": "red"}}, r"Picture\.inner\.from is missing"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(part: dict[str, Any], place: str) -> None:
    with pytest.raises(Mismatch, match=f"^{place}"):
        decode(Picture, {**encode(WHOLE), **part})


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Foreign):
    batch: int = field(metadata=named("batchId"))


def test_of_another_program_only_what_is_named_is_read() -> None:
    assert decode(Report, {"batchId": 3, "runId": "r"}) == Report(batch=3)
    with pytest.raises(Mismatch, match=r"^Report\.batchId is 'x'"):
        decode(Report, {"batchId": "x"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    at: Seconds


@pytest.mark.parametrize("at", [True, "1", None, 1e12, -1e12, 10**30])
def test_a_time_is_one_that_a_calendar_can_show(at: Any) -> None:
    with pytest.raises(Mismatch, match=r"Moment.at is .*, expected seconds since 1970"):
        decode(Moment, {"at": at})
    assert decode(Moment, {"at": 5}).at == 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Disk:
    kind: Literal["disk"] = field(default="disk", metadata=IMPLIED)
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shelf:
    parts: tuple[_Disk | Circle, ...]


def test_the_member_of_a_union_that_was_there_first_is_written_without_its_kind() -> None:
    shelf = _Shelf(parts=(_Disk(size=1), Circle(radius=2.0)))
    data = encode(shelf)
    assert data == {"parts": [{"size": 1}, {"kind": "circle", "radius": 2.0}]}
    assert decode(_Shelf, data, complete=True) == shelf
    with pytest.raises(Mismatch, match=r"parts\[0\]\.kind is 'cone'"):
        decode(_Shelf, {"parts": [{"kind": "cone", "size": 1}]})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beginning:
    at: str | Mapping[str, Mapping[str, int]] | None = None


@pytest.mark.parametrize("at", [None, "earliest", {}, {"orders": {"0": 1}}])
def test_a_text_or_a_map_is_either(at: str | Mapping[str, Mapping[str, int]] | None) -> None:
    assert decode(_Beginning, encode(_Beginning(at=at))) == _Beginning(at=at)


@pytest.mark.parametrize(
    ("at", "says"),
    [
        (3, "at is 3, expected a value of type str"),
        ({"orders": {"0": "1"}}, r"at\.orders\.0 is '1', expected"),
    ],
)
def test_neither_a_text_nor_a_map_of_the_right_values_is_a_mismatch(at: object, says: str) -> None:
    with pytest.raises(Mismatch, match=says):
        decode(_Beginning, {"at": at})


_FITS: Final = st.builds(
    Picture,
    colour=st.just(Colour.RED),
    source=st.text(max_size=3),
    shapes=st.lists(
        st.builds(Circle, radius=st.floats(allow_nan=False)) | st.builds(Square, side=st.integers())
    ).map(tuple),
    path=st.lists(st.text(max_size=2) | st.integers()).map(tuple),
    sizes=st.dictionaries(st.text(max_size=2), st.integers()),
    spelled=st.none() | st.integers(),
    each_spelled=st.lists(st.integers()).map(tuple),
    inner=st.none() | st.builds(Picture, colour=st.just(Colour.RED), source=st.text(max_size=3)),
)
_ODD: Final = st.sampled_from([None, True, 1, 1.5, "x", [], ["x"], {}, {"kind": "square"}, {"colour": "red"}])


@st.composite
def _spoiled(draw: st.DrawFn) -> Any:
    """The JSON of a picture with a value replaced, removed or added somewhere."""
    whole = encode(draw(_FITS))
    part = whole
    while draw(st.booleans()):
        inside = [item for item in part.values() if isinstance(item, dict) and item]
        if not inside:
            break
        part = draw(st.sampled_from(inside))
    name = draw(st.sampled_from([*part, "other"]))
    if draw(st.booleans()):
        part[name] = draw(_ODD)
    else:
        part.pop(name, None)
    return whole


def _read(decoder: Callable[[Any], Any], data: Any) -> Any:
    try:
        return decoder(data)
    except (ValueError, TypeError) as problem:
        return type(problem), str(problem)


@given(_spoiled(), st.booleans(), st.booleans())
def test_what_is_read_often_is_read_as_the_first_time(data: Any, complete: bool, lenient: bool) -> None:
    rules = _Rules(complete=complete, lenient=lenient)
    exact = partial(_decode_record, Picture, rules)
    assert _read(_compiled_decoder(Picture, rules, exact), data) == _read(exact, data)


@given(_FITS)
def test_what_is_written_often_is_written_as_the_first_time(picture: Picture) -> None:
    exact = partial(_encode_record, Picture)
    assert repr(_compiled_encoder(Picture, exact)(picture)) == repr(exact(picture))
