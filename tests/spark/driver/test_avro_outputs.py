"""Outputs that write Avro to topics, on a real broker: what fastavro and the project's own source read of
their records, and what is refused before anything runs or fails without a record.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from flareiac_spark_runtime.driver.column_types import spark_columns
from flareiac_spark_runtime.driver.spark_session import new_session
from flareiac_spark_runtime.sources.avro.columns import columns_of
from flareiac_spark_runtime.sources.avro.decode import Framed, decode_avro
from flareiac_spark_runtime.sources.avro.known import NotedSchemas
from flareiac_spark_runtime.sources.avro.types import Record, parse
from flareiac_spark_runtime.sources.decoding import ERROR
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.facts.lake import Home
from tests.spark.driver.test_topic_outputs import Desk
from tests.support.avro_values import decoded
from tests.support.driver_application import driver_application
from tests.support.kafka_connector import connector_jars

if TYPE_CHECKING:
    from tests.support.kafka_broker import Broker
    from tests.support.kafka_topics import Record as Consumed

pytestmark = [
    pytest.mark.jvm,
    # Spark's own sockets of what is collected
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

ID: Final = 258
HEADER: Final = bytes.fromhex("0000000102")
DECIMAL: Final = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 4}
FIXED: Final = {"type": "fixed", "name": "F", "size": 2}
MICROS: Final = {"type": "long", "logicalType": "timestamp-micros"}
INTS: Final = {"type": "map", "values": "int"}
COLOUR: Final = {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = Home(root=tmp_path_factory.mktemp("lake"))
    made.catalog().close()
    return made


@pytest.fixture(scope="module")
def application(home: Home, jars: tuple[Path, ...], java_home: Path) -> Iterator[Any]:
    conf = {**home.spark_conf(), "spark.sql.shuffle.partitions": "2"}
    with driver_application(conf, (*jars, *connector_jars()), java_home, home.root) as session:
        yield session


@pytest.fixture
def desk(application: Any, home: Home, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    catalog = home.catalog()
    try:
        yield Desk(
            spark=new_session(application),
            catalog=catalog,
            namespace=request.node.originalname,
            folder=tmp_path,
        )
    finally:
        for query in application.streams.active:
            with suppress(Exception):
                query.stop()
        catalog.close()


def logical(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "logicalType": name}


def record(*fields: tuple[str, Any]) -> dict[str, Any]:
    return {
        "type": "record",
        "name": "Alert",
        "namespace": "shop",
        "fields": [{"name": name, "type": kind} for name, kind in fields],
    }


def avro(schema: Any) -> dict[str, Any]:
    return {"format": "avro", "avro": {"id": ID, "schema": json.dumps(schema)}}


def bytes_of(item: "Consumed") -> bytes:
    assert isinstance(item.value, bytes)
    return item.value


def read(schema: Any, item: "Consumed") -> Any:
    """The value that fastavro reads behind its header."""
    value = bytes_of(item)
    assert value[:5] == HEADER
    return decoded(schema, value[5:])


TYPES: Final[list[tuple[Any, str, Any]]] = [
    ("boolean", "true", True),
    ("int", "CAST(-7 AS INT)", -7),
    ("int", "CAST(7 AS TINYINT)", 7),
    ("long", "9007199254740993", 9007199254740993),
    ("long", "CAST(5 AS SMALLINT)", 5),
    ("float", "CAST(1.5 AS FLOAT)", 1.5),
    ("double", "CAST(0.1 AS DOUBLE)", 0.1),
    ("double", "CAST(7 AS INT)", 7.0),
    ("bytes", "unhex('00ff')", b"\x00\xff"),
    (FIXED, "unhex('0102')", b"\x01\x02"),
    ("string", "'grüß'", "grüß"),
    (logical("string", "uuid"), "'123e4567-e89b-12d3-a456-426614174000'", None),
    (COLOUR, "'BLUE'", "BLUE"),
    (logical("int", "date"), "DATE'1969-12-31'", date(1969, 12, 31)),
    (
        logical("long", "timestamp-micros"),
        "TIMESTAMP'1969-12-31 23:59:59.999999Z'",
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ),
    (
        logical("long", "timestamp-millis"),
        "TIMESTAMP'1969-12-31 23:59:59.999Z'",
        datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC),
    ),
    (
        logical("long", "local-timestamp-micros"),
        "TIMESTAMP_NTZ'2026-01-01 12:00:00.000001'",
        datetime.fromisoformat("2026-01-01T12:00:00.000001"),
    ),
    (
        logical("long", "local-timestamp-millis"),
        "TIMESTAMP_NTZ'2026-01-01 12:00:00.001'",
        datetime.fromisoformat("2026-01-01T12:00:00.001"),
    ),
    (DECIMAL, "CAST(-12.3400 AS DECIMAL(12,4))", Decimal("-12.3400")),
    (DECIMAL, "CAST(12.34 AS DECIMAL(10,2))", Decimal("12.3400")),
    ({**DECIMAL, "precision": 14}, "CAST(3 AS INT)", Decimal("3.0000")),
    (
        {"type": "fixed", "name": "D", "size": 6, "logicalType": "decimal", "precision": 12, "scale": 4},
        "CAST(-0.5 AS DECIMAL(4,1))",
        Decimal("-0.5000"),
    ),
    ({"type": "array", "items": ["null", "int"]}, "array(1, CAST(NULL AS INT))", [1, None]),
    ({"type": "array", "items": "long"}, "array(1, 2)", [1, 2]),
    ({"type": "array", "items": DECIMAL}, "array(CAST(1.5 AS DECIMAL(3,1)))", [Decimal("1.5000")]),
    ({"type": "map", "values": "int"}, "map('a', 1)", {"a": 1}),
    (
        {"type": "map", "values": ["null", logical("long", "timestamp-micros")]},
        "map('a', TIMESTAMP'2026-01-01 00:00:00Z', 'b', NULL)",
        {"a": datetime(2026, 1, 1, tzinfo=UTC), "b": None},
    ),
    (
        {
            "type": "record",
            "name": "Part",
            "fields": [
                {"name": "d", "type": DECIMAL},
                {"name": "a", "type": "int"},
                {"name": "left", "type": ["null", "string"]},
            ],
        },
        "named_struct('a', 1, 'd', CAST(2.5 AS DECIMAL(3,1)))",
        {"d": Decimal("2.5000"), "a": 1, "left": None},
    ),
]


def all_types() -> dict[str, Any]:
    """Each type as it is, and beside null, before and after it; named types are defined where they come
    first.
    """
    named = set[str]()

    def once(kind: Any) -> Any:
        if not isinstance(kind, dict) or "name" not in kind:
            return kind
        if kind["name"] in named:
            return kind["name"]
        named.add(kind["name"])
        return kind

    fields: list[tuple[str, Any]] = []
    for number, (kind, _sql, _value) in enumerate(TYPES):
        fields += [
            (f"f{number}", once(kind)),
            (f"n{number}", ["null", once(kind)]),
            (f"z{number}", [once(kind), "null"]),
        ]
    return record(*fields)


def test_every_type_is_read_as_it_was_written(desk: Desk, broker: "Broker") -> None:
    name, schema = broker.topics.create(), all_types()
    columns = [
        part
        for number, (_kind, sql, _value) in enumerate(TYPES)
        for part in (
            f"{sql} AS f{number}",
            f"CASE WHEN note = 'a' THEN {sql} END AS n{number}",
            f"CASE WHEN note = 'a' THEN {sql} END AS z{number}",
        )
    ]
    desk.events((1, 1, "a"), (2, 2, "b"))
    output = desk.topic(broker, name, key="note", headers=[{"name": "id", "column": "id"}], **avro(schema))
    spec = desk.job(output, sql=f"SELECT note, id, {', '.join(columns)} FROM raw")
    assert desk.analyse(spec).findings == ()
    desk.run(spec)
    found = {item.key: item for item in broker.topics.consume(name)}
    assert found[b"a"].headers == (("id", b"1"),)
    for key, item in found.items():
        value = read(schema, item)
        for number, (_kind, sql, expected) in enumerate(TYPES):
            if expected is not None:
                assert value[f"f{number}"] == expected, sql
            other = value[f"f{number}"] if key == b"a" else None
            assert value[f"n{number}"] == value[f"z{number}"] == other, sql
    _read_by_our_source(desk, schema, [bytes_of(item) for item in found.values()])


def _read_by_our_source(desk: Desk, schema: Any, values: list[bytes]) -> None:
    """The same bytes through the project's own Avro source."""
    text = json.dumps(schema)
    tree = parse(text)
    assert isinstance(tree, Record)
    columns = tuple(SpecColumn(name=name, type=kind) for name, kind in columns_of(tree))
    frame = desk.spark.createDataFrame([(bytearray(value),) for value in values], "value binary")
    writers = Framed(url="http://registry", noted=NotedSchemas(schemas={str(ID): text}))
    rows = decode_avro(frame, "value", writers, columns, spark_columns).collect()
    assert [row[ERROR] for row in rows] == [None, None]
    expected = [decoded(schema, value[5:]) for value in values]
    for row, value in zip(rows, expected, strict=True):
        for column in columns:
            read, written = row[column.name], value[column.name]
            if isinstance(written, datetime):
                continue  # collected in the zone of this process
            if isinstance(written, int | float | bool | str | Decimal | date | None):
                assert read == written, column.name
            elif isinstance(written, bytes):
                assert bytes(read) == written, column.name
            elif isinstance(written, list):
                assert read == written, column.name


