"""The beginning of a query from Kafka, and the position in its checkpoint."""

import json
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.kafka import LOST, NO_TOPIC, Kafka, at
from tests.facts.lake import entry, forget
from tests.support.kafka_topics import Record

pytestmark = [pytest.mark.jvm, pytest.mark.kafka]


def starting(topic: str, offsets: dict[str, int]) -> dict[str, str]:
    return {"subscribe": topic, "startingOffsets": json.dumps({topic: offsets})}


@fact("kafka.offset-log")
def test_the_offset_log_holds_the_end_of_each_partition(kafka: Kafka) -> None:
    """The offset after the last record; compact JSON, with nothing else about topics."""
    topic = kafka.topic("a", "b", *at(1, "c"), partitions=2)
    reader = kafka.reader()
    assert reader.run(subscribe=topic, startingOffsets="earliest") == ["0/0 a", "0/1 b", "1/0 c"]
    assert entry(reader.checkpoint, "offsets", 0)[2:] == [f'{{"{topic}":{{"0":2,"1":1}}}}']
    assert reader.initial.read_bytes() == f'\0v1\n{{"{topic}":{{"0":0,"1":0}}}}'.encode()


@fact("kafka.restart")
def test_a_restart_ignores_where_to_start(kafka: Kafka) -> None:
    """The checkpoint counts."""
    topic = kafka.topic("a")
    reader = kafka.reader(subscribe=topic)
    kafka.topics.produce(topic, ["b"])
    assert reader.run(subscribe=topic, startingOffsets="latest") == ["0/1 b"]
    kafka.topics.produce(topic, ["c"])
    assert reader.run(subscribe=topic, startingTimestamp="1") == ["0/2 c"]


@fact("kafka.seed")
def test_a_seeded_first_position_is_where_a_new_query_begins(kafka: Kafka) -> None:
    """So that a new generation carries on: ``sources/0/0`` alone is enough, and no option moves it."""
    topic = kafka.topic("a", "b", *at(1, "c", "d"), partitions=2)
    reader = kafka.reader()
    reader.seed({topic: {"0": 1, "1": 2}})
    assert reader.run(subscribe=topic, startingOffsets="earliest") == ["0/1 b"]
    assert reader.positions(topic) == [{"0": 2, "1": 2}]


def test_a_seed_at_the_end_reads_nothing_and_then_goes_on(kafka: Kafka) -> None:
    """An empty batch 0 is committed."""
    topic = kafka.topic("a")
    reader = kafka.reader()
    reader.seed({topic: {"0": 1}})
    assert reader.run(subscribe=topic) == []
    assert reader.committed() == [0]
    kafka.topics.produce(topic, ["b"])
    assert reader.run(subscribe=topic) == ["0/1 b"]


@fact("kafka.seed-gaps")
def test_what_a_seed_does_not_name_is_read_from_the_beginning(kafka: Kafka) -> None:
    """A partition or a topic that it lacks, whatever the options say: a seed names every partition."""
    topic = kafka.topic("a", *at(1, "b"), partitions=2)
    other = kafka.topic("x", "y")
    reader = kafka.reader()
    reader.seed({topic: {"0": 1}})
    assert reader.run(subscribe=f"{topic},{other}", startingOffsets="latest") == ["0/0 x", "0/1 y", "1/0 b"]


@fact("kafka.seed-beyond")
@pytest.mark.parametrize("offset", [7, -1])
def test_a_seed_that_a_partition_does_not_have_is_refused(kafka: Kafka, offset: int) -> None:
    """An offset beyond the end; the mark for the latest is not a position here."""
    topic = kafka.topic("a")
    reader = kafka.reader()
    reader.seed({topic: {"0": offset}})
    (found,) = reader.run(subscribe=topic)
    assert found.startswith("!")
    assert reader.committed() == []


@fact("kafka.seed-form")
@pytest.mark.parametrize("form", ['v1\n{"%s":{"0":1}}', '{"%s":{"0":1}}'])
def test_a_seed_of_another_form_is_refused(kafka: Kafka, form: str) -> None:
    """Without the leading NUL, or without the version."""
    topic = kafka.topic("a")
    reader = kafka.reader()
    reader.seed({})
    reader.initial.write_text(form % topic)
    (found,) = reader.run(subscribe=topic)
    assert found.startswith('! Expected e.g. {"topicA":{"0":23,"1":-1}')


@fact("kafka.start")
@pytest.mark.parametrize(
    ("offsets", "first", "read"),
    [
        ({"0": 1, "1": 0}, {"0": 1, "1": 0}, ["0/1 b", "1/0 c"]),
        ({"0": -1, "1": -2}, {"0": 2, "1": 0}, ["1/0 c"]),
    ],
)
def test_a_start_is_resolved_once(
    kafka: Kafka, offsets: dict[str, int], first: dict[str, int], read: list[str]
) -> None:
    """The offsets that -1 and -2 stood for at the first start are recorded."""
    topic = kafka.topic("a", "b", *at(1, "c"), partitions=2)
    reader = kafka.reader()
    assert reader.run(**starting(topic, offsets)) == read
    assert json.loads(reader.initial.read_bytes()[4:]) == {topic: first}


