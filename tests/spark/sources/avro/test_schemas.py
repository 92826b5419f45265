"""The meaning of Avro schemas as columns, and their differences from declared columns, without Spark."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flareiac.kernel.column_types import render, type_of
from flareiac_spark_runtime.sources.avro.columns import NoColumn, columns_of, natural_type
from flareiac_spark_runtime.sources.avro.differences import (
    MissingField,
    NewField,
    NotARecord,
    NotReadable,
    TypeDiffers,
    blocks,
    differences,
)
from flareiac_spark_runtime.sources.avro.spelling import spelled
from flareiac_spark_runtime.sources.avro.texts import clause, way_to_read
from flareiac_spark_runtime.sources.avro.types import NotAvro, Record, parse
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.avro_schemas import schemas


def record(*fields: dict[str, Any], name: str = "R") -> str:
    return json.dumps({"type": "record", "name": name, "fields": fields})


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def columns(text: str) -> tuple[SpecColumn, ...]:
    found = parse(text)
    assert isinstance(found, Record)
    return tuple(SpecColumn(name=name, type=kind) for name, kind in columns_of(found))


NATURAL = (
    ("int", "int"),
    (["null", "long"], "long"),
    (["long", "null"], "long"),
    (["int", "long"], "long"),
    (["null", "double", "float"], "double"),
    (["int", "string"], "struct<member0: int, member1: string>"),
    ("bytes", "binary"),
    ({"type": {"type": "string", "avro.java.string": "String"}}, "string"),
    (logical("int", "date"), "date"),
    (logical("int", "time-millis"), "int"),
    (logical("long", "timestamp-millis"), "timestamptz"),
    (logical("long", "local-timestamp-micros"), "timestamp_ntz"),
    (logical("long", "timestamp-nanos"), "long"),
    (logical("string", "uuid"), "string"),
    (logical("bytes", "decimal", precision=10, scale=2), "decimal(10,2)"),
    (logical("bytes", "decimal", precision=50, scale=2), "binary"),
    ({**logical("fixed", "decimal", precision=5), "name": "F", "size": 4}, "decimal(5,0)"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, "string"),
    ({"type": "array", "items": ["null", {"type": "map", "values": "int"}]}, "list<map<string, int>>"),
)


@pytest.mark.parametrize(("kind", "expected"), NATURAL, ids=[expected for _kind, expected in NATURAL])
def test_the_column_of_a_field_holds_what_spark_reads(kind: Any, expected: str) -> None:
    assert natural_type(parse(json.dumps(kind))) == expected
    assert render(type_of(expected)) == expected


NO_COLUMN = (
    ("null", "is always null"),
    (field("next", ["null", "R"]), "contains itself (R)"),
    ({"type": "record", "name": "E", "fields": []}, "has a record without fields"),
    (
        {"type": "record", "name": "E", "fields": [field("a", "int"), field("A", "int")]},
        "has fields that differ in upper and lower case alone (a, A)",
    ),
)


@pytest.mark.parametrize(("kind", "why"), NO_COLUMN, ids=[why for _kind, why in NO_COLUMN])
def test_a_field_that_no_column_can_hold_says_why(kind: Any, why: str) -> None:
    given_field = kind if "name" in kind and "fields" not in kind else field("x", kind)
    schema = parse(record(given_field))
    assert isinstance(schema, Record)
    with pytest.raises(NoColumn) as caught:
        natural_type(schema.fields[0].type)
    assert str(caught.value) == why


BROKEN = (
    ("{", "it is not JSON"),
    ('{"type": "recrod", "name": "R"}', "it names the type recrod, which is not defined"),
    (record(field("a", "Missing")), "it names the type Missing, which is not defined"),
    ('{"type": "record", "name": "R"}', "the record R has no fields"),
    (record(field("a b", "int")), "a field of R has no name or no type"),
    (record(field("a", "int"), field("a", "int")), "R has two fields of one name"),
    (record(field("a", ["int", "int"])), "a union with two types of one kind"),
    (record(field("a", [["int"]])), "a union in a union"),
    (json.dumps(["a"] * 3), "not defined"),
    ("[" * 400, "it is not JSON"),
)


@pytest.mark.parametrize(("text", "why"), BROKEN, ids=[why for _text, why in BROKEN])
def test_a_text_that_is_no_schema_says_why(text: str, why: str) -> None:
    with pytest.raises(NotAvro, match=why.replace("(", r"\(")):
        parse(text)


def test_deep_nesting_is_refused() -> None:
    text = '{"type": "array", "items": ' * 100 + '"int"' + "}" * 100
    with pytest.raises(NotAvro, match="nested more than 60 deep"):
        parse(text)


def test_names_are_found_by_namespace_and_in_other_schemas() -> None:
    inner = json.dumps({"type": "record", "name": "In", "namespace": "a.b", "fields": [field("x", "int")]})
    outer = {
        "type": "record",
        "name": "Out",
        "namespace": "a.b",
        "fields": [field("one", "In"), field("two", "a.b.In")],
    }
    found = parse(json.dumps(outer), [inner])
    assert isinstance(found, Record)
    assert dict(columns_of(found)) == {"one": "struct<x: int>", "two": "struct<x: int>"}
    assert parse(spelled(found)) == found


WRITTEN = record(
    field("id", "long"),
    field("name", "string"),
    field("price", logical("bytes", "decimal", precision=10, scale=2)),
    field("at", logical("long", "timestamp-millis")),
    field("place", ["null", json.loads(record(field("zip", "string"), field("n", "int"), name="P"))]),
    field("raw", "bytes"),
    field("f", "float"),
    field("count", "int"),
)
FITS = (
    ("id", "long"),
    ("name", "uuid"),
    ("name", "binary"),
    ("id", "decimal(19,0)"),
    ("price", "decimal(12,4)"),
    ("count", "double"),
    ("f", "double"),
    ("place", "struct<n: long not null, zip: string>"),
)
DIFFERS = (
    ("id", "int", "long"),
    ("id", "double", "long"),
    ("id", "decimal(18,0)", "long"),
    ("id", "timestamptz", "long"),
    ("at", "timestamp_ntz", "timestamptz"),
    ("at", "long", "timestamptz"),
    ("price", "decimal(10,3)", "decimal(10,2)"),
    ("price", "decimal(10,1)", "decimal(10,2)"),
    ("raw", "string", "binary"),
    ("place", "string", "struct<zip: string, n: int>"),
)


@pytest.mark.parametrize(("name", "kind"), FITS)
def test_a_wider_type_takes_a_field(name: str, kind: str) -> None:
    found = differences(parse(WRITTEN), [SpecColumn(name=name, type=kind)])
    assert [item for item in found if not isinstance(item, NewField)] == []


@pytest.mark.parametrize(("name", "kind", "written"), DIFFERS)
def test_a_type_that_loses_or_misreads_does_not(name: str, kind: str, written: str) -> None:
    found = differences(parse(WRITTEN), [SpecColumn(name=name, type=kind)])
    assert [item for item in found if blocks(item)] == [
        TypeDiffers(path=name, written=written, declared=kind)
    ]


def test_each_difference_is_named_with_its_path() -> None:
    text = record(
        field("id", "long"),
        field("orderId", "string"),
        field("place", json.loads(record(field("zip", "string"), field("more", "int"), name="P"))),
        field("next", ["null", "R"]),
    )
    declared_columns = [
        SpecColumn(name="id", type="long", required=True),
        SpecColumn(name="orderid", type="string"),
        SpecColumn(name="gone", type="int", required=True),
        SpecColumn(name="place", type="struct<zip: string, code: int not null>"),
        SpecColumn(name="next", type="string"),
    ]
    found = differences(parse(text), declared_columns)
    assert found == [
        MissingField(path="orderid", required=False, similar="orderId"),
        MissingField(path="gone", required=True),
        MissingField(path="place.code", required=True),
        NewField(path="place.more", type="int", within="place"),
        NotReadable(path="next", why="contains itself (R)"),
        NewField(path="orderId", type="string", similar="orderid"),
    ]
    assert [blocks(item) for item in found] == [False, True, True, False, True, False]
    assert clause(found[0]) == (
        "the schema has no field orderid, whose column is null in every record (it has orderId)"
    )
    new = found[-1]
    assert isinstance(new, NewField)
    assert way_to_read(new) == (
        "orderid differs from it in upper and lower case: write the name as the records have it."
    )


def test_values_that_are_no_records_have_no_columns() -> None:
    (found,) = differences(parse('"string"'), [SpecColumn(name="a", type="string")])
    assert isinstance(found, NotARecord)
    assert blocks(found)


@settings(max_examples=40)
@given(schemas())
def test_what_is_spelled_is_the_same_schema(schema: Any) -> None:
    once = parse(json.dumps(schema))
    again = parse(spelled(once))
    assert spelled(again) == spelled(once)
    assert columns(spelled(once)) == columns(json.dumps(schema))


@settings(max_examples=40)
@given(schemas())
def test_columns_that_are_derived_fit_and_are_types_of_ours(schema: Any) -> None:
    text = json.dumps(schema)
    found = columns(text)
    assert differences(parse(text), found) == [
        item for item in differences(parse(text), ()) if isinstance(item, NewField) and item.type is None
    ]
    for column in found:
        assert render(type_of(column.type)) == column.type


@settings(max_examples=40)
@given(schemas(), st.data())
def test_a_column_that_is_left_out_is_a_new_field_with_its_block(schema: Any, data: st.DataObject) -> None:
    text = json.dumps(schema)
    found = list(columns(text))
    if not found:
        return
    left_out = data.draw(st.sampled_from(found))
    found.remove(left_out)
    assert NewField(path=left_out.name, type=left_out.type) in differences(parse(text), found)
