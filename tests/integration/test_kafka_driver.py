"""The driver by itself with topics that are not what they were, on a real broker: a service manager starts it
again without a plan, or it runs on.
"""

import datetime as dt
import json

import pytest

from tests.integration.kafka_project import KafkaLake, Numbers, copying
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm

PATTERN = ('topic            = "@"', 'topic_pattern    = "@([.].*)?"')


def by_pattern(name: str) -> str:
    """The job copies all topics whose names begin with its own."""
    return copying(name, *(tuple(text.replace("@", name) for text in PATTERN),))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def steady(kafka: KafkaLake) -> Numbers:
    """A topic with which nothing happens; its job goes on whatever the others meet."""
    sent = kafka.numbers("steady")
    sent.send(5)
    kafka.project.write(steady=copying("steady"))
    kafka.project.apply()
    sent.expect()
    return sent


def test_a_start_refuses_what_is_no_longer_there_and_the_others_go_on(
    kafka: KafkaLake, steady: Numbers
) -> None:
    names = "recreated", "trimmed", "deleted"
    recreated, trimmed, deleted = (kafka.numbers(name) for name in names)
    for sent in (recreated, trimmed, deleted):
        sent.send(5)
    kafka.project.write(**{name: copying(name) for name in names})
    kafka.project.apply()
    for sent in (recreated, trimmed, deleted):
        sent.expect()
    kafka.project.kill_driver()
    recreated.recreate()
    recreated.send(9)
    trimmed.send(5)
    kafka.broker.topics.trim("trimmed", {0: 8})
    kafka.broker.topics.delete("deleted")
    steady.send(5)
    with kafka.project.served():
        kafka.refused(recreated="TOPIC_RECREATED", trimmed="OFFSETS_GONE", deleted="TOPIC_GONE")
        steady.expect()
    for name in names:
        assert kafka.project.ids(name) == list(range(5))
    kafka.project.remove(*names)
    kafka.project.apply()


def test_another_cluster_on_the_same_ports_is_refused(kafka: KafkaLake, steady: Numbers) -> None:
    kafka.project.kill_driver()
    with kafka.broker.replaced():
        kafka.broker.topics.create("steady")
        kafka.broker.topics.produce("steady", [json.dumps({"id": 1000 + at}) for at in range(50)])
        with kafka.project.served():
            kafka.refused(steady="OTHER_CLUSTER")
    steady.send(5)
    with kafka.project.served():
        steady.expect()


def test_a_topic_that_is_created_again_while_its_job_runs_is_found(kafka: KafkaLake, steady: Numbers) -> None:
    """Before a query that waits for its next batch reads on; and one that is at work ends by itself when its
    topic goes, and is not started again.
    """
    patient, named = kafka.numbers("patient"), kafka.numbers("named")
    for sent in (patient, named):
        sent.send(5)
    kafka.project.write(patient=copying("patient", ('"200ms"', '"1h"')), named=copying("named"))
    kafka.project.apply()
    for sent in (patient, named):
        sent.expect()
    patient.recreate()
    patient.send(9)
    kafka.broker.topics.delete("named")
    kafka.refused(patient="TOPIC_RECREATED", named="TOPIC_GONE")
    assert kafka.project.ids("patient") == list(range(5))
    assert "found while the job ran" in str(kafka.project.status()["job.patient"]["last_error"])
    steady.send(5)
    steady.expect()
    kafka.project.remove("patient", "named")
    kafka.project.apply()


def test_a_broker_that_is_away_is_told_and_stops_nothing(kafka: KafkaLake, steady: Numbers) -> None:
    def health() -> str:
        return str(kafka.project.status()["job.steady"]["health"])

    kafka.broker.kill()
    kafka.project.until(lambda: "waiting: " in health(), "what the job waits for")
    assert kafka.broker.bootstrap in health()
    assert kafka.project.status()["job.steady"]["phase"] in ("running", "idle")
    kafka.broker.start()
    steady.send(5)
    steady.expect()
    kafka.project.until(lambda: "waiting" not in health(), "a job that waits for nothing")


STARTS = """
stream "left" {
  kafka {
    topic            = "left"
    connection       = kafka.main
    format           = "json"
    starting_offsets = { "0" = 3, "1" = 1 }
  }
  column "id" { type = "long" }
}
stream "right" {
  kafka {
    topic            = "right"
    connection       = kafka.main
    format           = "json"
    starting_offsets = "TIME"
  }
  column "id" { type = "long" }
}
"""
BOTH = """
table "@" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
checkpoint "@" {}
job "@" {
  checkpoint = checkpoint.@
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "a" { stream = stream.left }
  input "b" { stream = stream.right }
  step "clean" { sql = "SQL" }
  output "rows" { table = table.@ }
}
"""
UNION = BOTH.replace("@", "united").replace("SQL", "SELECT id FROM a UNION ALL SELECT id FROM b")
JOIN = BOTH.replace("@", "joined").replace("SQL", "SELECT a.id FROM a JOIN b ON a.id = b.id")


def test_every_stream_of_a_job_begins_and_goes_on_where_it_should(kafka: KafkaLake, steady: Numbers) -> None:
    """By offsets, by a time, by a pattern that a later topic matches; in one query and over restarts."""
    left, early, lake = kafka.numbers("left", partitions=2), kafka.numbers("places"), kafka.project
    left.send(10)  # even numbers in partition 0, odd ones in partition 1
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    at_ms = int(moment.timestamp() * 1000)
    kafka.broker.topics.create("right")
    sent = [Record(value=json.dumps({"id": at}), timestamp=at_ms + (at - 4) * 1000) for at in range(8)]
    kafka.broker.topics.produce("right", sent)
    early.send(3)
    lake.write(
        starts=STARTS.replace("TIME", moment.isoformat()),
        united=UNION,
        joined=JOIN,
        places=by_pattern("places"),
    )
    lake.apply()
    lefts, rights = [3, 5, 6, 7, 8, 9], [4, 5, 6, 7]
    lake.until(lambda: lake.ids("united") == sorted(lefts + rights), "the union")
    lake.until(lambda: lake.ids("joined") == [5, 6, 7], "the join")
    early.expect()
    kafka.broker.topics.create("places.later")
    kafka.broker.topics.produce("places.later", [json.dumps({"id": at}) for at in range(3, 7)])
    kafka.expect("places", range(7))
    lake.kill_driver()
    left.send(2)
    kafka.broker.topics.produce("right", [json.dumps({"id": at}) for at in (3, 10)])
    kafka.broker.topics.create("places.last")
    kafka.broker.topics.produce("places.last", [json.dumps({"id": at}) for at in range(7, 9)])
    with lake.served():
        lake.until(lambda: lake.ids("united") == sorted([*lefts, *rights, 10, 11, 3, 10]), "the union")
        lake.until(lambda: lake.ids("joined") == [3, 5, 6, 7, 10], "the join")
        kafka.expect("places", range(9))
        steady.expect()
