"""Topics as outputs, on a real broker: what a record holds, what is refused before anything runs, and how
often a record is there after a batch broke off.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.facts.lake import Home
from tests.spark.driver.test_micro_batch import KEYED, Workshop
from tests.support.driver_application import driver_application
from tests.support.kafka_connector import connector_jars

if TYPE_CHECKING:
    from tests.support.kafka_broker import Broker

pytestmark = pytest.mark.jvm


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


class Desk(Workshop):
    """A workshop with a broker."""

    def topic(self, broker: "Broker", name: str, **more: Any) -> dict[str, Any]:
        """An output to a topic."""
        return {
            "kind": "kafka",
            "name": "alerts",
            "from": "picked",
            "topic": name,
            "client": {"bootstrap.servers": broker.bootstrap},
            "mode": "append",
            "format": "json",
            "checkpoint": str(self.folder / "checkpoints" / "alerts" / "g0001"),
            **more,
        }


@pytest.fixture
def desk(surroundings: dict[str, Any]) -> Desk:
    return Desk(**surroundings)


# What a record holds


def test_a_record_has_a_key_headers_and_every_field(desk: Desk, broker: "Broker") -> None:
    name = broker.topics.create()
    headers = [{"name": "note", "column": "note"}, {"name": "at", "column": "at"}]
    output = desk.topic(broker, name, key="ID", headers=headers)
    sql = (
        "SELECT id, at, note, ts + interval '1' microsecond AS ts, unhex('00ff') AS raw, "
        "CAST(NULL AS STRING) AS gone, struct(id AS i) AS part FROM raw"
    )
    desk.events((7, 1, "a", 2), (8, 2, None, 3))
    desk.run(desk.job(output, sql=sql))
    first, second = sorted(broker.topics.consume(name), key=lambda record: str(record.key))
    assert first.key == b"7"
    assert first.headers == (("note", b"a"), ("at", b"1"))
    assert second.headers == (("note", None), ("at", b"2"))
    assert json.loads(first.value or b"") == {
        "id": 7,
        "ts": "2026-01-01T02:00:00.000001Z",
        "raw": base64.b64encode(b"\x00\xff").decode(),
        "gone": None,
        "part": {"i": 7},
    }


@pytest.mark.parametrize(("kind", "value"), [("text", "note"), ("raw", "CAST(note AS BINARY)")])
def test_a_value_is_written_as_it_is_and_a_null_is_a_tombstone(
    desk: Desk, broker: "Broker", kind: str, value: str
) -> None:
    name = broker.topics.create()
    output = desk.topic(broker, name, format=kind, key="id")
    desk.events((1, 1, "a"), (2, 1, None), (None, 1, "keyless"))
    desk.run(desk.job(output, sql=f"SELECT id, {value} AS value FROM raw"))
    found = {(record.key, record.value) for record in broker.topics.consume(name)}
    assert found == {(b"1", b"a"), (b"2", None), (None, b"keyless")}


def test_changed_groups_are_written_again(desk: Desk, broker: "Broker") -> None:
    name = broker.topics.create()
    output = desk.topic(broker, name, mode="update", key="note")
    spec = desk.job(output, sql="SELECT note, count(*) AS n FROM raw GROUP BY note")
    desk.events((1, 1, "a"), (2, 1, "b"))
    desk.events((3, 1, "a"))
    assert desk.analyse(spec).findings == ()
    desk.run(spec)
    found = [(record.key, json.loads(record.value or b"")["n"]) for record in broker.topics.consume(name)]
    assert Counter(found) == Counter([(b"a", 1), (b"b", 1), (b"a", 2)])


# What is refused


@pytest.mark.parametrize(
    ("more", "sql", "error_class", "text"),
    [
        ({"key": "ids"}, "SELECT * FROM raw", "KAFKA_COLUMN_MISSING", "takes the key from the column ids"),
        ({"key": "part"}, "SELECT struct(id) AS part FROM raw", "KAFKA_COLUMN_TYPE", "with to_json"),
        ({"format": "text"}, "SELECT id AS value FROM raw", "KAFKA_VALUE_TYPE", "must be string"),
        ({"format": "raw"}, "SELECT note AS value FROM raw", "KAFKA_VALUE_TYPE", "must be binary"),
        ({"format": "text"}, "SELECT note AS value, id FROM raw", "KAFKA_EXTRA_COLUMN", "gives id"),
        (
            {"headers_column": "note"},
            "SELECT id, note FROM raw",
            "KAFKA_HEADERS_TYPE",
            "gives note as string",
        ),
        (
            {"headers": [{"name": "n", "column": "note"}]},
            "SELECT note FROM raw",
            "KAFKA_VALUE_MISSING",
            "no column for the value",
        ),
    ],
)
def test_what_no_record_can_be_made_of_is_found_before_anything_runs(
    desk: Desk, broker: "Broker", more: dict[str, Any], sql: str, error_class: str, text: str
) -> None:
    spec = desk.job(desk.topic(broker, "never-asked-for", **more), sql=sql)
    (finding,) = desk.analyse(spec).findings
    assert (finding.step, finding.error_class) == ("outputs.alerts", error_class)
    assert text in finding.message


@pytest.mark.parametrize("together", [False, True], ids=["alone", "in one query"])
def test_a_topic_must_be_there(desk: Desk, broker: "Broker", together: bool) -> None:
    desk.events((1, 1, "a"))
    spec = desk.job(desk.topic(broker, "not-there"), foreach_batch=together)
    error_class, message = desk.failure(spec)
    assert error_class == "TOPIC_NOT_FOUND"
    assert "The topic not-there" in message
    assert "not-there" not in broker.topics.names()


def test_a_topic_that_was_created_again_is_not_the_planned_one(desk: Desk, broker: "Broker") -> None:
    name = broker.topics.create()
    known = broker.topics.identity(name).translate(str.maketrans("+/", "-_"))  # as Java spells it
    desk.events((1, 1, "a"))
    desk.run(desk.job(desk.topic(broker, name, topic_id=known)))
    broker.topics.delete(name)
    broker.topics.create(name)
    error_class, message = desk.failure(desk.job(desk.topic(broker, name, topic_id=known)))
    assert error_class == "TOPIC_REPLACED"
    assert known in message


def test_a_record_that_is_too_large_says_which_limits_to_raise(desk: Desk, broker: "Broker") -> None:
    name = broker.topics.create()
    desk.events((1, 1, "a"))
    sql = "SELECT id, repeat(note, 3000) AS note FROM raw"
    spec = desk.job(desk.topic(broker, name, options={"max.request.size": "2000"}), sql=sql)
    error_class, message = desk.failure(spec)
    assert error_class == "RecordTooLargeException"
    assert "max.request.size" in message
    spec["outputs"][0]["options"] = {}
    desk.run(spec)
    assert len(broker.topics.consume(name)) == 1


@pytest.mark.parametrize("together", [False, True], ids=["alone", "in one query"])
def test_no_batch_is_larger_than_the_topic_takes(desk: Desk, broker: "Broker", together: bool) -> None:
    """The client would take such a batch apart, and Spark would not wait for its parts."""
    name = broker.topics.create(max_message_bytes="300")
    desk.events(*((number, number, "x" * 30) for number in range(50)))
    output = desk.topic(broker, name)
    desk.run(desk.job(output, sql="SELECT note FROM raw", foreach_batch=together))
    assert len(broker.topics.consume(name)) == 50
    output["options"] = {"batch.size": "301"}
    error_class, message = desk.failure(desk.job(output, sql="SELECT note FROM raw", foreach_batch=together))
    assert error_class == "PRODUCER_EXCEEDS_TOPIC"
    assert "max.message.bytes = 300" in message


# How often a record is there


@pytest.mark.parametrize(
    ("point", "times", "copies"),
    [
        ("driver.before-output-write", 1, 1),
        ("driver.between-outputs", 2, 1),
        ("driver.after-output-write", 4, 2),
        ("driver.before-commit-log", 2, 2),
    ],
    ids=["before the table", "between table and topic", "after the topic", "before the commit"],
)
def test_the_table_is_exact_and_the_topic_has_each_row_at_least_once(
    desk: Desk, broker: "Broker", interrupted: Any, point: str, times: int, copies: int
) -> None:
    table = f"kept_{times}_{point.rpartition('.')[2].replace('-', '_')}"
    desk.create(table, KEYED)
    name = broker.topics.create()
    # The table comes first, whatever the order of the outputs
    spec = desk.job(desk.topic(broker, name), desk.output(table, KEYED), foreach_batch=True)
    desk.events((1, 1, "a"))
    desk.events((2, 1, "b"))
    interrupted(point, times)
    with pytest.raises(Exception, match=r"."):
        desk.run(spec)
    interrupted("never", 1)
    desk.run(spec)
    assert desk.rows(table) == [(1, 1, "a"), (2, 1, "b")]
    found = Counter(json.loads(record.value or b"")["id"] for record in broker.topics.consume(name))
    assert set(found) == {1, 2}
    assert found[2] == copies
