"""The behaviour of Spark with a checkpoint when the topics of a query, or the topics themselves, are others
than before.
"""

import shutil
from pathlib import Path

import pytest

from tests.facts.ids import fact
from tests.facts.kafka import BOTH, LOST, NO_TOPIC, Kafka, Reader, at
from tests.facts.lake import forget
from tests.support.kafka_broker import Broker

pytestmark = [pytest.mark.jvm, pytest.mark.kafka]


def created_again(kafka: Kafka, topic: str, *values: str) -> None:
    """Another topic under the same name."""
    kafka.topics.delete(topic)
    kafka.topics.create(topic)
    kafka.topics.produce(topic, values)


def stuck_in(reader: Reader, batch: int) -> bool:
    """Returns True if the offsets of a batch were written and the batch was not done."""
    return (reader.checkpoint / "offsets" / str(batch)).exists() and batch not in reader.committed()


@fact("kafka.topic-added")
def test_an_added_topic_is_read_from_its_beginning(kafka: Kafka) -> None:
    """Whatever ``startingOffsets`` says; the other topics keep their positions."""
    old, new = kafka.topic("a"), kafka.topic("x")
    reader = kafka.reader(subscribe=old)
    kafka.topics.produce(old, ["b"])
    assert reader.run(subscribe=f"{old},{new}", startingOffsets="latest") == ["0/0 x", "0/1 b"]


@fact("kafka.topic-removed")
def test_a_removed_topic_is_refused(kafka: Kafka) -> None:
    """Spark cannot tell it from one that was deleted."""
    old, kept = kafka.topic("a"), kafka.topic("x")
    reader = kafka.reader(subscribe=f"{old},{kept}")
    assert reader.run(subscribe=kept) == [LOST]


@fact("kafka.topic-removed-careless")
def test_a_removed_topic_loses_its_position(kafka: Kafka) -> None:
    """With ``failOnDataLoss`` off: it is read from its beginning again where it comes back."""
    old, kept = kafka.topic("a"), kafka.topic("x")
    reader = kafka.reader(subscribe=f"{old},{kept}")
    assert reader.run(subscribe=kept, failOnDataLoss="false") == []
    assert reader.positions(old) == [{"0": 1}, None]
    assert reader.run(subscribe=f"{old},{kept}", failOnDataLoss="false") == ["0/0 a"]


@fact("kafka.refused-batch")
def test_a_refused_start_spoils_the_checkpoint(kafka: Kafka) -> None:
    """The offsets of the refused batch are written before positions are compared: the old topics are refused
    from now on, too. Without these offsets and their checksum the query goes on.
    """
    old, other = kafka.topic("a"), kafka.topic("x")
    reader = kafka.reader(subscribe=old)
    assert reader.run(subscribe=other) == [LOST]
    assert stuck_in(reader, 1)
    assert reader.run(subscribe=old) == [LOST]
    forget(reader.checkpoint, "offsets", 1)
    kafka.topics.produce(old, ["b"])
    assert reader.run(subscribe=old) == ["0/1 b"]


@fact("kafka.refused-batch-checksum")
def test_a_checksum_that_is_left_behind_ends_the_next_start(kafka: Kafka) -> None:
    """Spark takes it for another query on the same checkpoint."""
    old, other = kafka.topic("a"), kafka.topic("x")
    reader = kafka.reader(subscribe=old)
    assert reader.run(subscribe=other) == [LOST]
    (reader.checkpoint / "offsets" / "1").unlink()
    kafka.topics.produce(old, ["b"])
    (found,) = reader.run(subscribe=old)
    assert "Multiple streaming queries are concurrently using" in found


@fact("kafka.pattern")
def test_a_pattern_over_the_same_topics_keeps_positions(kafka: Kafka) -> None:
    """And takes topics that are created later from their beginning."""
    topic = kafka.topic("a")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.produce(topic, ["b"])
    assert reader.run(subscribePattern=f"{topic}.*") == ["0/1 b"]
    kafka.topics.create(f"{topic}-later")
    kafka.topics.produce(f"{topic}-later", ["x"])
    assert reader.run(subscribePattern=f"{topic}.*") == ["0/0 x"]


@fact("kafka.partitions-added")
@BOTH
def test_added_partitions_are_read_from_their_beginning(kafka: Kafka, careful: str) -> None:
    """Whatever ``startingOffsets`` says."""
    topic = kafka.topic("a")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.add_partitions(topic, 3)
    kafka.topics.produce(topic, at(2, "x"))
    assert reader.run(subscribe=topic, startingOffsets="latest", failOnDataLoss=careful) == ["2/0 x"]
    assert reader.positions(topic)[-1] == {"0": 1, "1": 0, "2": 1}


@fact("kafka.topic-deleted")
@BOTH
def test_a_deleted_topic_ends_the_start(kafka: Kafka, careful: str) -> None:
    """Whatever ``failOnDataLoss`` says. Nothing is written."""
    topic = kafka.topic("a")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.delete(topic)
    assert reader.run(subscribe=topic, failOnDataLoss=careful) == [NO_TOPIC]
    assert not stuck_in(reader, 1)