@fact("kafka.start-default")
def test_a_query_starts_at_the_end_where_nothing_else_is_said(kafka: Kafka) -> None:
    """``latest``; what was there is never read."""
    topic = kafka.topic("a")
    reader = kafka.reader()
    assert reader.run(subscribe=topic) == []
    assert reader.positions(topic) == [{"0": 1}]


@fact("kafka.start-partitions")
@pytest.mark.parametrize("named", [("0",), ("0", "1", "2")])
def test_a_start_names_exactly_the_partitions_of_the_topics(kafka: Kafka, named: tuple[str, ...]) -> None:
    """No more, no less; nothing is written, so that the next start may be right."""
    topic = kafka.topic("a", partitions=2)
    reader = kafka.reader()
    (found,) = reader.run(**starting(topic, dict.fromkeys(named, 0)))
    assert "you must specify all TopicPartitions" in found
    assert not reader.initial.exists()
    assert reader.run(**starting(topic, {"0": 0, "1": 0})) == ["0/0 a"]


@fact("kafka.start-beyond")
def test_a_start_beyond_the_end_spoils_the_checkpoint(kafka: Kafka) -> None:
    """It is refused after the first position and the first batch were written; a better one does not help."""
    topic = kafka.topic("a")
    reader = kafka.reader()
    assert reader.run(**starting(topic, {"0": 9})) == [LOST]
    assert json.loads(reader.initial.read_bytes()[4:]) == {topic: {"0": 9}}
    assert reader.run(**starting(topic, {"0": 0})) == [LOST]


@fact("kafka.start-time")
def test_a_start_time_is_the_first_record_at_or_after_it(kafka: Kafka) -> None:
    """It goes before ``startingOffsets``. A partition without such a record ends the start, or is read from
    its end.
    """
    times: list[Record] = [Record(value=str(ms), timestamp=ms, partition=0) for ms in (1000, 2000)]
    topic = kafka.topic(*times, Record(value="late", timestamp=3000, partition=1), partitions=2)
    reader = kafka.reader()
    found = reader.run(subscribe=topic, startingTimestamp="1500", startingOffsets="earliest")
    assert found == ["0/1 2000", "1/0 late"]
    (refused,) = kafka.reader().run(subscribe=topic, startingTimestamp="2500")
    assert refused.startswith(f"! No offset matched from request of topic-partition {topic}-0")
    options = {"startingTimestamp": "2500", "startingOffsetsByTimestampStrategy": "latest"}
    assert kafka.reader().run(subscribe=topic, **options) == ["1/0 late"]


@fact("kafka.unknown-topic")
def test_a_topic_that_does_not_exist_ends_the_start(kafka: Kafka) -> None:
    """Nothing is written; a pattern waits for topics instead."""
    reader = kafka.reader()
    assert reader.run(subscribe="there-is-no-such-topic") == [NO_TOPIC]
    assert not reader.initial.exists()
    assert kafka.reader().run(subscribePattern="there-is-no-such-.*") == []


@fact("kafka.in-flight")
def test_a_batch_in_flight_is_replayed_with_its_range(kafka: Kafka) -> None:
    """Later records and other limits are no part of it."""
    topic = kafka.topic("a", "b")
    reader = kafka.reader(subscribe=topic)
    forget(reader.checkpoint, "commits", 0)
    kafka.topics.produce(topic, ["c"])
    assert reader.run(subscribe=topic, maxOffsetsPerTrigger="1") == ["0/0 a", "0/1 b", "0/2 c"]
    assert reader.positions(topic) == [{"0": 2}, {"0": 3}]


@fact("kafka.rate")
def test_a_limit_counts_offsets_of_all_partitions(kafka: Kafka) -> None:
    """It may change at each start; more partitions of the query change no offsets."""
    topic = kafka.topic(*at(0, *"abcde"), *at(1, *"vwxyz"), partitions=2)
    reader = kafka.reader(subscribe=topic, maxOffsetsPerTrigger="6")
    assert reader.positions(topic) == [{"0": 3, "1": 3}, {"0": 5, "1": 5}]
    kafka.topics.produce(topic, at(0, "f", "g"))
    assert reader.run(subscribe=topic, minPartitions="8") == ["0/5 f", "0/6 g"]


@fact("kafka.refused-options")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"endingOffsets": "latest"},
        {"kafka__auto__offset__reset": "earliest"},
        {"kafka__enable__auto__commit": "true"},
        {"kafka__key__deserializer": "x"},
        {"kafka__interceptor__classes": "x"},
    ],
)
def test_some_options_are_refused_where_the_stream_is_defined(kafka: Kafka, options: dict[str, Any]) -> None:
    """No topics, an end, and what Spark decides itself; unknown settings of the client are taken."""
    from pyspark.errors import IllegalArgumentException

    topics = {"subscribe": "any"} if options else {}
    with pytest.raises(IllegalArgumentException):
        kafka.reader().run(**topics, **options)
    assert kafka.reader().run(subscribe=kafka.topic("a"), kafka__nonsense="1") == []
