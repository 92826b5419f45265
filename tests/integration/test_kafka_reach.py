"""The knowledge of commands about the records that a job has yet to read, on a real broker: its lag, the
records that are lost to it, and those that are not known.
"""

import json

import pytest

from tests.integration.kafka_project import KafkaLake, Numbers, copying
from tests.integration.project import Project
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def orders(kafka: KafkaLake) -> Numbers:
    """A topic of which a job has read ten records."""
    sent = kafka.numbers("orders")
    sent.send(10)
    kafka.project.write(orders=copying("orders"))
    kafka.project.apply()
    sent.expect()
    return sent


@pytest.fixture
def lake(kafka: KafkaLake, orders: Numbers) -> Project:
    """The project with that job."""
    del orders
    return kafka.project


def test_fields_without_a_column_are_named_once_for_a_stream(kafka: KafkaLake) -> None:
    kafka.broker.topics.create("fields", partitions=2)
    values = ['{"id": 1, "amount": 2.5, "tag": "secret-value"}', '{"id": 2, "ID": 3}', '{"id": 3}']
    kafka.broker.topics.produce(
        "fields", [Record(value=value, partition=at % 2) for at, value in enumerate(values)]
    )
    both = copying("fields")
    again = (
        both[both.index('table "fields"') :]
        .replace("fields", "again")
        .replace("stream.again", "stream.fields")
    )
    kafka.project.write(fields=both + again)
    try:
        planned = kafka.project.run("plan", "-target", "job.fields", "-target", "job.again")
        assert planned.err.count("[FIK355]") == 1
        assert "2 of the last 3 records of topic fields have fields that are not read" in planned.err
        assert 'column "amount" { type = "double" }' in planned.err
        assert "secret-value" not in planned.err + planned.out
        unasked = kafka.project.run("plan", "-refresh=none", "-target", "job.fields")
        assert "[FIK355]" not in unasked.err
    finally:
        kafka.project.remove("fields")


def test_a_job_that_has_read_everything_has_no_lag(lake: Project) -> None:
    lake.until(lambda: lake.status()["job.orders"]["lag"] == "none", "no lag")
    lake.quiet()
    shown = lake.run("checkpoint", "show", "checkpoint.orders").out
    assert "topic orders, partition 0: 0 records behind" in shown


def test_brokers_that_do_not_answer_leave_it_unknown(
    kafka: KafkaLake, lake: Project, orders: Numbers
) -> None:
    kafka.stopped("orders")
    orders.send(5)
    kafka.broker.stop()
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
        kafka.broker.start()
    lake.quiet()


def test_a_job_that_is_behind_says_how_far(lake: Project) -> None:
    shown = lake.run("checkpoint", "show", "checkpoint.orders").out
    assert "topic orders, partition 0: 5 records behind" in shown
    (found,) = json.loads(lake.run("checkpoint", "show", "-json", "checkpoint.orders").out)["inputs"]
    assert found["lag"] == [{"topic": "orders", "partition": 0, "records": 5}]
    with lake.edited("orders", ("  stopped = true\n", "")):
        assert "5 records of input raw are waiting" in " ".join(lake.plan(2).split())


def test_records_that_are_deleted_before_they_are_read_block_the_start(
    kafka: KafkaLake, lake: Project
) -> None:
    kafka.broker.topics.trim("orders", {0: 12})
    assert (
        "the brokers have deleted the next records to read of topic orders" in lake.run("drift", code=3).out
    )
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
        ("generation = 1", 'generation = 2\n  start_from = "earliest"'),
    )
    assert "12 records of topic orders were deleted, and are not read" in " ".join(lake.plan(2).split())
    lake.apply()
    lake.until(lambda: lake.ids("orders") == [*range(10), 12, 13, 14], "the rows that are left")


def test_a_topic_that_was_created_again_blocks_the_start(
    kafka: KafkaLake, lake: Project, orders: Numbers
) -> None:
    start = kafka.stopped("orders")
    kafka.broker.topics.delete("orders")
    start()
    assert "[FIK212]" in lake.run("plan", code=4).out
    kafka.broker.topics.create("orders")
    orders.sent = 0
    orders.send(20)
    text = lake.run("plan", code=4).out
    assert "[FIK211]" in text
    assert "Topic orders was deleted and created again" in text
