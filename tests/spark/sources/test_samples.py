"""The findings in a few records of a topic about declared columns, without a broker."""

import json
from typing import Any

import pytest
from fastavro.utils import generate_many
from hypothesis import given, settings

from flareiac_spark.sources.avro.layout import is_value_of
from flareiac_spark.sources.samples import (
    FieldsWithoutColumn,
    SampleRead,
    ValuesWithHeader,
    ValuesWithoutHeader,
    judged,
)
from flareiac_spark_runtime.sources.avro.texts import clause, way_to_read
from flareiac_spark_runtime.sources.avro.types import parse
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.avro_schemas import schemas
from tests.support.avro_values import encoded

COLUMNS = (
    SpecColumn(name="id", type="long"),
    SpecColumn(name="place", type="struct<code: string, rows: list<struct<x: int>>>"),
    SpecColumn(name="raw", type="string"),
    SpecColumn(name="tags", type="map<string, string>"),
)
FIELDS: Any = [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]
SCHEMA: Any = {"type": "record", "name": "R", "fields": FIELDS}


def found(*records: Any) -> dict[str, tuple[str, str]]:
    """The fields without a column, and what is said of each."""
    texts = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    (item,) = judged(SampleRead(format="json", columns=COLUMNS), "orders", texts) or (None,)
    assert item is None or isinstance(item, FieldsWithoutColumn)
    return {} if item is None else {field.path: (clause(field), way_to_read(field)) for field in item.fields}


def test_what_every_column_takes_is_not_reported() -> None:
    assert (
        found({"id": 1, "place": {"code": "a"}, "raw": {"any": "json"}, "tags": {"k": "v"}}, b"no json") == {}
    )


@pytest.mark.parametrize(
    ("values_", "kind"),
    [
        ([1, None, 2], "long"),
        ([1, 2.5], "double"),
        ([2**70], "string"),
        ([True], "boolean"),
        (["x", 1], "string"),
        ([{"b": 1}, {"c": [True]}], "struct<b: long, c: list<boolean>>"),
        ([[], [1]], "list<long>"),
        ([{"odd name": "x"}], "struct<`odd name`: string>"),
    ],
)
def test_a_new_field_has_a_column_to_paste(values_: list[Any], kind: str) -> None:
    assert found(*({"id": 1, "new": value} for value in values_)) == {
        "new": (
            f"the field new ({kind}) has no column",
            f'To read it, write in the stream: column "new" {{ type = "{kind}" }}',
        )
    }


def test_fields_within_columns_and_what_cannot_be_told() -> None:
    record = {"ID": 5, "place": {"zip": "1", "rows": [{"x": 1, "y.z": 2}]}, "empty": None, "${a}": 1}
    ways = {path: way for path, (_clause, way) in found(record).items()}
    assert ways == {
        "place.zip": "To read it, add zip: string to the type of place.",
        "place.rows.element.y.z": "To read it, add `y.z`: long to the type of place.rows.element.",
        "ID": "id differs from it in upper and lower case: write the name as the records have it.",
        "empty": "",
        "${a}": 'To read it, write in the stream: column "$${a}" { type = "long" }',
    }
    assert found(record)["empty"][0] == (
        "the field empty has no column, and does not tell the type of one: it is always null"
    )


def test_records_with_such_fields_are_counted() -> None:
    texts = [json.dumps(record).encode() for record in ({"id": 1}, {"id": 1, "n": 2}, {"n": None})]
    (item,) = judged(SampleRead(format="json", columns=COLUMNS), "orders", [*texts, b"[]", b"{"])
    assert isinstance(item, FieldsWithoutColumn)
    assert (item.having, item.records) == (2, 3)


HEADER = b"\0\0\0\0\x07"


def test_values_with_a_header_that_is_not_read() -> None:
    read = SampleRead(format="avro", columns=(), schema=json.dumps(SCHEMA))
    bare = [encoded(SCHEMA, {"a": at, "b": "x" * 9}) for at in range(3)]
    assert judged(read, "orders", bare) == ()
    assert judged(read, "orders", [HEADER + value for value in bare]) == (
        ValuesWithHeader(topic="orders", records=3),
    )
    assert judged(read, "orders", [HEADER + bare[0], bare[1]]) == ()
    # A value whose first field is 0 begins as a header does
    zero = encoded(SCHEMA, {"a": 0, "b": "\0\0\0\x01"})
    assert judged(read, "orders", [zero]) == ()


def test_values_without_the_header_that_is_read() -> None:
    read = SampleRead(format="avro", columns=())
    assert judged(read, "orders", [HEADER + b"x"]) == ()
    assert judged(read, "orders", [HEADER + b"x", b"{}", b"\0"]) == (
        ValuesWithoutHeader(topic="orders", records=3, bare=2),
    )


@settings(max_examples=60)
@given(schemas())
def test_a_value_of_a_schema_is_one_to_its_last_byte(schema: Any) -> None:
    tree = parse(json.dumps(schema))
    for value in generate_many(schema, 3):
        written = encoded(schema, value)
        assert is_value_of(tree, written)
        assert not is_value_of(tree, written + b"\xff")
        assert not written or not is_value_of(tree, written[:-1])