@fact("kafka.recreated-more")
@BOTH
def test_a_topic_that_was_created_again_goes_on_at_the_old_offset(kafka: Kafka, careful: str) -> None:
    """Silently, whatever ``failOnDataLoss`` says: as many new records as were read before are never read.
    Only the id of the topic tells.
    """
    topic = kafka.topic("a", "b")
    reader = kafka.reader(subscribe=topic)
    created_again(kafka, topic, "new 1", "new 2", "new 3")
    assert reader.run(subscribe=topic, failOnDataLoss=careful) == ["0/2 new 3"]


def test_of_a_topic_that_was_created_again_with_as_many_records_none_is_read(kafka: Kafka) -> None:
    topic = kafka.topic("a", "b")
    reader = kafka.reader(subscribe=topic)
    created_again(kafka, topic, "new 1", "new 2")
    assert reader.run(subscribe=topic) == []


@fact("kafka.recreated-fewer")
def test_a_shorter_topic_under_the_same_name_is_refused(kafka: Kafka) -> None:
    """For good: the refused batch ends at the shorter length, and more records do not change that."""
    topic = kafka.topic("a", "b")
    reader = kafka.reader(subscribe=topic)
    created_again(kafka, topic, "new 1")
    assert reader.run(subscribe=topic) == [LOST]
    kafka.topics.produce(topic, ["new 2", "new 3"])
    assert reader.run(subscribe=topic) == [LOST]
    assert reader.positions(topic) == [{"0": 2}, {"0": 1}]


@fact("kafka.recreated-fewer-careless")
def test_the_records_of_a_shorter_topic_are_passed_over(kafka: Kafka) -> None:
    """With ``failOnDataLoss`` off: the position moves back to the end, without an error."""
    topic = kafka.topic("a", "b")
    reader = kafka.reader(subscribe=topic)
    created_again(kafka, topic, "new 1")
    assert reader.run(subscribe=topic, failOnDataLoss="false") == []
    kafka.topics.produce(topic, ["new 2"])
    assert reader.run(subscribe=topic, failOnDataLoss="false") == ["0/1 new 2"]


@fact("kafka.expired")
def test_offsets_that_are_deleted_are_refused(kafka: Kafka) -> None:
    """As retention deletes them. A start with ``failOnDataLoss`` off gets past the refused batch."""
    topic = kafka.topic("a", "b")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.produce(topic, ["c", "d", "e"])
    kafka.topics.trim(topic, {0: 4})
    assert reader.run(subscribe=topic) == [LOST]
    assert stuck_in(reader, 1)
    assert reader.run(subscribe=topic, failOnDataLoss="false") == ["0/4 e"]


@fact("kafka.expired-read")
def test_offsets_that_were_read_may_be_deleted(kafka: Kafka) -> None:
    """Up to the position itself."""
    topic = kafka.topic("a", "b")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.trim(topic, {0: 2})
    kafka.topics.produce(topic, ["c"])
    assert reader.run(subscribe=topic) == ["0/2 c"]


@fact("kafka.expired-in-flight")
def test_a_batch_in_flight_is_replayed_with_the_records_that_are_left(kafka: Kafka) -> None:
    """It is refused, or with ``failOnDataLoss`` off it writes other rows under the same number."""
    topic = kafka.topic("a", "b", "c")
    reader = kafka.reader(subscribe=topic)
    forget(reader.checkpoint, "commits", 0)
    kafka.topics.trim(topic, {0: 1})
    assert reader.run(subscribe=topic) == [LOST]
    assert reader.run(subscribe=topic, failOnDataLoss="false") == ["0/1 b", "0/2 c"]


@fact("kafka.expired-partition")
def test_a_new_partition_that_was_trimmed_already_is_refused(kafka: Kafka) -> None:
    """Spark expects a partition that it has not seen to begin at 0."""
    topic = kafka.topic("a")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.add_partitions(topic, 2)
    kafka.topics.produce(topic, at(1, "x", "y"))
    kafka.topics.trim(topic, {1: 1})
    assert reader.run(subscribe=topic) == [LOST]
    assert reader.run(subscribe=topic, failOnDataLoss="false") == ["1/1 y"]


@fact("kafka.other-cluster")
def test_another_cluster_at_the_same_address_is_taken_for_the_old_one(
    kafka: Kafka, tmp_path: Path, java_home: Path
) -> None:
    """Neither the id of the cluster nor that of the topic is compared."""
    data = tmp_path / "cluster"
    with Broker(data, java_home) as broker:
        there = Kafka(spark=kafka.spark, broker=broker, folder=tmp_path)
        topic = there.topic("a", "b")
        reader = there.reader(subscribe=topic)
        broker.kill()
        shutil.rmtree(data)
        broker.start()
        broker.topics.create(topic)
        broker.topics.produce(topic, ["new 1", "new 2", "new 3"])
        assert reader.run(subscribe=topic) == ["0/2 new 3"]
