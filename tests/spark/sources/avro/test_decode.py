"""The columns that Avro values give, and the records that are bad: a real Spark decodes what fastavro
wrote.
"""

import datetime as dt
import decimal
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from flareiac_spark_runtime.driver.column_types import spark_columns
from flareiac_spark_runtime.sources.avro.columns import columns_of
from flareiac_spark_runtime.sources.avro.decode import Framed, Plain, Writers, decode_avro
from flareiac_spark_runtime.sources.avro.known import NotedSchemas, new_id_in
from flareiac_spark_runtime.sources.avro.spelling import spelled
from flareiac_spark_runtime.sources.avro.types import Record, parse
from flareiac_spark_runtime.sources.decoding import ERROR, ONCE
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.avro_schemas import schemas
from tests.support.avro_values import Json, encoded, framed
from tests.support.kafka_connector import connector_jars
from tests.support.spark_session import spark_session

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
URL = "http://registry:8081"


def record(*fields: Json, name: str = "Order", namespace: str = "shop") -> Json:
    return {"type": "record", "name": name, "namespace": namespace, "fields": list(fields)}


def field(name: str, kind: Json) -> Json:
    return {"name": name, "type": kind}


PLACE = record(field("zip", "string"), field("n", "int"), name="Place")
FIRST = record(
    field("id", "int"),
    field("name", "string"),
    field("at", {"type": "long", "logicalType": "timestamp-millis"}),
)
SECOND = record(
    field("at", {"type": "long", "logicalType": "timestamp-micros"}),
    field("id", "long"),
    field("price", ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]),
    field("place", ["null", PLACE]),
    field("places", {"type": "array", "items": "Place"}),
    field("by", {"type": "map", "values": ["null", "Place"]}),
    field("name", ["null", "string"]),
    field("other", ["int", "string"]),
)
COLUMNS = (
    SpecColumn(name="id", type="long", required=True),
    SpecColumn(name="name", type="string"),
    SpecColumn(name="at", type="timestamptz"),
    SpecColumn(name="price", type="decimal(12,3)"),
    SpecColumn(name="place", type="struct<n: long not null, gone: list<struct<x: date>>, zip: string>"),
    SpecColumn(name="places", type="list<struct<zip: string>>"),
    SpecColumn(name="by", type="map<string, struct<zip: string, n: int>>"),
)
AT = dt.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def spark(jars: tuple[Path, ...], java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    both = (*jars, *connector_jars())
    with spark_session({}, both, java_home, tmp_path_factory.mktemp("spark")) as session:
        yield session


def noted(**missing: str) -> NotedSchemas:
    return NotedSchemas(
        schemas={"1": spelled(parse(json.dumps(FIRST))), "70000": spelled(parse(json.dumps(SECOND)))},
        missing=missing,
    )


def rows(
    spark: Any, values: Sequence[bytes | None], writers: Writers, columns: tuple[SpecColumn, ...] = COLUMNS
) -> list[Mapping[str, Any]]:
    data = [(index, None if value is None else bytearray(value)) for index, value in enumerate(values)]
    frame = decode_avro(
        spark.createDataFrame(data, "at_ int, v binary"), "v", writers, columns, spark_columns
    )
    assert frame.columns == ["at_", "v", *(column.name for column in columns), ERROR, ONCE]
    frame = frame.drop(ONCE)
    return [row.asDict(recursive=True) for row in frame.orderBy("at_").collect()]


def errors(spark: Any, values: Sequence[bytes | None], writers: Writers, *more: Any) -> list[str | None]:
    return [row[ERROR] for row in rows(spark, values, writers, *more)]


def test_records_of_two_writers_give_the_same_columns(spark: Any) -> None:
    old = framed(1, FIRST, {"id": 7, "name": "a", "at": AT})
    new = framed(
        70000,
        SECOND,
        {
            "at": AT,
            "id": 2**40,
            "price": decimal.Decimal("12.34"),
            "place": {"zip": "z", "n": 3},
            "places": [{"zip": "y", "n": 4}],
            "by": {"k": {"zip": "x", "n": 5}, "l": None},
            "name": None,
            "other": "text",
        },
    )
    first, second, tombstone = rows(spark, [old, new, None], Framed(url=URL, noted=noted()))
    at = as_spark(AT)
    for row in (first, second, tombstone):
        del row["v"], row["at_"]
    assert first == {
        "id": 7, "name": "a", "at": at, "price": None, "place": None, "places": None, "by": None, ERROR: None
    }  # fmt: skip
    assert second == {
        "id": 2**40,
        "name": None,
        "at": at,
        "price": decimal.Decimal("12.340"),
        "place": {"n": 3, "gone": None, "zip": "z"},
        "places": [{"zip": "y"}],
        "by": {"k": {"zip": "x", "n": 5}, "l": None},
        ERROR: None,
    }
    assert set(tombstone.values()) == {None}


def test_what_is_no_value_of_its_schema_is_bad_and_a_record_of_nulls_is_not(spark: Any) -> None:
    nullable = record(field("id", ["null", "int"]), field("name", ["null", "string"]))
    known = Framed(
        url=URL,
        noted=NotedSchemas(
            schemas={"5": spelled(parse(json.dumps(nullable)))},
            missing={"9": "the registry does not know it (Schema 9 not found)"},
        ),
    )
    columns = (SpecColumn(name="id", type="int"), SpecColumn(name="name", type="string"))
    whole = framed(5, nullable, {"id": 300, "name": "abc"})
    framing = (
        "the value does not begin with the header of a schema registry, a zero byte and the id of a schema "
        "in four bytes"
    )
    unread = "the bytes are not a value of the schema 5"
    cases: list[tuple[bytes, str | None]] = [
        (whole, None),
        (framed(5, nullable, {"id": None, "name": None}), None),
        (whole[:-1], unread),
        (whole[:5], unread),
        (whole[:4], framing),
        (b"", framing),
        (b"\x01" + whole[1:], framing),
        (b'{"id": 1}', framing),
        (whole[:-3] + b"\xff\xfe\xfd", "a text is not UTF-8"),
        (
            b"\0\0\0\0\x09" + whole[5:],
            "the record has the schema 9: the registry does not know it (Schema 9 not found)",
        ),
    ]
    assert errors(spark, [value for value, _error in cases], known, columns) == [
        error for _value, error in cases
    ]


def test_a_schema_that_does_not_fit_the_columns_makes_its_records_bad_and_no_others(spark: Any) -> None:
    other = record(field("id", "string"), field("name", "string"))
    schemas = {**noted().schemas, "3": spelled(parse(json.dumps(other)))}
    known = Framed(url=URL, noted=NotedSchemas(schemas=schemas))
    good = framed(1, FIRST, {"id": 7, "name": "a", "at": AT})
    assert errors(spark, [good, framed(3, other, {"id": "7", "name": "a"})], known) == [
        None,
        "the record has the schema 3: the field id is string, which the declared type long does not take",
    ]


def test_values_that_must_not_be_null_are_missed(spark: Any) -> None:
    written = record(
        field("id", ["null", "int"]), field("place", record(field("zip", ["null", "string"]), name="P"))
    )
    columns = (
        SpecColumn(name="id", type="int", required=True),
        SpecColumn(name="place", type="struct<zip: string not null>"),
    )
    values = [
        encoded(written, {"id": 1, "place": {"zip": "z"}}),
        encoded(written, {"id": None, "place": {"zip": "z"}}),
        encoded(written, {"id": 1, "place": {"zip": None}}),
        None,
    ]
    assert errors(spark, values, Plain(schema=parse(json.dumps(written))), columns) == [
        None,
        "there is no value for id, which is not null",
        "there is no value for a part of place, which is not null",
        None,
    ]


def test_an_id_that_is_not_known_fails_and_names_itself(spark: Any) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as caught:
        rows(spark, [framed(81, FIRST, {"id": 7, "name": "a", "at": AT})], Framed(url=URL, noted=noted()))
    assert new_id_in(str(caught.value)) == (URL, 81)


def test_no_column_of_the_value_is_needed(spark: Any) -> None:
    good = framed(1, FIRST, {"id": 7, "name": "a", "at": AT})
    assert errors(spark, [good, good[:-1]], Framed(url=URL, noted=noted()), ()) == [
        None,
        "the bytes are not a value of the schema 1",
    ]


@given(schema=schemas())
@settings(max_examples=12)
def test_spark_reads_what_fastavro_has_written(spark: Any, schema: Json) -> None:
    tree = parse(json.dumps(schema))
    assert isinstance(tree, Record)
    columns = tuple(SpecColumn(name=name, type=kind) for name, kind in columns_of(tree))
    values = [value_of(schema, turn) for turn in range(3)]
    found = rows(spark, [encoded(schema, value) for value in values], Plain(schema=tree), columns)
    names = [column.name for column in columns]
    assert [{name: row[name] for name in names} for row in found] == [
        {name: as_spark(value[name]) for name in names} for value in values
    ]
    assert [row[ERROR] for row in found] == [None] * len(values)


def value_of(schema: Json, turn: int) -> Any:
    """A value of a schema whose names were met before."""
    named: dict[str, Json] = {}

    def value(kind: Json) -> Any:
        match kind:
            case [*members]:
                return value(members[turn % len(members)])
            case {"type": "record", "name": name, "fields": fields}:
                named[name] = kind
                return {item["name"]: value(item["type"]) for item in fields}
            case {"type": "enum", "symbols": symbols}:
                return symbols[turn % len(symbols)]
            case {"type": "fixed", "size": size}:
                return bytes(range(size))
            case {"type": "array", "items": items}:
                return [value(items)] * turn
            case {"type": "map", "values": values}:
                return {f"k{index}": value(values) for index in range(turn)}
            case {"logicalType": logical}:
                return LOGICAL[logical](turn, kind)
            case str(name):
                return PLAIN[name](turn)
            case _:
                raise AssertionError(kind)

    return value(schema)


PLAIN: Mapping[str, Any] = {
    "null": lambda turn: None,
    "boolean": lambda turn: turn % 2 == 0,
    "int": lambda turn: turn - 2**31,
    "long": lambda turn: 2**62 + turn,
    "float": lambda turn: turn / 4,
    "double": lambda turn: turn / 8,
    "bytes": lambda turn: bytes([255] * turn),
    "string": lambda turn: "ü" * turn,
}
LOGICAL: Mapping[str, Any] = {
    "date": lambda turn, kind: dt.date(2026, 1, 1 + turn),
    "time-millis": lambda turn, kind: dt.time(turn, 0, 0),
    "timestamp-millis": lambda turn, kind: AT + dt.timedelta(days=turn),
    "timestamp-micros": lambda turn, kind: AT + dt.timedelta(days=turn),
    "local-timestamp-millis": lambda turn, kind: AT.replace(tzinfo=None) + dt.timedelta(days=turn),
    "local-timestamp-micros": lambda turn, kind: AT.replace(tzinfo=None) + dt.timedelta(days=turn),
    "decimal": lambda turn, kind: decimal.Decimal(turn).scaleb(-kind["scale"]),
}


def as_spark(value: Any) -> Any:
    match value:
        case dt.datetime(tzinfo=dt.UTC):
            return value.astimezone().replace(tzinfo=None)  # collect() gives the machine's time
        case dt.time():
            return value.hour * 3_600_000
        case bytes():
            return bytearray(value)
        case dict():
            return {name: as_spark(each) for name, each in value.items()}
        case list():
            return [as_spark(each) for each in value]
        case _:
            return value
