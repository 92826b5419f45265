"""Type text: what is read, what is refused, and that printing and reading are inverse."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac_iceberg.format.metadata import nodes
from flareiac_iceberg.format.transforms import FUNCTIONS
from flareiac_iceberg.format.types import (
    Field,
    List,
    Map,
    Primitive,
    Struct,
    TypeTextError,
    can_become,
    parse,
    render,
)
from flareiac_iceberg.table.schema_updates import new_schema


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("bigint", "long"),
        ("INT", "int"),
        ("long not null", "long"),
        ("  decimal( 12 , 2 ) NOT NULL ", "decimal(12,2)"),
        ("fixed(16)", "fixed(16)"),
        ("array<bigint not null>", "list<long not null>"),
        (
            "map<string,struct<a:int not null,`b c`: list<date>>>",
            "map<string, struct<a: int not null, `b c`: list<date>>>",
        ),
    ],
)
def test_read(text: str, plain: str) -> None:
    kind, required = parse(text)
    assert render(kind) == plain
    assert required == ("not null" in text.lower() and "<" not in text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("timestamp", "timestamptz"),
        ("variant", "format version 3"),
        ("nope", "There is no type"),
        ("", "too early"),
        ("decimal(40,2)", "precision"),
        ("decimal", 'write, for example, "decimal(12,2)"'),
        ("struct<a int>", '":"'),
        ("struct<a: int, a: int>", "two fields"),
        ("struct<>", "field name"),
        ("list<int", '">"'),
        ("int int", 'Nothing may stand after "int"'),
        ("int not", "null"),
        ("int;", "no meaning"),
        ("list<" * 50 + "int" + ">" * 50, "levels deep"),
    ],
)
def test_refused_with_a_reason(text: str, hint: str) -> None:
    with pytest.raises(TypeTextError, match=None) as caught:
        parse(text)
    assert hint in str(caught.value)


PRIMITIVES = st.sampled_from(
    ["int", "long", "string", "date", "decimal(9,2)", "fixed(3)", "timestamp_ntz"]
).map(Primitive)


def _nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    part = st.tuples(inner, st.booleans())
    names = st.lists(st.sampled_from(["a", "b", "c d"]), min_size=1, unique=True)
    structs = names.flatmap(
        lambda found: st.tuples(*[part for _ in found]).map(
            lambda parts: Struct(
                tuple(
                    Field(name=name, type=kind, required=need)
                    for name, (kind, need) in zip(found, parts, strict=True)
                )
            )
        )
    )
    lists = part.map(lambda item: List(Field(name="element", type=item[0], required=item[1])))  # type: ignore[arg-type]
    maps = st.tuples(inner, part).map(
        lambda item: Map(
            Field(name="key", type=item[0], required=True),  # type: ignore[arg-type]
            Field(name="value", type=item[1][0], required=item[1][1]),  # type: ignore[arg-type]
        )
    )
    return structs | lists | maps


@given(st.recursive(PRIMITIVES, _nested, max_leaves=8), st.booleans())
def test_printing_and_reading_are_inverse(kind: object, required: bool) -> None:
    text = render(kind) + (" not null" if required else "")  # type: ignore[arg-type]
    assert parse(text) == (kind, required)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(TypeTextError):
        parse(text)


def test_field_ids_are_fresh_and_unique() -> None:
    schema = new_schema(
        [
            ("a", "struct<x: list<int>, y: map<string, struct<z: int>>>", False, None),
            ("b", "long", True, "c"),
        ],
        ["b"],
    )
    ids = [node.id for node in nodes(schema)]
    assert sorted(ids) == list(range(1, len(ids) + 1))


def test_widening() -> None:
    assert can_become("int", "long")
    assert can_become("decimal(5,2)", "decimal(9,2)")
    assert not can_become("long", "int")
    assert not can_become("decimal(5,2)", "decimal(9,3)")
    assert not can_become("date", "timestamptz")


def test_functions_refuse_what_has_no_meaning() -> None:
    calls = {item.name: item.call for item in FUNCTIONS}
    with pytest.raises(ValueError, match="whole number"):
        calls["bucket"](0, "a")
    with pytest.raises(ValueError, match="first"):
        calls["asc"]("a", "middle")
    with pytest.raises(ValueError, match="column"):
        calls["desc"](5)
    assert calls["desc"](calls["bucket"](4, "a"))["transform"] == "bucket"