@pytest.mark.parametrize(
    ("fields", "sql", "error_class", "text"),
    [
        ([("id", "long")], "SELECT id, note FROM raw", "AVRO_EXTRA_COLUMN", "has no field note"),
        ([("id", "long"), ("gone", "int")], "SELECT id FROM raw", "AVRO_COLUMN_MISSING", "gone of its Avro"),
        ([("id", "int")], "SELECT id FROM raw", "AVRO_COLUMN_TYPE", "gives bigint. Cast it"),
        ([("id", "double")], "SELECT id FROM raw", "AVRO_COLUMN_TYPE", "is double"),
        ([("id", "string")], "SELECT id FROM raw", "AVRO_COLUMN_TYPE", "is string"),
        ([("ts", "long")], "SELECT ts FROM raw", "AVRO_COLUMN_TYPE", "gives timestamp"),
        (
            [("ts", logical("long", "local-timestamp-micros"))],
            "SELECT ts FROM raw",
            "AVRO_COLUMN_TYPE",
            "local-timestamp-micros (timestamp_ntz)",
        ),
        (
            [("id", logical("long", "timestamp-micros"))],
            "SELECT id FROM raw",
            "AVRO_COLUMN_TYPE",
            "(timestamp)",
        ),
        (
            [("d", {**DECIMAL, "scale": 1})],
            "SELECT CAST(1 AS DECIMAL(10,2)) AS d FROM raw",
            "AVRO_COLUMN_TYPE",
            "is decimal(12,1), and 'picked' gives decimal(10,2)",
        ),
        ([("id", "long"), ("ID", "long")], "SELECT id FROM raw", "AVRO_COLUMN_TYPE", "(id, ID)"),
        ([("u", ["null", "int", "string"])], "SELECT 1 AS u FROM raw", "AVRO_COLUMN_TYPE", "several types"),
        (
            [("m", {"type": "map", "values": "int"})],
            "SELECT map(1, 1) AS m FROM raw",
            "AVRO_COLUMN_TYPE",
            "keys",
        ),
        (
            [("p", {"type": "record", "name": "P", "fields": [{"name": "a", "type": "int"}]})],
            "SELECT named_struct('A', 1) AS p FROM raw",
            "AVRO_COLUMN_TYPE",
            "the field p of its schema takes no null in a",
        ),
    ],
)
def test_columns_that_do_not_fit_are_found_before_anything_runs(
    desk: Desk, broker: "Broker", fields: list[tuple[str, Any]], sql: str, error_class: str, text: str
) -> None:
    spec = desk.job(desk.topic(broker, "never-asked-for", **avro(record(*fields))), sql=sql)
    (finding,) = desk.analyse(spec).findings
    assert (finding.step, finding.error_class) == ("outputs.alerts", error_class)
    assert text in finding.message


