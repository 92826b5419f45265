"""The effects of options on a query from Kafka, the events that a running query survives, and the effect of
transactions on positions.
"""

import contextlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.kafka import NO_TOPIC, Kafka, at
from tests.facts.lake import SECONDS, collected, drain, why
from tests.support.kafka_broker import Broker
from tests.support.kafka_topics import Record

pytestmark = [pytest.mark.jvm, pytest.mark.kafka]


@contextmanager
def running(kafka: Kafka, **options: str) -> Iterator[tuple[Any, list[str]]]:
    """A query that goes on, and what it has read so far."""
    reader, read = kafka.reader(), list[str]()

    def take(rows: Any, _batch: int) -> None:
        read.extend(text for (text,) in collected(rows.selectExpr("CAST(value AS STRING)")))

    frame = reader.frame(startingOffsets="earliest", **options)
    writer = frame.writeStream.foreachBatch(take).option("checkpointLocation", str(reader.checkpoint))
    query = writer.trigger(processingTime="0 seconds").start()
    try:
        yield query, read
    finally:
        with contextlib.suppress(Exception):  # what ended it is the test's business
            query.stop()


def has_read(query: Any, read: list[str], *values: str) -> bool:
    """Waits until a query has read exactly these; raises what ended it."""
    deadline = time.monotonic() + SECONDS
    while len(read) < len(values) and time.monotonic() < deadline:
        drain(query)
        time.sleep(0.05)
    return read == list(values)


def columns(kafka: Kafka, **options: str) -> dict[str, str]:
    schema = kafka.reader().frame(subscribe="any", **options).schema
    return {field.name: field.dataType.simpleString() for field in schema}


@fact("kafka.columns")
def test_columns_are_fixed_but_for_headers(kafka: Kafka) -> None:
    """Key and value are bytes, whatever is in them."""
    plain = {
        "key": "binary",
        "value": "binary",
        "topic": "string",
        "partition": "int",
        "offset": "bigint",
        "timestamp": "timestamp",
        "timestampType": "int",
    }
    assert columns(kafka) == plain
    assert columns(kafka, includeHeaders="true") == {
        **plain,
        "headers": "array<struct<key:string,value:binary>>",
    }


@fact("kafka.headers")
def test_a_record_without_headers_has_null_for_them(kafka: Kafka) -> None:
    """A name may stand twice; a null value is not an empty one."""
    marked = Record(value="a", headers=(("h", b"1"), ("h", b"2"), ("n", None)), partition=0)
    topic = kafka.topic(marked, Record(value=None, partition=0), Record(value="", partition=0))
    reader = kafka.spark.read.format("kafka").option("kafka.bootstrap.servers", kafka.broker.bootstrap)
    frame = reader.options(subscribe=topic, includeHeaders="true").load()
    shown = "transform(headers, h -> concat_ws('=', h.key, CAST(h.value AS STRING)))"
    rows = collected(frame.selectExpr("offset", "CAST(value AS STRING)", shown))
    found = {offset: rest for offset, *rest in rows}
    assert found == {0: ["a", ["h=1", "h=2", "n"]], 1: [None, None], 2: ["", None]}


