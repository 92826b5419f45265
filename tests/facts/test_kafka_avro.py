"""The meaning of Avro values to Spark beyond their shape, and the values that it writes of rows: logical
types, defaults, and nulls that a schema does not take.
"""

import io
import json
import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import fastavro
import pytest

from tests.facts.ids import fact
from tests.facts.lake import collected

pytestmark = [pytest.mark.jvm, pytest.mark.kafka]

MILLIS: Final = {"type": "long", "logicalType": "timestamp-millis"}
MICROS: Final = {"type": "long", "logicalType": "timestamp-micros"}
MOMENT: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def record(*fields: tuple[Any, ...]) -> dict[str, Any]:
    """An Avro record; a field is a name, a type and perhaps a default."""
    listed = [
        {"name": item[0], "type": item[1], **({"default": item[2]} if len(item) > 2 else {})}
        for item in fields
    ]
    return {"type": "record", "name": "Flight", "fields": listed}


def encoded(schema: Mapping[str, Any], **fields: object) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(dict(schema)), fields)
    return out.getvalue()


def read(spark: Any, data: bytes, writer: Any, reader: Any = None) -> tuple[Any, ...]:
    """The fields of a value, by the schema that wrote it, and that of a reader."""
    from pyspark.sql.avro.functions import from_avro

    options = {"mode": "FAILFAST", **({"avroSchema": json.dumps(reader)} if reader else {})}
    value = spark.sql(f"SELECT X'{data.hex()}' AS value")
    (row,) = collected(value.select(from_avro("value", json.dumps(writer), options).alias("r")).select("r.*"))
    return tuple(row)


def written(spark: Any, sql: str, schema: Mapping[str, Any] | None = None) -> bytes:
    """The bytes that ``to_avro`` makes of a struct."""
    from pyspark.sql.avro.functions import to_avro

    text = None if schema is None else json.dumps(schema)
    frame = spark.sql(f"SELECT {sql} AS r").repartition(1)  # so that a job writes it, not the optimizer
    ((found,),) = collected(frame.select(to_avro("r", text) if text else to_avro("r")))
    return bytes(found)


def back(data: bytes, schema: Mapping[str, Any]) -> Any:
    """The value, as another implementation reads it; every byte belongs to it."""
    stream = io.BytesIO(data)
    found = fastavro.schemaless_reader(stream, fastavro.parse_schema(dict(schema)), None)
    assert stream.read() == b""
    return found


@fact("avro.logical")
@pytest.mark.parametrize(
    ("kind", "value", "found"),
    [
        (MILLIS, MOMENT, MOMENT),
        (MICROS, MOMENT, MOMENT),
        ({"type": "int", "logicalType": "date"}, date(2026, 1, 2), date(2026, 1, 2)),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
            Decimal("12.50"),
            Decimal("12.50"),
        ),
        ({"type": "int", "logicalType": "time-millis"}, 5, 5),
    ],
)
def test_logical_types_are_values_of_sparks_types(
    application: Any, kind: Any, value: Any, found: Any
) -> None:
    """The schema reads what it wrote; a time of day is the number that is written."""
    schema = record(("a", kind))
    (given,) = read(application, encoded(schema, a=value), schema)
    assert (given.astimezone(UTC) if isinstance(given, datetime) else given) == found


@fact("avro.logical-of-reader")
def test_what_a_number_means_is_taken_from_the_reader(application: Any) -> None:
    """Milliseconds that a reader calls microseconds are read as such, a thousandth, without an error."""
    data = encoded(record(("a", MILLIS)), a=MOMENT)
    (found,) = read(application, data, record(("a", MILLIS)), record(("a", MICROS)))
    assert found.timestamp() * 1000 == pytest.approx(MOMENT.timestamp())


@fact("avro.default-of-writer")
def test_a_default_fills_what_a_writer_does_not_know(application: Any) -> None:
    """Never what a writer wrote: a null that is written stays null."""
    optional = ["null", "string"]
    reader = record(("a", ["string", "null"], "filled"))
    assert read(application, encoded(record(("b", "int")), b=1), record(("b", "int")), reader) == ("filled",)
    writer = record(("a", optional))
    assert read(application, encoded(writer, a=None), writer, reader) == (None,)


@fact("avro.to-own-schema")
def test_rows_are_written_without_a_header(application: Any) -> None:
    """With the schema of the struct: a column that may be null is a union with null last, another one is its
    type.
    """
    data = written(application, "named_struct('a', 1, 'b', CAST(NULL AS STRING))")
    assert back(data, record(("a", "int"), ("b", ["string", "null"]))) == {"a": 1, "b": None}
    assert data[:5] != struct.pack(">bI", 0, 1)


@fact("avro.to-given-schema")
def test_rows_are_written_by_the_names_of_a_given_schema(application: Any) -> None:
    """Not by their order; the place of null in a union is the schema's."""
    schema = record(("b", ["null", "string"]), ("a", "int"))
    data = written(application, "named_struct('a', 1, 'b', 'x')", schema)
    assert back(data, schema) == {"a": 1, "b": "x"}


@fact("avro.to-not-null")
def test_a_null_where_a_schema_takes_none_fails(application: Any) -> None:
    """The write of the row fails, and nothing before it: whether a column may be null is not compared."""
    schema = record(("a", "int"))
    column = "named_struct('a', IF(rand() < 2, {}, 1))"
    assert back(written(application, column.format("2"), schema), schema) == {"a": 2}
    with pytest.raises(Exception, match=r"(?i)null"):
        written(application, column.format("CAST(NULL AS INT)"), schema)


@fact("avro.to-missing")
@pytest.mark.parametrize(
    ("sql", "schema"),
    [
        ("named_struct('a', 1)", record(("a", "int"), ("b", "string"))),
        ("named_struct('a', 1, 'b', 'x')", record(("a", "int"))),
        ("named_struct('a', CAST(1 AS BIGINT))", record(("a", "int"))),
        ("named_struct('a', 1)", record(("a", "long"))),
    ],
)
def test_a_schema_with_other_fields_or_types_fails(application: Any, sql: str, schema: Any) -> None:
    """A field too few or too many, and a number of another width."""
    with pytest.raises(Exception, match=r"(?i)avro"):
        written(application, sql, schema)