@pytest.mark.parametrize(
    ("kind", "sql", "text"),
    [
        ("string", "note", "the field v of its Avro schema takes no null"),
        (
            {"type": "array", "items": "string"},
            "array(note)",
            "the field v.element of its Avro schema takes no",
        ),
        (COLOUR, "coalesce(note, 'GREEN')", "the field v of its Avro schema does not have this symbol"),
        (FIXED, "unhex('010203')", "takes 2 bytes alone"),
        (
            logical("long", "timestamp-millis"),
            "timestamp_micros(1)",
            "and the value has microseconds: write date_trunc('MILLISECOND', ...)",
        ),
        (
            logical("long", "local-timestamp-millis"),
            "TIMESTAMP_NTZ'1969-12-31 12:00:00.000001'",
            "takes milliseconds",
        ),
    ],
)
def test_a_value_that_does_not_fit_fails_the_query_and_writes_no_record(
    desk: Desk, broker: "Broker", kind: Any, sql: str, text: str
) -> None:
    name = broker.topics.create()
    desk.events((1, 1, None))
    spec = desk.job(desk.topic(broker, name, **avro(record(("v", kind)))), sql=f"SELECT {sql} AS v FROM raw")
    assert desk.analyse(spec).findings == ()
    _error_class, message = desk.failure(spec)
    assert text in message
    assert broker.topics.consume(name) == []