@fact("kafka.changed-options")
@pytest.mark.parametrize(
    "options",
    [
        {"includeHeaders": "true"},
        {"groupIdPrefix": "mine"},
        {"kafka__group__id": "mine"},
        {"kafka__isolation__level": "read_committed"},
        {"failOnDataLoss": "false"},
        {"minPartitions": "3"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_that_may_change_at_each_start(kafka: Kafka, options: dict[str, str]) -> None:
    """Positions stay."""
    topic = kafka.topic("a")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.produce(topic, ["b"])
    assert reader.run(subscribe=topic, **options) == ["0/1 b"]


@fact("kafka.groups")
def test_the_broker_knows_no_position_of_a_query(kafka: Kafka) -> None:
    """Spark commits nothing, whatever group it names: how far it is stands in the checkpoint alone."""
    kafka.reader(subscribe=kafka.topic("a"), kafka__group__id="mine")
    assert kafka.topics.groups() == []


@fact("kafka.isolation")
def test_aborted_records_are_read_unless_committed_ones_are_asked_for(kafka: Kafka) -> None:
    """The default is ``read_uncommitted``."""
    topic = kafka.topics.create()
    kafka.topics.produce_in_transaction(topic, at(0, "a", "b"))
    kafka.topics.produce_in_transaction(topic, at(0, "never"), commit=False)
    reader, careful = kafka.reader(), kafka.reader()
    assert reader.run(subscribe=topic, startingOffsets="earliest") == ["0/0 a", "0/1 b", "0/3 never"]
    committed = {"kafka__isolation__level": "read_committed"}
    assert careful.run(subscribe=topic, startingOffsets="earliest", **committed) == ["0/0 a", "0/1 b"]
    assert reader.positions(topic) == careful.positions(topic) == [kafka_ends(kafka, topic)]


def kafka_ends(kafka: Kafka, topic: str) -> dict[str, int]:
    return {str(partition): end for partition, end in kafka.topics.ends(topic).items()}


@fact("kafka.markers")
def test_markers_of_transactions_count_as_offsets(kafka: Kafka) -> None:
    """For positions and for ``maxOffsetsPerTrigger``: a batch may hold fewer records than offsets, or none;
    nothing lags when all is read.
    """
    topic = kafka.topics.create()
    for value in ("a", "b", "c"):
        kafka.topics.produce_in_transaction(topic, at(0, value))
    reader = kafka.reader(subscribe=topic, maxOffsetsPerTrigger="2")
    assert reader.positions(topic) == [{"0": 2}, {"0": 4}, {"0": 6}]


@fact("kafka.open-transaction")
def test_an_open_transaction_holds_back_what_comes_after_it(kafka: Kafka) -> None:
    """With ``read_committed``: the end of a partition is then before the open transaction."""
    topic = kafka.topic("a")
    committed = {"kafka__isolation__level": "read_committed"}
    reader = kafka.reader()
    with kafka.topics.open_transaction(topic, ["open"]):
        kafka.topics.produce(topic, ["after"])
        assert reader.run(subscribe=topic, startingOffsets="earliest", **committed) == ["0/0 a"]
        assert reader.positions(topic) == [{"0": 1}]
    assert reader.run(subscribe=topic, **committed) == ["0/1 open", "0/2 after"]


@fact("kafka.running")
def test_a_running_query_picks_up_new_partitions(kafka: Kafka) -> None:
    """From their beginning, as a restart does."""
    topic = kafka.topic("a")
    with running(kafka, subscribe=topic) as (query, read):
        assert has_read(query, read, "a")
        kafka.topics.add_partitions(topic, 2)
        kafka.topics.produce(topic, at(1, "b"))
        assert has_read(query, read, "a", "b")


@fact("kafka.running-deleted")
def test_a_running_query_ends_when_its_topic_is_deleted(kafka: Kafka) -> None:
    """After some retries of a second."""
    from pyspark.errors import StreamingQueryException

    topic = kafka.topic("a")
    with running(kafka, subscribe=topic) as (query, read):
        assert has_read(query, read, "a")
        kafka.topics.delete(topic)
        with pytest.raises(StreamingQueryException) as failed:
            assert not query.awaitTermination(SECONDS)
        assert f"! {why(failed.value)}" == NO_TOPIC


@fact("kafka.running-deleted-pattern")
def test_a_running_query_with_a_pattern_outlives_its_topic(kafka: Kafka) -> None:
    """A topic that is created again under the name is read from the old offset."""
    topic = kafka.topic("a")
    with running(kafka, subscribePattern=topic) as (query, read):
        assert has_read(query, read, "a")
        kafka.topics.delete(topic)
        drain(query)
        kafka.topics.create(topic)
        kafka.topics.produce(topic, ["new 1", "new 2"])
        assert has_read(query, read, "a", "new 2")


@fact("kafka.outage")
def test_a_running_query_lives_through_an_outage_of_the_broker(
    kafka: Kafka, tmp_path: Path, java_home: Path
) -> None:
    """Shorter than the time that the client gives an answer, a minute, and that three times."""
    with Broker(tmp_path / "outage", java_home) as broker:
        there = Kafka(spark=kafka.spark, broker=broker, folder=tmp_path)
        topic = there.topic("a")
        with running(there, subscribe=topic) as (query, read):
            assert has_read(query, read, "a")
            broker.kill()
            threading.Event().wait(3)
            broker.start()
            there.topics.produce(topic, ["b"])
            assert has_read(query, read, "a", "b")


@fact("kafka.unreachable")
def test_a_broker_that_is_not_there_ends_a_start(kafka: Kafka) -> None:
    """After three times ``default.api.timeout.ms``, a minute each where nothing else is said. Nothing but
    the id of the query is written.
    """
    reader = kafka.reader()
    reader.bootstrap = "127.0.0.1:1"
    patience = {"kafka__default__api__timeout__ms": "1500", "kafka__request__timeout__ms": "1000"}
    (found,) = reader.run(subscribe="any", **patience)
    assert "Timed out waiting for a node assignment" in found
    assert not reader.initial.exists()
