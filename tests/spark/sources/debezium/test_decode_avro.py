"""The rows that are read of Debezium's envelopes of Avro: a real Spark decodes what fastavro wrote."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.functions import unix_micros

from flareiac_spark_runtime.driver.column_types import spark_columns
from flareiac_spark_runtime.sources.avro.decode import Framed, Plain, Writers
from flareiac_spark_runtime.sources.avro.known import NotedSchemas
from flareiac_spark_runtime.sources.avro.spelling import spelled
from flareiac_spark_runtime.sources.avro.types import parse
from flareiac_spark_runtime.sources.debezium.decode_avro import Decoding, decode_envelopes
from flareiac_spark_runtime.sources.debezium.names import CHANGE
from flareiac_spark_runtime.sources.decoding import ERROR, ONCE
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.avro_values import encoded, framed
from tests.support.debezium import (
    MYSQL,
    NOW_MS,
    PLACEHOLDER,
    POSTGRESQL,
    Kind,
    Sample,
    as_avro,
    avro_schema,
    comparable,
    decimal,
    envelope,
    kinds,
    mysql,
    postgresql,
    rows,
    time,
    unscaled,
)
from tests.support.kafka_connector import connector_jars
from tests.support.spark_session import spark_session

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
URL = "http://registry:8081"
_CHANGE = tuple(SpecColumn(name=name, type=kind) for name, kind in CHANGE.items())
_ID = SpecColumn(name="id", type="long", required=True)
_LONG = Kind(type="int64")
SOURCE = postgresql(lsn=9, committed=4)


@pytest.fixture(scope="module")
def spark(jars: tuple[Path, ...], java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    # A zone of its own: no value may depend on it.
    conf = {"spark.sql.session.timeZone": "America/Los_Angeles"}
    both = (*jars, *connector_jars())
    with spark_session(conf, both, java_home, tmp_path_factory.mktemp("spark")) as session:
        yield session


def decoded(
    spark: Any, values: list[Any], writers: Writers, columns: tuple[SpecColumn, ...], **options: str
) -> list[dict[str, Any]]:
    frame = spark.createDataFrame(list(enumerate(values)), "at_ int, v binary")
    settings = {name.replace("_", "."): text for name, text in options.items()}
    how = Decoding(options=settings, ddl=spark_columns)
    found = decode_envelopes(frame, "v", writers, (*columns, *_CHANGE), how)
    for name in [column.name for column in (*columns, *_CHANGE) if column.type == "timestamptz"]:
        found = found.withColumn(name, unix_micros(name))
    return [row.asDict() for row in found.orderBy("at_").drop("at_", "v", ONCE).collect()]


def known(schemas: Mapping[int, Any]) -> Framed:
    texts = {str(number): spelled(parse(json.dumps(schema))) for number, schema in schemas.items()}
    return Framed(url=URL, noted=NotedSchemas(schemas=texts))


def columns_of(samples: Mapping[str, Sample]) -> tuple[SpecColumn, ...]:
    return tuple(SpecColumn(name=name, type=sample.declared) for name, sample in samples.items())


@pytest.mark.parametrize("which", ["postgresql", "mysql"])
def test_rows_of_every_type_are_read_by_the_schema_of_their_id(spark: Any, which: str) -> None:
    samples, source, position = {
        "postgresql": (POSTGRESQL, SOURCE, "00000000000000000004.00000000000000000009"),
        "mysql": (
            MYSQL,
            mysql("bin.000007", 120, 2),
            "00000000000000000007.00000000000000000120.00000000000000000002",
        ),
    }[which]
    pairs = rows(samples)
    changes = [envelope("u", source=source, before=None, after=row) for row, _ in pairs]
    values = [as_avro(change, kinds(samples), 3) for change in changes]
    found = decoded(spark, values, known({3: avro_schema(kinds(samples), source)}), columns_of(samples))
    beside = {"change_op": "u", "change_time": NOW_MS * 1000, "change_position": position, ERROR: None}
    assert found == [{**comparable(row), **beside} for _, row in pairs]


def test_a_schema_that_changes_at_the_source_is_read_beside_the_old_one(spark: Any) -> None:
    old = {"id": _LONG, "price": decimal(8, 2), "gone": Kind(type="string")}
    new = {"id": _LONG, "price": decimal(10, 3), "note": Kind(type="string")}
    schemas = {1: avro_schema(old, SOURCE), 2: avro_schema(new, SOURCE)}
    columns = (
        _ID,
        SpecColumn(name="price", type="decimal(10,3)"),
        SpecColumn(name="note", type="string"),
    )
    first = envelope("c", source=SOURCE, after={"id": 1, "price": unscaled(Decimal("1.50")), "gone": "x"})
    second = envelope("u", source=SOURCE, after={"id": 1, "price": unscaled(Decimal("1.505")), "note": "y"})
    last = envelope("d", source=SOURCE, before={"id": 1})
    values = [as_avro(first, old, 1), as_avro(second, new, 2), as_avro(last, new, 2), None]
    found = decoded(spark, values, known(schemas), columns)
    assert [(row["id"], row["price"], row["note"], row["change_op"], row[ERROR]) for row in found] == [
        (1, Decimal("1.500"), None, "c", None),
        (1, Decimal("1.505"), "y", "u", None),
        (1, None, None, "d", None),
    ]


def test_values_of_one_schema_need_no_registry(spark: Any) -> None:
    row = {"id": _LONG}
    schema = avro_schema(row, SOURCE)
    change = envelope("r", source=SOURCE, after={"id": 5})
    values = [as_avro(change, row, 1)[5:], b"\x09"]
    good, bad = decoded(spark, values, Plain(schema=parse(json.dumps(schema))), (_ID,))
    assert (good["id"], good["change_op"], good["change_position"], good[ERROR]) == (
        5,
        "r",
        "00000000000000000004.00000000000000000000",
        None,
    )
    assert bad[ERROR] == "the bytes are not a value of the schema"


BAD: tuple[tuple[Kind, str, str, Any, str], ...] = (
    (_LONG, "long", "t", None, "was truncated"),
    (_LONG, "long", "x", None, "Debezium has no operation x"),
    (_LONG, "long", "c", None, "the change does not have the row after it"),
    (_LONG, "long", "d", None, "REPLICA IDENTITY FULL"),
    (Kind(type="string"), "string", "u", PLACEHOLDER, "REPLICA IDENTITY FULL"),
    (Kind(type="bytes"), "binary", "u", PLACEHOLDER.encode(), "REPLICA IDENTITY FULL"),
    (decimal(9, 3), "decimal(9,2)", "c", unscaled(Decimal("1.001")), "x does not fit the type decimal(9,2)"),
    (time("MicroTimestamp", "int64"), "timestamptz", "c", 2**63 - 1, "x does not fit the type timestamptz"),
    (time("Timestamp", "int64"), "long", "c", 1, "x is timestamp_ntz, which the declared type long does not"),
    (time("Unknown", "int64"), "long", "c", 1, "x is io.debezium.time.Unknown, whose meaning is not known"),
    (Kind(type="string"), "binary", "c", "00", "x is a text: write binary.handling.mode in options"),
    (_LONG, "long not null", "c", {}, "there is no value for x, which is not null"),
)


def test_what_cannot_be_read_is_bad_and_says_why(spark: Any) -> None:
    for kind, declared, op, value, text in BAD:
        row = {"id": _LONG, "x": kind}
        after = None if value is None else {"id": 1, "x": None if value == {} else value}
        change = envelope(op, source=SOURCE, after=after)
        name, required = declared.removesuffix(" not null"), declared.endswith("not null")
        columns = (_ID, SpecColumn(name="x", type=name, required=required))
        (found,) = decoded(spark, [as_avro(change, row, 1)], known({1: avro_schema(row, SOURCE)}), columns)
        assert text in str(found[ERROR])


def test_records_that_are_no_envelopes_are_bad(spark: Any) -> None:
    schema = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
    values = [framed(1, schema, {"id": 1}), encoded(schema, {"id": 1})]
    plain, bare = decoded(spark, values, known({1: schema}), (_ID,))
    assert "is not that of envelopes of Debezium" in plain[ERROR]
    assert "does not begin with the header" in bare[ERROR]
