"""Rules of Iceberg about types: names of fields, widening, ids; and what functions of columns refuse."""

import pytest

from flareiac.kernel.column_types import TypeTextError
from flareiac_iceberg.format.metadata import nodes
from flareiac_iceberg.format.transforms import FUNCTIONS
from flareiac_iceberg.format.types import can_become, table_type
from flareiac_iceberg.table.schema_updates import new_schema


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("struct<a: int, a: int>", "two fields"),
        ("list<struct<a: int, A: int>>", "differ in case only"),
        ("map<string, struct<`a.b`: int>>", "has a dot"),
    ],
)
def test_names_of_fields_that_a_table_cannot_have(text: str, hint: str) -> None:
    with pytest.raises(TypeTextError, match=hint):
        table_type(text)


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
