"""Brokers are asked once for all jobs of a plan; what they do not answer is unknown, never fine."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.brokers import BrokerRecord, BrokerView, PartitionOffsets, TopicOffsets, TopicSelection
from flareiac.sdk.references import Resolved
from flareiac_spark.job.brokers import Asked, Brokers
from flareiac_spark.sources.findings import BeyondEnd, InputReach, Lag, NearDeletion, TopicGone
from flareiac_spark.sources.reachable import BrokerPosition
from flareiac_spark.sources.source import TopicRead

_HOUR = 3_600_000
_NOW = 1_800_000_000
_DOWN = Code("TST001", "The brokers cannot be reached")


@dataclass
class _Cluster:
    """Topics with one partition each: name -> first, end. Every record is ``age_ms`` old."""

    topics: dict[str, tuple[int, int]]
    age_ms: int = 0
    down: bool = False
    forbidden: tuple[str, ...] = ()
    waits_for: threading.Event | None = None
    asked: list[TopicSelection] = field(default_factory=list)
    fetched: list[Mapping[tuple[str, int], int]] = field(default_factory=list)

    def view(self, connection: Attributes, selection: TopicSelection) -> BrokerView:
        self.asked.append(selection)
        if self.waits_for is not None:
            self.waits_for.wait(60)
        if self.down:
            raise Failure(error(_DOWN, "127.0.0.1:9 refuses connections."))
        if set(self.forbidden) & set(selection.names):
            raise Failure(error(_DOWN, "secret is not allowed."))
        names = [name for name in self.topics if selection.pattern or name in selection.names]
        found = {
            name: TopicOffsets(
                name=name,
                id=f"id of {name}",
                partitions={0: PartitionOffsets(first=self.topics[name][0], end=self.topics[name][1])},
                retention_ms=24 * _HOUR,
            )
            for name in names
        }
        missing = tuple(name for name in selection.names if name not in self.topics)
        return BrokerView(cluster_id="c-1", topics=found, missing=missing)

    def positions_at(
        self, connection: Attributes, partitions: Sequence[tuple[str, int]], time_ms: int
    ) -> Mapping[tuple[str, int], int]:
        old = _NOW * 1000 - self.age_ms < time_ms
        return {place: self.topics[place[0]][1 if old else 0] for place in partitions}

    def records(
        self, connection: Attributes, positions: Mapping[tuple[str, int], int], *, count: int = 1
    ) -> Sequence[BrokerRecord]:
        self.fetched.append(dict(positions))
        return [
            BrokerRecord(
                topic=topic,
                partition=number,
                offset=offset,
                timestamp_ms=_NOW * 1000 - self.age_ms,
                key=None,
                value=b"{}",
            )
            for (topic, number), offset in positions.items()
        ]


def _connection(**attributes: object) -> Resolved:
    return Resolved(
        address="kafka.main", type="kafka", attributes={"bootstrap_servers": "b:9092", **attributes}
    )


def _asked(topic: str, at: int, connection: Resolved | None = None) -> Asked:
    read = TopicRead(connection=connection or _connection(), selection=TopicSelection(names=(topic,)))
    return Asked(read=read, position=BrokerPosition(next={(topic, 0): at}))


@pytest.fixture
def brokers() -> Callable[[_Cluster], Brokers]:
    return lambda cluster: Brokers(lambda _type: cluster, limit=30.0, clock=lambda: _NOW)


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def _reach(brokers: Brokers, *asked: Asked) -> list[InputReach]:
    answers = brokers.ask(asked)
    return [brokers.reach(item, answers) for item in asked]


def test_a_hundred_inputs_are_one_request(brokers: Callable[[_Cluster], Brokers]) -> None:
    cluster = _Cluster({f"t{number}": (0, number) for number in range(100)})
    found = _reach(brokers(cluster), *(_asked(f"t{number}", 0) for number in range(100)))
    assert [item.lag for item in found] == [Lag(offsets={(f"t{number}", 0): number}) for number in range(100)]
    assert len(cluster.asked) == 1
    assert cluster.fetched == []


def test_only_records_that_are_old_are_read(brokers: Callable[[_Cluster], Brokers]) -> None:
    cluster = _Cluster({"orders": (0, 10)}, age_ms=23 * _HOUR)
    behind, further, level = _reach(
        brokers(cluster), _asked("orders", 4), _asked("orders", 6), _asked("orders", 10)
    )
    for item in (behind, further):
        (near,) = [each for each in item.findings if isinstance(each, NearDeletion)]
        assert near.left_ms == _HOUR
    assert not [each for each in level.findings if isinstance(each, NearDeletion)]
    assert cluster.fetched == [{("orders", 0): 4}, {("orders", 0): 6}]


def test_brokers_that_are_down_leave_everything_unknown(brokers: Callable[[_Cluster], Brokers]) -> None:
    (found,) = _reach(brokers(_Cluster({"orders": (0, 10)}, down=True)), _asked("orders", 4))
    assert found.unknown is not None
    assert "127.0.0.1:9 refuses connections" in found.unknown.why
    assert found.topics is None


def test_a_narrower_pattern_loses_only_what_it_matches(brokers: Callable[[_Cluster], Brokers]) -> None:
    position = BrokerPosition(next={(topic, 0): 4 for topic in ("orders", "orders-old", "returns")})
    for pattern, lost in (
        ("orders|returns", ["returns"]),
        ("orders", []),
        ("orders.*|returns", ["orders-old", "returns"]),
        ("(?<_java>orders)", ["orders-old", "returns"]),
    ):
        read = TopicRead(connection=_connection(), selection=TopicSelection(names=(), pattern=pattern))
        (found,) = _reach(brokers(_Cluster({"orders": (0, 10)})), Asked(read=read, position=position))
        assert [item.topic for item in found.findings if isinstance(item, TopicGone)] == lost


def test_a_topic_that_may_not_be_read_does_not_hide_the_others(
    brokers: Callable[[_Cluster], Brokers],
) -> None:
    cluster = _Cluster({"orders": (0, 10)}, forbidden=("secret",))
    refused, allowed = _reach(brokers(cluster), _asked("secret", 0), _asked("orders", 4))
    assert refused.unknown is not None
    assert allowed.lag == Lag(offsets={("orders", 0): 6})


def test_one_silent_cluster_does_not_hide_another(released: threading.Event) -> None:
    silent, alive = _Cluster({"orders": (0, 10)}, waits_for=released), _Cluster({"orders": (0, 10)})
    brokers = Brokers(lambda kind: silent if kind == "silent" else alive, limit=0.5, clock=lambda: _NOW)
    other = Resolved(address="kafka.other", type="silent", attributes={})
    dark, clear = _reach(brokers, _asked("orders", 4, other), _asked("orders", 4))
    assert dark.unknown is not None
    assert "kafka.other did not answer within" in dark.unknown.why
    assert clear.unknown is None


@pytest.mark.parametrize(
    ("connection", "why"),
    [
        (_connection(bootstrap_servers=UNKNOWN), "known after an apply"),
        (Resolved(address="pulsar.p", type="pulsar", attributes={}), "no installed package"),
    ],
)
def test_what_cannot_be_asked_is_unknown(connection: Resolved, why: str) -> None:
    cluster = _Cluster({"orders": (0, 10)})
    brokers = Brokers(lambda kind: cluster if kind == "kafka" else None)
    (found,) = _reach(brokers, _asked("orders", 4, connection))
    assert found.unknown is not None
    assert why in found.unknown.why
    assert cluster.asked == []


def test_a_query_that_moved_on_since_is_not_beyond_the_end(brokers: Callable[[_Cluster], Brokers]) -> None:
    cluster = _Cluster({"orders": (0, 10)})
    session = brokers(cluster)
    answers = session.ask([_asked("orders", 4)])
    cluster.topics["orders"] = (0, 20)
    assert session.reach(_asked("orders", 15), answers).lost == ()
    assert session.reach(_asked("orders", 25), answers).lost == (
        BeyondEnd(topic="orders", partitions={0: (25, 20)}),
    )


def test_the_last_records_of_a_topic_are_read_once(brokers: Callable[[_Cluster], Brokers]) -> None:
    cluster = _Cluster({"orders": (0, 100), "new": (7, 9), "empty": (5, 5)})
    asking, asked = brokers(cluster), [_asked(name, 0) for name in cluster.topics]
    answers = asking.ask(asked)
    cluster.fetched.clear()
    found = asking.last_values([item.read for item in (*asked, *asked)], answers)
    assert cluster.fetched == [{("new", 0): 7, ("orders", 0): 95}]
    assert found == {("kafka.main", "orders"): [b"{}"], ("kafka.main", "new"): [b"{}"]}


def test_brokers_that_did_not_answer_are_not_asked_for_records(
    brokers: Callable[[_Cluster], Brokers],
) -> None:
    cluster = _Cluster({"orders": (0, 10)}, down=True)
    asking = brokers(cluster)
    assert asking.last_values([_asked("orders", 0).read], asking.ask([_asked("orders", 0)])) == {}
    assert cluster.fetched == []
