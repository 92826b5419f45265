"""What commands know of the records that a job has yet to read, on a real broker: how far behind it is, what
is lost to it, and what is not known.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.project import LAKE, Project
from tests.support.command_line import flareiac
from tests.support.kafka_broker import Broker

pytestmark = pytest.mark.jvm

JOB = """
stream "orders" {
  kafka {
    topic  = "orders"
    format = "json"
  }
  column "id" { type = "long" }
}
table "orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
checkpoint "orders" {}
job "orders" {
  checkpoint = checkpoint.orders
  trigger    = { processing_time = "200ms" }
  input "orders" { stream = stream.orders }
  step "clean" { sql = "SELECT id FROM orders" }
  output "orders" { table = table.orders }
}
"""


def _records(first: int, end: int) -> list[str]:
    return [json.dumps({"id": number}) for number in range(first, end)]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[Broker]:
    """A broker of this module, which is stopped in it."""
    with Broker(tmp_path_factory.mktemp("kafka"), java_home) as started:
        yield started


@pytest.fixture(scope="module")
def lake(
    tmp_path_factory: pytest.TempPathFactory, broker: Broker, jars: tuple[Path, ...]
) -> Iterator[Project]:
    """A job that has read ten records, and one that starts first now; nothing runs."""
    project = Project(tmp_path_factory.mktemp("project"))
    project.write(lake=LAKE, kafka=f'kafka "main" {{ bootstrap_servers = "{broker.bootstrap}" }}\n')
    done = flareiac(project.root, "init")
    assert done.code == 0, done.text
    broker.topics.create("orders", partitions=1)
    broker.topics.produce("orders", _records(0, 10))
    project.write(orders=JOB)
    project.apply()
    project.until(lambda: project.ids("orders") == list(range(10)), "ten rows")
    try:
        yield project
    finally:
        project.close()


def _stop(lake: Project) -> None:
    lake.edit("orders", ('job "orders" {', 'job "orders" {\n  stopped = true'))
    lake.apply()


def test_a_job_that_has_read_everything_has_no_lag(lake: Project) -> None:
    lake.until(lambda: lake.status()["job.orders"]["lag"] == "none", "no lag")
    lake.quiet()
    shown = lake.run("checkpoint", "show", "checkpoint.orders").out
    assert "topic orders, partition 0: 0 records behind" in shown


def test_brokers_that_do_not_answer_leave_it_unknown(lake: Project, broker: Broker) -> None:
    _stop(lake)
    broker.topics.produce("orders", _records(10, 15))
    broker.stop()
    try:
        planned = lake.run("plan", code=1)
        assert "No changes are planned, but not everything is known" in planned.out
        assert "cannot be reached" in planned.err
        drifted = lake.run("drift", code=3)
        assert "unknown whether the records that it has yet to read are still there" in drifted.out
        shown = lake.run("checkpoint", "show", "checkpoint.orders").out
        assert "unknown whether the records" in shown
        with lake.edited("orders", ("  stopped = true\n", "")):
            blocked = lake.run("plan", code=4).out
            assert "[FIK214]" in blocked
    finally:
        broker.start()
    lake.quiet()


def test_a_job_that_is_behind_says_how_far(lake: Project) -> None:
    shown = lake.run("checkpoint", "show", "checkpoint.orders").out
    assert "topic orders, partition 0: 5 records behind" in shown
    (found,) = json.loads(lake.run("checkpoint", "show", "-json", "checkpoint.orders").out)["inputs"]
    assert found["lag"] == [{"topic": "orders", "partition": 0, "records": 5}]
    with lake.edited("orders", ("  stopped = true\n", "")):
        assert "5 records of input orders are waiting" in " ".join(lake.plan(2).split())


def test_records_that_are_deleted_before_they_are_read_block_the_start(lake: Project, broker: Broker) -> None:
    broker.topics.trim("orders", {0: 12})
    assert "the next records to read of topic orders are deleted" in lake.run("drift", code=3).out
    with lake.edited("orders", ("  stopped = true\n", "")):
        text = lake.run("plan", code=4).out
        assert "[FIK210]" in text
        assert "Partition 0 goes on at offset 10, and the first one that is left is 12" in text
        assert "generation = 2" in text
        lake.apply(code=4)


def test_the_way_out_reads_what_is_left(lake: Project) -> None:
    lake.edit(
        "orders",
        ("  stopped = true\n", ""),
        ('checkpoint "orders" {}', 'checkpoint "orders" {\n  generation = 2\n  start_from = "earliest"\n}'),
    )
    assert "12 records of topic orders were deleted, and are not read" in " ".join(lake.plan(2).split())
    lake.apply()
    lake.until(lambda: lake.ids("orders") == [*range(10), 12, 13, 14], "the rows that are left")


def test_a_topic_that_was_created_again_blocks_the_start(lake: Project, broker: Broker) -> None:
    _stop(lake)
    broker.topics.delete("orders")
    with lake.edited("orders", ("  stopped = true\n", "")):
        assert "[FIK212]" in lake.run("plan", code=4).out
    broker.topics.create("orders", partitions=1)
    broker.topics.produce("orders", _records(0, 20))
    with lake.edited("orders", ("  stopped = true\n", "")):
        text = lake.run("plan", code=4).out
        assert "[FIK211]" in text
        assert "Topic orders was deleted and created again" in text
