"""Decides what becomes of an input that stands at offsets of a broker's topics. Pure: positions come from a
checkpoint, and the brokers have been asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.brokers import BrokerView, BrokerWords, PartitionOffsets, TopicOffsets
from flareiac_spark.sources.findings import (
    BeyondEnd,
    Finding,
    InputReach,
    Lag,
    NearDeletion,
    OffsetsGone,
    OtherCluster,
    Partition,
    PartitionsAdded,
    PartitionsGone,
    TopicExtent,
    TopicGone,
    TopicRecreated,
    TopicsAdded,
    Unknown,
)

_DAY_MS: Final = 24 * 3_600_000
_PART_OF_RETENTION: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedTopic:
    """A topic that a query has read. ``id`` and ``cluster`` are the cluster's own; None where it has none."""

    topic: str
    id: str | None
    cluster: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedTopics:
    """The topics that a query has read, with their clusters. Two clusters may have a topic of one name."""

    topics: tuple[NotedTopic, ...] = ()

    def other_clusters(self, topic: str, cluster: str | None) -> str | None:
        """The cluster whose topic of this name was read, where that is certainly not ``cluster``."""
        known = {read_topic.cluster for read_topic in self.topics if read_topic.topic == topic}
        if cluster is None or None in known or cluster in known:
            return None
        return min((known_cluster for known_cluster in known if known_cluster is not None), default=None)

    def ids(self, topic: str, cluster: str | None) -> frozenset[str]:
        """The ids under which a topic of a cluster was read; none where one of them is not known."""
        known = {
            read_topic.id
            for read_topic in self.topics
            if read_topic.topic == topic
            and (read_topic.cluster == cluster or cluster is None or read_topic.cluster is None)
        }
        return (
            frozenset()
            if None in known
            else frozenset(topic_id for topic_id in known if topic_id is not None)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerPosition:
    """The position of a query. ``next``: the next offset to read; ``ahead``: the end of a batch in flight.
    Both empty before its first start.
    """

    next: Mapping[Partition, int] = field(default_factory=dict)
    ahead: Mapping[Partition, int] = field(default_factory=dict)
    noted: NotedTopics = NotedTopics()

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it has read, by name."""
        return tuple(sorted({topic for topic, _partition in (*self.next, *self.ahead)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """The times at which the next records to read were written (ms since 1970, UTC), where they were looked
    at: by partition and offset. ``now_ms``: the time at which the brokers were asked.
    """

    now_ms: int
    written_ms: Mapping[tuple[str, int, int], int] = field(default_factory=dict)


def reach_of(
    position: BrokerPosition,
    view: BrokerView,
    ages: Ages,
    *,
    read: Sequence[str] | None,
    expected: Sequence[str] = (),
    words: BrokerWords,
) -> InputReach:
    """The findings for an input. ``read``: the names of the topics that the input reads, None where all that
    were asked for match its pattern. ``expected``: topics that are yet to be created, which may be missing.
    ``words``: those of the brokers.
    """
    names = [name for name in view.topics if read is None or name in read]
    topics = {name: _extent(view.topics[name]) for name in names}
    begun = [topic for topic in position.topics if read is None or topic in read]
    others = (position.noted.other_clusters(topic, view.cluster_id) for topic in begun)
    if (noted := next((other for other in others if other is not None), None)) is not None:
        other = OtherCluster(noted=noted, current=view.cluster_id or "")
        return InputReach(findings=(other,), topics=topics, words=words)
    missing = [name for name in read or () if name not in view.topics and name not in begun]
    findings = [
        *_lost_topics(position, view, begun),
        *(TopicGone(topic=name, read=False) for name in missing if name not in expected),
        *(finding for topic in begun for finding in _of_topic(position, view, topic)),
        *_new_topics(position, names),
        *_lag(position, view, begun),
        *(finding for topic in begun for finding in _near_deletion(position, view, ages, topic)),
    ]
    return InputReach(findings=tuple(findings), topics=topics, words=words)


def near(topic: TopicOffsets) -> int | None:
    """The time before its deletion, in ms, within which a record counts as near to it; None where retention
    removes nothing by its age, or that is not known.
    """
    if topic.retention_ms is None or topic.retention_ms < 0:
        return None
    return min(_DAY_MS, topic.retention_ms // _PART_OF_RETENTION)


def unread(position: BrokerPosition, view: BrokerView) -> dict[Partition, int]:
    """The next offset to read of each partition that has something to read."""
    offsets: dict[Partition, int] = {}
    for (topic, number), offset in position.next.items():
        there = _partition(view, topic, number)
        if there is not None and there.first <= offset < there.end:
            offsets[topic, number] = offset
    return offsets


def _partition(view: BrokerView, topic: str, number: int) -> PartitionOffsets | None:
    topic_view = view.topics.get(topic)
    return topic_view.partitions.get(number) if topic_view is not None else None


def _extent(topic: TopicOffsets) -> TopicExtent:
    return TopicExtent(
        held=sum(partition.end - partition.first for partition in topic.partitions.values()),
        deleted=sum(partition.first for partition in topic.partitions.values()),
        retention_ms=topic.retention_ms,
        retention_bytes=topic.retention_bytes,
    )


def _lost_topics(position: BrokerPosition, view: BrokerView, begun: Sequence[str]) -> Iterator[Finding]:
    for topic in begun:
        there, noted = view.topics.get(topic), position.noted.ids(topic, view.cluster_id)
        if there is None:
            yield TopicGone(topic=topic, read=True)
        elif noted and there.id is None:
            yield Unknown(why=f"the brokers do not say which topic {topic} is")
        elif noted and there.id is not None and there.id not in noted:
            yield TopicRecreated(topic=topic, noted=min(noted), current=there.id)


def _is_same(position: BrokerPosition, view: BrokerView, there: TopicOffsets) -> bool:
    noted = position.noted.ids(there.name, view.cluster_id)
    return not noted or there.id is None or there.id in noted


def _of_topic(position: BrokerPosition, view: BrokerView, topic: str) -> Iterator[Finding]:
    """The findings about the offsets of one topic; none for another topic of its name, whose offsets mean
    nothing here.
    """
    there = view.topics.get(topic)
    if there is None or not _is_same(position, view, there):
        return
    next_, ahead = _of(position.next, topic), _of(position.ahead, topic)
    if absent := sorted({*next_, *ahead} - {*there.partitions}):
        yield PartitionsGone(topic=topic, partitions=tuple(absent))
    known = {number: there.partitions[number] for number in sorted({*next_, *ahead} & {*there.partitions})}
    gone = {
        number: (next_[number], offsets.first)
        for number, offsets in known.items()
        if number in next_ and 0 <= next_[number] < offsets.first
    }
    beyond = {
        number: (offset, offsets.end)
        for number, offsets in known.items()
        if (offset := max(next_.get(number, 0), ahead.get(number, 0))) > offsets.end
    }
    if gone:
        yield OffsetsGone(topic=topic, partitions=gone)
    if beyond:
        yield BeyondEnd(topic=topic, partitions=beyond)
    if added := sorted({*there.partitions} - {*next_, *ahead}):
        yield PartitionsAdded(topic=topic, partitions=tuple(added))


def _of(offsets: Mapping[Partition, int], topic: str) -> dict[int, int]:
    return {number: offset for (name, number), offset in offsets.items() if name == topic}


def _new_topics(position: BrokerPosition, names: Sequence[str]) -> Iterator[Finding]:
    new = tuple(sorted(set(names) - set(position.topics)))
    if position.topics and new:
        yield TopicsAdded(topics=new)


def _lag(position: BrokerPosition, view: BrokerView, begun: Sequence[str]) -> Iterator[Finding]:
    """The lag of the topics that are the ones that were read. A partition of which nothing was read lags with
    all that it holds.
    """
    offsets: dict[Partition, int] = {}
    for topic in begun:
        there = view.topics.get(topic)
        if there is not None and _is_same(position, view, there):
            for number, partition in sorted(there.partitions.items()):
                at = position.next.get((topic, number), partition.first)
                offsets[topic, number] = max(0, partition.end - max(at, partition.first))
    if offsets:
        yield Lag(offsets=offsets)


def _near_deletion(
    position: BrokerPosition, view: BrokerView, ages: Ages, topic: str
) -> Iterator[NearDeletion]:
    """The partition of a topic whose next record is deleted first, where that is soon."""
    there = view.topics.get(topic)
    if there is None or (within := near(there)) is None or not _is_same(position, view, there):
        return
    times = {
        number: ages.written_ms[topic, number, offset]
        for (_topic, number), offset in unread(position, view).items()
        if _topic == topic and (topic, number, offset) in ages.written_ms
    }
    if not times:
        return
    number = min(times, key=lambda partition: (times[partition], partition))
    at_ms = times[number] + (there.retention_ms or 0)
    if at_ms - ages.now_ms <= within:
        yield NearDeletion(topic=topic, partition=number, at_ms=at_ms, left_ms=max(0, at_ms - ages.now_ms))