def test_names_are_those_of_the_schema_and_an_optional_field_may_be_left_out(
    desk: Desk, broker: "Broker"
) -> None:
    name = broker.topics.create()
    schema = record(("Note", "string"), ("id", ["null", "long"]), ("more", ["null", "string"]))
    desk.events((1, 1, "a"))
    desk.run(desk.job(desk.topic(broker, name, key="at", **avro(schema)), sql="SELECT ID, at, note FROM raw"))
    (found,) = broker.topics.consume(name)
    assert read(schema, found) == {"Note": "a", "id": 1, "more": None}
    assert found.key == b"1"


def test_what_spark_itself_would_write_without_an_error(desk: Desk) -> None:
    """The driver matches columns itself for this reason: the first three are readable, and wrong. A decimal
    of other digits is refused, where a cast loses nothing.
    """

    def written(sql: str, schema: Any) -> Any:
        text = json.dumps(schema)
        (row,) = desk.spark.sql(f"SELECT to_avro(named_struct('v', {sql}), '{text}') AS value").collect()
        return decoded(schema, bytes(row.value))["v"]

    cut = written("timestamp_micros(1)", record(("v", logical("long", "timestamp-millis"))))
    assert cut == datetime(1970, 1, 1, tzinfo=UTC)
    assert written("timestamp_micros(1999)", record(("v", "long"))) == 1
    assert written("5L", record(("v", MICROS))) == datetime(1970, 1, 1, microsecond=5, tzinfo=UTC)
    assert written("CAST(NULL AS STRING)", record(("v", ["null", "string"]), ("w", ["null", "int"]))) is None
    with pytest.raises(Exception, match="Cannot convert SQL"):
        written("CAST(12.34 AS DECIMAL(10,2))", record(("v", DECIMAL)))
