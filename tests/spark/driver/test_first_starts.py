"""Queries of one job that start at "latest" or at a time begin at the same records, whatever arrives between
their starts; on a real broker.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flareiac_spark_runtime.control import job_spec_from_json
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.start_guard import prove_start
from flareiac_spark_runtime.driver.stream_run import make_ready
from tests.facts.lake import Home
from tests.spark.driver.test_micro_batch import LOG, Workshop
from tests.support.driver_application import driver_application
from tests.support.kafka_connector import connector_jars

if TYPE_CHECKING:
    from tests.support.kafka_broker import Broker

pytestmark = pytest.mark.jvm

KNOWN = {"raw": "string", "offset": "long"}


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
    """A workshop whose job reads a topic into two tables: what can be read, and what cannot."""

    broker: "Broker"
    topic: str

    def spec(self, start: str) -> Any:
        for name, columns in (("good", {"id": "long"}), ("bad", KNOWN)):
            with suppress(Exception):
                self.create(name, columns)
        source = {
            "kind": "kafka",
            "client": {"bootstrap.servers": self.broker.bootstrap},
            "topics": [self.topic],
            "starting_offsets": start,
            "format": "json",
            "columns": [{"name": "id", "type": "long"}],
        }
        good = {**self.output("good", {"id": "long"}), "from": "picked"}
        bad = {**self.output("bad", KNOWN), "from": "raw", "bad_records": True}
        stream = {"name": "raw", "kind": "stream", "source": source, "bad_records": "quarantine"}
        job = self.job(good, bad, sql="SELECT id FROM raw", inputs=[stream])
        return job_spec_from_json(job)

    def ready(self, spec: Any) -> Any:
        """As every attempt of a job begins."""
        prove_start(spec, {})
        return make_ready(self.session(), spec, LOG)

    def send(self, *values: str, at_ms: int = 0) -> None:
        from tests.support.kafka_topics import Record

        self.broker.topics.produce(
            self.topic, [Record(value=value, timestamp=at_ms, partition=0) for value in values]
        )

    def good_and_bad(self) -> tuple[list[int], list[str]]:
        return sorted(row[0] for row in self.rows("good")), sorted(row[0] for row in self.rows("bad"))


@pytest.fixture
def desk(surroundings: dict[str, Any], broker: "Broker") -> Desk:
    made = Desk(**surroundings)
    made.broker, made.topic = broker, broker.topics.create()
    return made


def run(start: Any) -> None:
    query = start().query
    assert query.awaitTermination(120)


@pytest.mark.parametrize("start", ["latest", "2026-01-01T00:00:00+00:00"])
def test_what_arrives_between_two_first_starts_is_read_by_both(desk: Desk, start: str) -> None:
    desk.send(json.dumps({"id": 1}), "old", at_ms=1)
    spec = desk.spec(start)
    good, bad = desk.ready(spec).starts
    desk.send(json.dumps({"id": 2}), "new")
    run(good)
    desk.send(json.dumps({"id": 3}), "newer")
    run(bad)
    good, bad = desk.ready(spec).starts
    run(good)
    run(bad)
    assert desk.good_and_bad() == ([2, 3], ["new", "newer"])


def test_a_query_that_has_not_begun_yet_begins_where_the_other_one_did(desk: Desk) -> None:
    """The driver dies between the two first starts."""
    spec = desk.spec("latest")
    good, _bad = desk.ready(spec).starts
    desk.send(json.dumps({"id": 2}), "new")
    run(good)
    desk.send("newer")
    good, bad = desk.ready(spec).starts
    run(good)
    run(bad)
    assert desk.good_and_bad() == ([2], ["new", "newer"])


def test_records_that_are_deleted_before_the_other_query_began_are_said(desk: Desk) -> None:
    spec = desk.spec("latest")
    good, _bad = desk.ready(spec).starts
    desk.send(json.dumps({"id": 2}), "new", "newer")
    run(good)
    desk.broker.topics.trim(desk.topic, {0: 2})
    with pytest.raises(Refusal, match=r"2 records of partition 0 .* were deleted before they were read"):
        desk.ready(spec)


def test_a_job_that_never_began_begins_when_it_does(desk: Desk) -> None:
    spec = desk.spec("latest")
    desk.ready(spec)
    desk.send(json.dumps({"id": 1}), "old")
    good, bad = desk.ready(spec).starts
    desk.send(json.dumps({"id": 2}), "new")
    run(good)
    run(bad)
    assert desk.good_and_bad() == ([2], ["new"])
    assert [path.name for path in Path(spec.outputs[0].checkpoint or "").parent.glob(".*.first.json")]
