"""The fate of an input that stands at offsets of topics, whatever the brokers answered."""

from hypothesis import given
from hypothesis import strategies as st

from flareiac.sdk.brokers import BrokerView, BrokerWords, PartitionOffsets, TopicOffsets
from flareiac_spark.sources.findings import (
    BeyondEnd,
    InputReach,
    Lag,
    NearDeletion,
    OffsetsGone,
    OtherCluster,
    PartitionsAdded,
    PartitionsGone,
    TopicGone,
    TopicRecreated,
    TopicsAdded,
    Unknown,
)
from flareiac_spark.sources.findings_text import complaint, news, span_text
from flareiac_spark.sources.reachable import Ages, BrokerPosition, NotedTopic, NotedTopics, near, reach_of

WORDS = BrokerWords()
_HOUR = 3_600_000
_NOW = 1_800_000_000_000
_offset = st.integers(min_value=0, max_value=1000)


def _topic(
    *ranges: tuple[int, int],
    name: str = "orders",
    topic_id: str | None = "t-1",
    retention_ms: int | None = None,
) -> TopicOffsets:
    partitions = {at: PartitionOffsets(first=first, end=end) for at, (first, end) in enumerate(ranges)}
    return TopicOffsets(name=name, id=topic_id, partitions=partitions, retention_ms=retention_ms)


def _view(*topics: TopicOffsets, cluster: str | None = "c-1", missing: tuple[str, ...] = ()) -> BrokerView:
    return BrokerView(cluster_id=cluster, topics={item.name: item for item in topics}, missing=missing)


def _at(*offsets: int, ahead: tuple[int, ...] = (), noted: NotedTopics | None = None) -> BrokerPosition:
    return BrokerPosition(
        next={("orders", at): offset for at, offset in enumerate(offsets)},
        ahead={("orders", at): offset for at, offset in enumerate(ahead)},
        noted=noted or _noted("t-1"),
    )


def _noted(topic_id: str | None) -> NotedTopics:
    return NotedTopics(topics=(NotedTopic(topic="orders", id=topic_id, cluster="c-1"),))


def _reach(
    position: BrokerPosition,
    view: BrokerView,
    ages: Ages | None = None,
    read: tuple[str, ...] | None = ("orders",),
) -> InputReach:
    return reach_of(position, view, ages or Ages(now_ms=_NOW), read=read, words=WORDS)


def test_what_is_there_is_a_lag_alone() -> None:
    assert _reach(_at(3, 10), _view(_topic((0, 10), (5, 10)))).findings == (
        Lag(offsets={("orders", 0): 7, ("orders", 1): 0}),
    )


def test_records_that_were_deleted_before_they_were_read() -> None:
    found = _reach(_at(3, 5), _view(_topic((4, 10), (5, 10))))
    assert found.lost == (OffsetsGone(topic="orders", partitions={0: (3, 4)}),)


def test_a_batch_in_flight_needs_its_end_too() -> None:
    found = _reach(_at(3, ahead=(12,)), _view(_topic((0, 10))))
    assert found.lost == (BeyondEnd(topic="orders", partitions={0: (12, 10)}),)


def test_another_topic_of_the_same_name_is_recognized_by_its_id_alone() -> None:
    found = _reach(_at(3), _view(_topic((0, 10), topic_id="t-2")))
    assert found.findings == (TopicRecreated(topic="orders", noted="t-1", current="t-2"),)


def test_brokers_that_do_not_tell_the_id_leave_it_unknown() -> None:
    assert _reach(_at(3), _view(_topic((0, 10), topic_id=None))).unknown is not None


def test_another_cluster_makes_every_offset_meaningless() -> None:
    found = _reach(_at(3), _view(_topic((0, 10)), cluster="c-2"))
    assert found.findings == (OtherCluster(noted="c-1", current="c-2"),)


def test_a_topic_that_was_read_on_two_clusters_is_known_on_both() -> None:
    both = NotedTopics(
        topics=(
            NotedTopic(topic="orders", id="t-1", cluster="c-1"),
            NotedTopic(topic="orders", id="t-9", cluster="c-9"),
        )
    )
    there = _view(_topic((0, 10), topic_id="t-9"), cluster="c-9")
    assert not _reach(_at(3, noted=both), there).lost
    other = _view(_topic((0, 10), topic_id="t-1"), cluster="c-9")
    assert _reach(_at(3, noted=both), other).lost == (
        TopicRecreated(topic="orders", noted="t-9", current="t-1"),
    )


def test_a_topic_that_is_gone_and_one_that_never_was() -> None:
    assert _reach(_at(3), _view(missing=("orders",))).findings == (TopicGone(topic="orders", read=True),)
    first = _reach(BrokerPosition(), _view(missing=("orders",)))
    assert first.findings == (TopicGone(topic="orders", read=False),)


