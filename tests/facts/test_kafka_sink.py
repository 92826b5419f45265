"""The records that Spark writes into a topic, those that it refuses, and those that are lost or written
twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.facts.ids import fact
from tests.facts.kafka import Kafka
from tests.facts.lake import SECONDS, forget, why
from tests.support.kafka_topics import Record

pytestmark = [pytest.mark.jvm, pytest.mark.kafka]


@dataclass(slots=True, kw_only=True)
class Writer:
    """A query from one topic into another, with a checkpoint of its own."""

    kafka: Kafka
    source: str
    folder: Path

    @property
    def checkpoint(self) -> Path:
        return self.folder / "writer"

    def run(self, *columns: str, topic: str | None = None, **options: str) -> str:
        """Writes all that is there; returns the first words of an error, or nothing."""
        from pyspark.errors import PySparkException

        dotted = {name.replace("__", "."): value for name, value in options.items()}
        frame = self.kafka.reader().frame(subscribe=self.source, startingOffsets="earliest")
        writer = frame.selectExpr(*columns).writeStream.format("kafka").options(**dotted)
        writer = writer.option("kafka.bootstrap.servers", self.kafka.broker.bootstrap)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        if topic:
            writer = writer.option("topic", topic)
        try:
            query = writer.trigger(availableNow=True).start()
            try:
                assert query.awaitTermination(SECONDS), "the query did not end"
            finally:
                query.stop()
        except PySparkException as failure:
            return why(failure) if "terminated with exception" in str(failure) else str(failure)
        return ""


@pytest.fixture
def writer(kafka: Kafka, tmp_path: Path) -> Writer:
    return Writer(kafka=kafka, source=kafka.topic(Record(value="a", key="k", partition=0)), folder=tmp_path)


@pytest.fixture
def target(kafka: Kafka) -> str:
    return kafka.topics.create(partitions=2)


@fact("kafka.sink-columns")
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("key",), "Required attribute 'value' not found"),
        (("1 AS value",), "value attribute unsupported type int. value must be a(n) string or binary"),
        (("value", "1 AS key"), "key attribute unsupported type int. key must be a(n) string or binary"),
        (("value", "'x' AS headers"), "headers attribute unsupported type string"),
    ],
)
def test_columns_of_other_types_are_refused(
    writer: Writer, target: str, columns: Sequence[str], message: str
) -> None:
    """A value is required; what is neither text nor bytes has to be made so."""
    assert message in writer.run(*columns, topic=target)


@fact("kafka.sink-topic")
def test_a_topic_comes_from_the_option_or_from_each_row(writer: Writer, target: str) -> None:
    """The option counts where both are there; a row without either fails."""
    assert "topic option required" in writer.run("value")
    assert writer.run("value", "'elsewhere' AS topic", topic=target) == ""
    assert sum(writer.kafka.topics.ends(target).values()) == 1


def test_a_null_topic_fails(writer: Writer) -> None:
    assert "contains a null topic" in writer.run("value", "CAST(NULL AS STRING) AS topic")


@fact("kafka.sink-record")
def test_key_headers_and_partition_are_written_and_other_columns_are_not(writer: Writer, target: str) -> None:
    """Silently; headers are written without ``includeHeaders``, too."""
    headers = "array(struct('h' AS key, X'31' AS value)) AS headers"
    assert writer.run("key", "value", headers, "1 AS partition", "1 AS other", topic=target) == ""
    (found,) = writer.kafka.topics.consume(target)
    assert (found.key, found.value, found.partition, found.headers) == (b"k", b"a", 1, (("h", b"1"),))


@fact("kafka.sink-replay")
def test_a_batch_that_is_replayed_is_written_twice(writer: Writer, target: str) -> None:
    """At least once: the topic keeps no mark of a batch."""
    assert writer.run("value", topic=target) == ""
    forget(writer.checkpoint, "commits", 0)
    assert writer.run("value", topic=target) == ""
    assert sum(writer.kafka.topics.ends(target).values()) == 2


@fact("kafka.sink-missing-topic")
def test_a_topic_that_is_missing_fails_the_batch(writer: Writer) -> None:
    """After ``max.block.ms``, a minute where nothing else is said."""
    found = writer.run("value", topic="there-is-no-such-topic", kafka__max__block__ms="1000")
    assert "Topic there-is-no-such-topic not present in metadata after 1000 ms" in found


@fact("kafka.sink-transactions")
def test_transactions_of_the_client_are_not_used(writer: Writer, target: str) -> None:
    """A transactional id is not refused, and every batch fails."""
    found = writer.run("value", topic=target, kafka__transactional__id="mine")
    assert "before completing a call to initTransactions" in found


@fact("kafka.sink-large")
def test_a_record_above_the_limit_of_the_topic_fails(writer: Writer) -> None:
    """The record fails if it is alone in its batch of the client."""
    small = writer.kafka.topics.create(max_message_bytes="300")
    found = writer.run("repeat('x', 400) AS value", topic=small)
    assert "RecordTooLargeException" in found


@fact("kafka.sink-batch-limits")
def test_limits_of_the_client_below_that_of_the_topic_lose_nothing(writer: Writer) -> None:
    """``batch.size`` and ``max.request.size``: batches fit, and a record that does not is refused."""
    limits = {"kafka__batch__size": "200", "kafka__max__request__size": "300"}
    writer.kafka.topics.produce(writer.source, ["x" * 50] * 19)
    small = writer.kafka.topics.create(max_message_bytes="300")
    assert writer.run("value", topic=small, **limits) == ""
    assert writer.kafka.topics.ends(small)[0] == 20
    writer.kafka.topics.produce(writer.source, ["x", "y" * 400, "z"])
    assert "which is larger than 300" in writer.run("value", topic=small, **limits)


@fact("kafka.sink-batch-large")
def test_a_batch_of_the_client_above_the_limit_of_the_topic_is_lost_silently(writer: Writer) -> None:
    """The client takes such a batch apart and sends the parts again. A flush of Spark's that has begun does
    not wait for these: the batch of the query is committed while none of its records is in the topic,
    although each is small. A flush that begins later waits, and fails.
    """
    writer.kafka.topics.produce(writer.source, ["x" * 50] * 99)
    small = writer.kafka.topics.create(max_message_bytes="300")
    # Nothing is sent before the flush; then the client tries for some seconds in the background
    options = {
        "kafka__linger__ms": "10000",
        "kafka__request__timeout__ms": "10000",
        "kafka__delivery__timeout__ms": "25000",
    }
    assert writer.run("value", topic=small, **options) == ""
    assert (writer.checkpoint / "commits" / "0").exists()
    assert writer.kafka.topics.ends(small) == {0: 0}
