"""Records that cannot be read, through the command line: of files and of a topic on a real broker. Wherever
the driver dies, every bad record is in quarantine exactly once, and every good one in its table exactly once.
"""

import json

import pytest

from tests.integration.kafka_project import KafkaLake
from tests.support.command_line import flareiac
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm

ORDERS = """
stream "orders" {
  kafka {
    topic      = "orders"
    connection = kafka.main
    format     = "json"
    key        = "string"
  }
  column "id" { type = "long not null" }
  column "n"  { type = "int" }
  bad_records = { quarantine = table.bad_orders }
}
table "orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
table "bad_orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "raw"       { type = "string" }
  column "error"     { type = "string not null" }
  column "topic"     { type = "string not null" }
  column "partition" { type = "int" }
  column "offset"    { type = "long not null" }
}
checkpoint "orders" {}
job "orders" {
  checkpoint = checkpoint.orders
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "raw" { stream = stream.orders }
  step "clean" { sql = "SELECT id FROM raw" }
  output "orders" { table = table.orders }
}
"""
VISITS = """
stream "visits" {
  files {
    path   = "landing/visits"
    format = "json"
  }
  column "id" { type = "long" }
  column "n"  { type = "int" }
  bad_records = { quarantine = table.bad_visits }
}
table "visits" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
table "bad_visits" {
  catalog   = catalog.lake
  namespace = "demo"
  column "raw"   { type = "binary" }
  column "error" { type = "string" }
  column "file"  { type = "string" }
  column "job"   { type = "string" }
}
checkpoint "visits" {}
job "visits" {
  checkpoint    = checkpoint.visits
  foreach_batch = true
  trigger       = { processing_time = "200ms" }
  restart       = { backoff = "1s" }
  input "raw" { stream = stream.visits }
  step "clean" { sql = "SELECT id FROM raw" }
  output "visits" { table = table.visits }
}
"""


class Sent:
    """Numbers that were sent, each once: every fifth in a record that cannot be read whole."""

    def __init__(self, kafka: KafkaLake) -> None:
        self.project, self.broker, self.count = kafka.project, kafka.broker, 0

    def send(self, count: int) -> None:
        numbers = range(self.count, self.count + count)
        self.count += count
        records = [{"id": at, "n": "bad" if at % 5 == 0 else at} for at in numbers]
        self.project.drop("visits", f"visits-{numbers[0]:06}", records)
        self.broker.topics.produce("orders", [Record(value=json.dumps(row)) for row in records])

    def expect(self) -> None:
        bad = [at for at in range(self.count) if at % 5 == 0]
        good = [at for at in range(self.count) if at % 5]
        for name in ("orders", "visits"):
            self.project.until(lambda name=name: self.written(name) >= len(good), f"rows of {name}")  # type: ignore[misc]
            self.project.until(lambda name=name: self.written(f"bad_{name}") >= len(bad), f"bad {name}")  # type: ignore[misc]
            assert self.project.ids(name) == good
            rows = self.project.rows(f"bad_{name}")
            assert sorted(json.loads(row["raw"])["id"] for row in rows) == bad
            assert {row["error"] for row in rows} == {"the field n does not fit the type int"}
        found = self.project.rows("bad_orders")
        assert sorted((row["topic"], row["partition"], row["offset"]) for row in found) == [
            ("orders", 0, at) for at in bad
        ]

    def written(self, name: str) -> int:
        snapshot = self.project.table(name).current_snapshot()
        return int(snapshot.summary["total-records"]) if snapshot else 0


@pytest.mark.turn(1, 2)
def test_every_record_is_in_one_table_once_wherever_the_driver_dies(kafka: KafkaLake) -> None:
    lake = kafka.project
    kafka.broker.topics.create("orders")
    sent = Sent(kafka)
    lake.write(orders=ORDERS, visits=VISITS)
    for point in (
        "driver.after-output-write@visits:1",
        "driver.after-batch@bad_records.raw:2",
        "driver.after-batch@orders:1",
    ):
        sent.send(10)
        started = flareiac(lake.root, "apply", "-auto-approve", FLAREIAC_KILL_AT=point)
        assert started.code in (0, 1, 7), started.text

        def gone_while_records_come() -> bool:
            sent.send(5)
            return lake.driver_pid() is None

        lake.until(gone_while_records_come, f"the driver's end at {point}")
    lake.apply()
    sent.expect()
    lake.run("drift")
    lake.quiet()
    sent.send(5)
    sent.expect()
    counted = lake.status()["job.orders"]["bad_records"]
    assert set(counted) == {"raw"}
    assert 1 <= counted["raw"] <= sent.count


def test_a_job_that_fails_names_the_record_and_goes_on_when_bad_records_are_dropped(
    kafka: KafkaLake,
) -> None:
    lake = kafka.project
    kafka.broker.topics.create("poisoned")
    kafka.broker.topics.produce(
        "poisoned", [Record(value='{"id": 1}'), Record(value="poison"), Record(value='{"id": 3}')]
    )
    lake.write(poisoned=ORDERS.replace("orders", "poisoned").replace("bad_records = {", "# {"))
    failed = lake.apply(code=7)
    for text in (
        "the value is not a JSON object",
        "topic poisoned, partition 0, offset 1",
        'bad_records = { action = "drop" }',
    ):
        assert text in failed.err
    lake.edit("poisoned", ("# { quarantine = table.bad_poisoned }", 'bad_records = { action = "drop" }'))
    lake.apply()
    lake.until(lambda: lake.ids("poisoned") == [1, 3], "the good records")
    lake.until(lambda: lake.status()["job.poisoned"]["bad_records"] == {"raw": 1}, "the count")
    run = lake.run_id("job.poisoned")
    lake.edit("poisoned", ('job "poisoned" {', 'job "poisoned" {\n  health = { max_bad_records = 1 }'))
    lake.apply()
    lake.run("drift")
    lake.edit("poisoned", ("max_bad_records = 1", "max_bad_records = 0"))
    lake.apply()
    assert lake.run_id("job.poisoned") == run
    unhealthy = "1 record could not be read since it started (raw: 1), allowed are 0"
    assert lake.status()["job.poisoned"]["health"] == [f"bad records: {unhealthy}"]
    assert unhealthy in lake.run("drift", code=3).out