def test_a_topic_that_the_same_plan_creates_may_be_missing() -> None:
    found = reach_of(
        BrokerPosition(),
        _view(missing=("orders",)),
        Ages(now_ms=_NOW),
        read=("orders",),
        expected=("orders",),
        words=WORDS,
    )
    assert found.findings == ()


def test_partitions_and_topics_that_are_new() -> None:
    view = _view(_topic((0, 10), (0, 4)), _topic((0, 2), name="returns"))
    found = _reach(_at(10), view, read=None)
    assert PartitionsAdded(topic="orders", partitions=(1,)) in found.findings
    assert TopicsAdded(topics=("returns",)) in found.findings
    assert found.lag == Lag(offsets={("orders", 0): 0, ("orders", 1): 4})
    assert news(found) == [
        "new in topic orders: partition 1, read from the beginning",
        "new topic returns, read from the beginning",
    ]


def test_fewer_partitions_than_were_read_are_another_topic() -> None:
    found = _reach(_at(3, 3, noted=NotedTopics()), _view(_topic((0, 10))))
    assert found.lost == (PartitionsGone(topic="orders", partitions=(1,)),)


def test_a_topic_that_is_no_longer_read_is_not_looked_at() -> None:
    assert _reach(_at(3), _view(_topic((0, 5), name="returns")), read=("returns",)).lost == ()


def test_the_next_record_is_near_its_deletion() -> None:
    view = _view(_topic((0, 10), (0, 10), retention_ms=24 * _HOUR))
    ages = Ages(
        now_ms=_NOW, written_ms={("orders", 0, 3): _NOW - 20 * _HOUR, ("orders", 1, 3): _NOW - 21 * _HOUR}
    )
    (found,) = [item for item in _reach(_at(3, 3), view, ages).findings if isinstance(item, NearDeletion)]
    assert (found.partition, found.left_ms) == (1, 3 * _HOUR)
    assert complaint(found, WORDS) == (
        "the next record to read of topic orders, partition 1, is deleted by the topic's retention from "
        "about 2027-01-15T11:00:00Z on, in 3 h"
    )


def test_a_record_past_its_retention_can_go_at_any_moment() -> None:
    ages = Ages(now_ms=_NOW, written_ms={("orders", 0, 3): _NOW - 30 * _HOUR})
    found = _reach(_at(3), _view(_topic((0, 10), retention_ms=24 * _HOUR)), ages)
    (text,) = [text for item in found.findings if (text := complaint(item, WORDS))]
    assert text == (
        "the next record to read of topic orders, partition 0, is older than the topic's retention: the "
        "brokers can delete it at any moment"
    )


def test_retention_without_a_limit_deletes_nothing() -> None:
    assert near(_topic((0, 1), retention_ms=-1)) is None
    assert near(_topic((0, 1), retention_ms=None)) is None
    assert near(_topic((0, 1), retention_ms=_HOUR)) == _HOUR // 4


def test_spans() -> None:
    assert [span_text(ms) for ms in (500, 1500, 119_000, 3 * _HOUR, 47 * _HOUR, 48 * _HOUR)] == [
        "less than 1 s",
        "1 s",
        "119 s",
        "3 h",
        "47 h",
        "2 d",
    ]


@given(first=_offset, size=_offset, at=_offset, ahead=st.none() | _offset)
def test_a_position_is_readable_exactly_within_its_partition(
    first: int, size: int, at: int, ahead: int | None
) -> None:
    position = _at(at, ahead=() if ahead is None else (ahead,))
    found = _reach(position, _view(_topic((first, first + size))))
    inside = first <= at <= first + size and (ahead is None or ahead <= first + size)
    assert (not found.lost) == inside
    assert found.lag is not None
    assert 0 <= found.lag.total <= size


@given(ids=st.tuples(st.sampled_from(["t-1", "t-2"]), st.sampled_from(["t-1", "t-2", None])), at=_offset)
def test_no_answer_about_another_topic_is_comfortable(ids: tuple[str, str | None], at: int) -> None:
    noted, there = ids
    position = _at(at, noted=_noted(noted))
    found = _reach(position, _view(_topic((0, 1000), topic_id=there)))
    assert bool(found.lost or found.unknown) == (noted != there)


@given(
    positions=st.lists(_offset, max_size=4),
    ranges=st.lists(st.tuples(_offset, _offset), max_size=4),
    cluster=st.sampled_from(["c-1", "c-2", None]),
)
def test_every_finding_has_words(
    positions: list[int], ranges: list[tuple[int, int]], cluster: str | None
) -> None:
    topics = [_topic(*((first, first + size) for first, size in ranges))] if ranges else []
    found = _reach(_at(*positions), _view(*topics, cluster=cluster, missing=() if topics else ("orders",)))
    for item in found.findings:
        text = complaint(item, WORDS)
        assert text is None or text.strip() == text
        assert not isinstance(item, Unknown) or (text or "").startswith("unknown ")
