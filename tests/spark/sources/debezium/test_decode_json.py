"""The rows that are read of Debezium's envelopes of JSON: a real Spark decodes what an oracle of the tests
writes.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql.functions import unix_micros

from flareiac_spark_runtime.driver.column_types import spark_columns
from flareiac_spark_runtime.sources.debezium.decode_json import decode_json
from flareiac_spark_runtime.sources.debezium.names import CHANGE
from flareiac_spark_runtime.sources.decoding import ERROR, ONCE
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.debezium import (
    MYSQL,
    NOW_MS,
    PLACEHOLDER,
    POSTGRESQL,
    Kind,
    Sample,
    as_json,
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
from tests.support.spark_session import spark_session

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
_CHANGE = tuple(SpecColumn(name=name, type=kind) for name, kind in CHANGE.items())
_SOURCES = {"postgresql": postgresql(lsn=9, committed=4), "mysql": mysql("bin.000007", 120, 2)}
_ID = SpecColumn(name="id", type="long", required=True)


@pytest.fixture(scope="module")
def spark(jars: tuple[Path, ...], java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    # A zone of its own: no value may depend on it.
    conf = {"spark.sql.session.timeZone": "America/Los_Angeles"}
    with spark_session(conf, jars, java_home, tmp_path_factory.mktemp("spark")) as session:
        yield session


def decoded(
    spark: Any, values: list[Any], columns: tuple[SpecColumn, ...], **options: str
) -> list[dict[str, Any]]:
    raw = [value.encode() if isinstance(value, str) else value for value in values]
    frame = spark.createDataFrame(list(enumerate(raw)), "at_ int, v binary")
    settings = {name.replace("_", "."): text for name, text in options.items()}
    found = decode_json(frame, "v", (*columns, *_CHANGE), settings, spark_columns)
    moments = [column.name for column in (*columns, *_CHANGE) if column.type == "timestamptz"]
    for name in moments:  # PySpark gives them in the zone of this process
        found = found.withColumn(name, unix_micros(name))
    return [row.asDict() for row in found.orderBy("at_").drop("at_", "v", ONCE).collect()]


def error(spark: Any, value: Any, columns: tuple[SpecColumn, ...] = (_ID,), **options: str) -> Any:
    (row,) = decoded(spark, [value], columns, **options)
    return row[ERROR]


def change(op: str = "c", **parts: Any) -> bytes:
    return json.dumps(envelope(op, source=_SOURCES["postgresql"], **parts)).encode()


def columns_of(samples: Mapping[str, Sample]) -> tuple[SpecColumn, ...]:
    return tuple(SpecColumn(name=name, type=sample.declared) for name, sample in samples.items())


def expected(row: Mapping[str, Any], op: str, position: str | None) -> dict[str, Any]:
    change = {"change_op": op, "change_time": NOW_MS * 1000, "change_position": position, ERROR: None}
    return {**comparable(row), **change}


POSITIONS = {
    "postgresql": "00000000000000000004.00000000000000000009",
    "mysql": "00000000000000000007.00000000000000000120.00000000000000000002",
}


@pytest.mark.parametrize("which", ["postgresql", "mysql"])
def test_rows_of_every_type_are_read_by_the_schema_that_comes_with_them(spark: Any, which: str) -> None:
    samples = {"postgresql": POSTGRESQL, "mysql": MYSQL}[which]
    pairs = rows(samples)
    values = []
    for row, _ in pairs:
        made = envelope("u", source=_SOURCES[which], before=None, after=row)
        values.append(as_json(made, kinds(samples), with_schema=True))
    found = decoded(spark, values, columns_of(samples))
    assert found == [expected(row, "u", POSITIONS[which]) for _, row in pairs]


PLAIN = (
    _ID,
    SpecColumn(name="label", type="string"),
    SpecColumn(name="price", type="decimal(6,2)"),
    SpecColumn(name="at", type="timestamp_ntz"),
    SpecColumn(name="seen", type="timestamptz"),
    SpecColumn(name="raw", type="binary"),
    SpecColumn(name="day", type="date"),
)


def test_rows_without_schema_are_read_as_the_settings_of_debezium_say(spark: Any) -> None:
    row = {"id": 1, "label": "5", "price": "1.50", "at": 1_000_001, "seen": 5, "raw": "AfQ=", "day": 1}
    settings = {"decimal_handling_mode": "string", "time_precision_mode": "microseconds"}
    (found,) = decoded(spark, [change(after=row)], PLAIN, **settings, binary_handling_mode="bytes")
    assert found[ERROR] is None
    assert (found["price"], str(found["at"]), found["seen"]) == (
        Decimal("1.50"),
        "1970-01-01 00:00:01.000001",
        5,
    )
    assert (found["raw"], found["label"], str(found["day"])) == (b"\x01\xf4", "5", "1970-01-02")
    row |= {"price": "AJY=", "at": "1970-01-01T00:00:01Z", "seen": "1970-01-01T01:00:00+01:00", "raw": "01f4"}
    settings = {"decimal_handling_mode": "precise", "time_precision_mode": "isostring"}
    (found,) = decoded(spark, [change(after=row)], PLAIN, **settings, binary_handling_mode="hex")
    assert found[ERROR] is None
    assert (found["price"], str(found["at"]), found["seen"]) == (Decimal("1.50"), "1970-01-01 00:00:01", 0)
    assert found["raw"] == b"\x01\xf4"
    row |= {"price": 1.5, "at": 1001, "raw": "_-8="}
    settings = {"decimal_handling_mode": "double", "time_precision_mode": "connect"}
    (found,) = decoded(spark, [change(after=row)], PLAIN, **settings, binary_handling_mode="base64-url-safe")
    assert found[ERROR] is None
    assert (found["price"], str(found["at"])) == (Decimal("1.50"), "1970-01-01 00:00:01.001000")
    assert found["raw"] == b"\xff\xef"


@pytest.mark.parametrize(
    ("part", "setting"),
    [
        ({"price": "AJY="}, "decimal.handling.mode"),
        ({"price": 1.5}, "decimal.handling.mode"),
        ({"at": 1_700_000_000_000}, "time.precision.mode"),
        ({"at": "2026-01-01T00:00:00Z"}, "time.precision.mode"),
        ({"seen": 1_700_000_000_000}, "time.precision.mode"),
        ({"raw": "AfQ="}, "binary.handling.mode"),
    ],
)
def test_a_value_whose_meaning_is_not_certain_is_not_read(
    spark: Any, part: dict[str, Any], setting: str
) -> None:
    (name,) = part
    assert error(spark, change(after={"id": 1, **part}), PLAIN) == (
        f"the field {name} comes without a schema, so that its meaning is not certain: write {setting} in "
        "options as the connector has it"
    )


def test_adaptive_times_without_schema_are_not_certain_either(spark: Any) -> None:
    found = error(spark, change(after={"id": 1, "at": 5}), PLAIN, time_precision_mode="adaptive")
    assert "time.precision.mode" in found


def test_deletes_give_the_row_before_and_need_no_more_than_the_key(spark: Any) -> None:
    columns = (_ID, SpecColumn(name="label", type="string", required=True))
    (found,) = decoded(spark, [change("d", before={"id": 7})], columns)
    assert (found["id"], found["label"], found["change_op"], found[ERROR]) == (7, None, "d", None)
    assert "no value for label" in error(spark, change("c", after={"id": 7}), columns)
    assert "REPLICA IDENTITY FULL" in error(spark, change("d"))


def test_tombstones_and_messages_are_left_out(spark: Any) -> None:
    message = {"op": "m", "message": {"prefix": "a"}, "source": {}}
    assert decoded(spark, [None, json.dumps(message), change(after={"id": 1})], (_ID,))[0]["id"] == 1
    assert len(decoded(spark, [None, json.dumps(message), change(after={"id": 1})], (_ID,))) == 1


NOT_ENVELOPES = (
    ("", "the value is empty"),
    ("{", "the value is not one JSON object"),
    ("5", "the value is not one JSON object"),
    ('{"op": "c"} {}', "the value is not one JSON object"),
    ('{"op": "c"}, {}', "the value is not one JSON object"),
    (b'{"op": "\xff"}', "the value is not UTF-8 text"),
    ('{"id": 1}', "the value is not an envelope of Debezium: it has no op"),
    ('{"schema": {}, "payload": null}', "the value is not an envelope of Debezium: it has no op"),
    ('{"op": "x"}', "Debezium has no operation x"),
    ('{"op": "c", "after": null}', "the change does not have the row after it"),
    ('{"op": "c", "after": "{}"}', "the change does not have the row after it"),
    ('{"op": "c", "after": {}}', "there is no value for id, which is not null"),
    ('{"op": "c", "after": {"id": "5"}}', "the field id does not fit the type long"),
    ('{"op": "c", "after": {"id": 1.0}}', "the field id does not fit the type long"),
)


def test_a_record_is_parsed_once(spark: Any) -> None:
    """Spark moves a filter to the values that it needs, and computes those there too."""
    frame = spark.createDataFrame([(change(after={"id": 1}),)], "v binary")
    found = decode_json(frame, "v", (_ID, *_CHANGE), {}, spark_columns)
    for query in (found, found.where("id > 1").select("change_op")):
        assert str(query._jdf.queryExecution().optimizedPlan()).count("parseJson(") == 1


def test_what_is_no_envelope_is_bad_and_says_why(spark: Any) -> None:
    found = decoded(spark, [value for value, _ in NOT_ENVELOPES], (_ID,))
    assert [row[ERROR] for row in found] == [text for _, text in NOT_ENVELOPES]
    assert "was truncated" in error(spark, change("t"))
    mongo = {"op": "c", "after": "{}", "source": {"connector": "mongodb"}}
    assert "changes of MongoDB are not read" in error(spark, json.dumps(mongo))


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("string", PLACEHOLDER),
        ("int", PLACEHOLDER),
        ("binary", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="),
        ("uuid", None),
        ("list<string>", [PLACEHOLDER]),
        ("list<int>", list(PLACEHOLDER.encode())),
        ("list<double>", [float(byte) for byte in PLACEHOLDER.encode()]),
        ("map<string, string>", {PLACEHOLDER: PLACEHOLDER}),
    ],
)
def test_a_value_that_the_source_did_not_send_is_never_written(
    spark: Any, declared: str, written: Any
) -> None:
    if declared == "uuid":
        written = str(uuid_of(PLACEHOLDER))
    columns = (_ID, SpecColumn(name="body", type=declared))
    found = error(spark, change("u", after={"id": 1, "body": written}), columns, binary_handling_mode="bytes")
    assert "the field body" in found
    assert "REPLICA IDENTITY FULL" in found


def uuid_of(text: str) -> UUID:
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return UUID(bytes=digest, version=3)


MISFITS = (
    (
        time("NanoTimestamp", "int64"),
        "int",
        5,
        "the field x is io.debezium.time.NanoTimestamp, which the declared",
    ),
    (time("Timestamp", "int64"), "long", 5, "the field x is io.debezium.time.Timestamp, which the declared"),
    (time("Unknown", "int64"), "long", 5, "the field x is io.debezium.time.Unknown, which the declared"),
    (
        decimal(9, 3),
        "decimal(9,2)",
        unscaled(Decimal("1.001")),
        "the field x does not fit the type decimal(9,2)",
    ),
    (decimal(9, 2), "string", b"\x01", "the field x is org.apache.kafka.connect.data.Decimal, which"),
    (Kind(type="int64"), "string", 5, "the field x is int64, which the declared type string does not take"),
    (Kind(type="int64"), "int", 5, "the field x is int64, which the declared type int does not take"),
    (Kind(type="double"), "decimal(9,2)", 5.5, "the field x is double, which the declared type decimal(9,2)"),
    (time("Date", "int32"), "date", 2**31 - 1, "the field x does not fit the type date"),
    (
        time("MicroTimestamp", "int64"),
        "timestamptz",
        2**63 - 1,
        "the field x does not fit the type timestamptz",
    ),
    (
        time("Timestamp", "int64"),
        "timestamp_ntz",
        2**63 - 1,
        "the field x does not fit the type timestamp_ntz",
    ),
    (
        time("ZonedTimestamp", "string"),
        "timestamptz",
        "infinity",
        "the field x does not fit the type timestamptz",
    ),
    (
        Kind(type="array", items=Kind(type="string")),
        "list<int>",
        ["a"],
        "the field x does not fit the type list",
    ),
)


def test_a_value_that_does_not_fit_is_bad_and_says_what_it_is(spark: Any) -> None:
    for kind, declared, written, text in MISFITS:
        row = {"id": Kind(type="int64"), "x": kind}
        made = envelope("c", source=_SOURCES["mysql"], after={"id": 1, "x": written})
        value = as_json(made, row, with_schema=True)
        found = error(spark, value, (_ID, SpecColumn(name="x", type=declared)))
        assert text in str(found)


ORDERS: tuple[tuple[tuple[str, dict[str, Any]], ...], ...] = (
    (
        # A transaction that a snapshot did not see may have written earlier in the log.
        ("r", {"connector": "postgresql", "lsn": 900, "sequence": '[null,"900"]'}),
        ("u", {"connector": "postgresql", "lsn": 850, "sequence": '[null,"850"]'}),
        ("u", {"connector": "postgresql", "lsn": 860, "sequence": '["950","860"]'}),
        ("u", {"connector": "postgresql", "lsn": 1000, "sequence": '["950","1000"]'}),
        ("r", {"connector": "postgresql", "lsn": 2000, "sequence": '["1010","2000"]'}),
        ("u", {"connector": "postgresql", "lsn": 1005, "sequence": '["1010","1005"]'}),
    ),
    (
        ("r", {"connector": "mysql", "file": "bin.999999", "pos": 7, "row": 0}),
        ("u", {"connector": "mysql", "file": "bin.999999", "pos": 154, "row": 2}),
        ("u", {"connector": "mysql", "file": "bin.999999", "pos": 154, "row": 10}),
        ("u", {"connector": "mariadb", "file": "bin.1000000", "pos": 4, "row": 0}),
    ),
    (
        ("r", {"connector": "sqlserver", "commit_lsn": "00000027:00000758:0003", "change_lsn": None}),
        (
            "u",
            {
                "connector": "sqlserver",
                "commit_lsn": "00000027:00000758:0005",
                "change_lsn": "00000027:00000758:0003",
                "event_serial_no": 2,
            },
        ),
        (
            "u",
            {
                "connector": "sqlserver",
                "commit_lsn": "00000027:00000758:0005",
                "change_lsn": "00000027:00000758:0003",
                "event_serial_no": 10,
            },
        ),
        ("u", {"connector": "sqlserver", "commit_lsn": "0000002A:00000758:0005", "change_lsn": None}),
    ),
    (
        ("r", {"connector": "oracle", "scn": "2000"}),
        ("u", {"connector": "oracle", "scn": "999", "rs_id": " 0x0001.01 ", "ssn": 0}),
        ("u", {"connector": "oracle", "scn": "1000", "rs_id": " 0x0001.02 ", "ssn": 2}),
        ("u", {"connector": "oracle", "scn": "1000", "rs_id": " 0x0001.02 ", "ssn": 10}),
    ),
)


def test_positions_sort_as_the_changes_of_a_row_were_made(spark: Any) -> None:
    for changes in ORDERS:
        values = [
            json.dumps({"op": op, "after": {"id": 1}, "source": source, "before": None})
            for op, source in changes
        ]
        found = [row["change_position"] for row in decoded(spark, values, (_ID,))]
        assert None not in found
        assert found == sorted(found)
        assert len(set(found)) == len(found)


def test_positions_of_other_connectors_and_of_parts_that_are_missing_are_null(spark: Any) -> None:
    sources = [
        {"connector": "db2", "change_lsn": "1"},
        {"connector": "postgresql"},
        {"connector": "mysql", "file": "no number", "pos": 1},
        {"connector": "sqlserver", "commit_lsn": "NULL"},
        {},
    ]
    values = [json.dumps({"op": "c", "after": {"id": 1}, "source": source}) for source in sources]
    assert [row["change_position"] for row in decoded(spark, values, (_ID,))] == [None] * len(values)
