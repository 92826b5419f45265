"""The reader by which planners of other providers ask clusters (see ``flareiac.sdk.brokers``). Touches the
world.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk import name_patterns
from flareiac.sdk.brokers import (
    BrokerReader,
    BrokerRecord,
    BrokerView,
    PartitionOffsets,
    TopicOffsets,
    TopicSelection,
)
from flareiac.sdk.optional_packages import needed_by
from flareiac_kafka import codes
from flareiac_kafka.broker.cluster import EARLIEST, LATEST, ConfigValue
from flareiac_kafka.connection.spec import ConnectionDefinition

if TYPE_CHECKING:
    from flareiac_kafka.broker.client import Cluster

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""A pattern never means these."""
_NO_LIMIT: Final = -1
_OF_CLUSTER: Final = (codes.CLUSTER_UNREACHABLE.id, codes.AUTHENTICATION_FAILED.id, codes.TLS_FAILED.id)
"""The faults of a whole cluster, whatever it is asked."""
_SILENT: Final[dict[str, tuple[float, tuple[Diagnostic, ...]]]] = {}
"""Until when a cluster is not asked again, by the digest of its connection, and what was wrong."""


class KafkaReader:
    """Asks clusters; each call opens its own client, and takes no longer than the connection's timeout."""

    def view(self, connection: Attributes, selection: TopicSelection) -> BrokerView:
        """Topics with the offsets that can be read now. Raises ``Failure``."""
        with asking(connection):
            return self._view(connection, selection)

    def _view(self, connection: Attributes, selection: TopicSelection) -> BrokerView:
        cluster = opened(connection)
        matching = () if selection.pattern is None else _matching(cluster.names(), selection.pattern)
        names = tuple(dict.fromkeys((*selection.names, *matching)))
        cluster_id, topics = cluster.topics(names)
        places = [(name, partition) for name, topic in topics.items() for partition in topic.replicas]
        firsts, ends = (cluster.offsets(dict.fromkeys(places, what)) for what in (EARLIEST, LATEST))
        configs = cluster.configs(tuple(topics))
        return BrokerView(
            cluster_id=cluster_id,
            topics={
                name: TopicOffsets(
                    name=name,
                    id=topic.id,
                    partitions={
                        partition: PartitionOffsets(first=firsts[name, partition], end=ends[name, partition])
                        for partition in sorted(topic.replicas)
                    },
                    retention_ms=_limit(configs.get(name, {}), "retention.ms"),
                    retention_bytes=_limit(configs.get(name, {}), "retention.bytes"),
                    is_compacted="compact" in _policies(configs.get(name, {})),
                    largest_batch=_number(configs.get(name, {}), "max.message.bytes"),
                )
                for name, topic in topics.items()
            },
            missing=tuple(name for name in selection.names if name not in topics),
        )

    def records(
        self, connection: Attributes, positions: Mapping[tuple[str, int], int], *, count: int = 1
    ) -> Sequence[BrokerRecord]:
        """Up to ``count`` records of each partition from a position on. Raises ``Failure``."""
        return opened(connection).records(positions, count) if positions else ()

    def positions_at(
        self, connection: Attributes, partitions: Sequence[tuple[str, int]], time_ms: int
    ) -> Mapping[tuple[str, int], int]:
        """The offset of the first record that is not earlier than a time; the end where there is none. Raises
        ``Failure``.
        """
        cluster = opened(connection)
        ends = cluster.offsets(dict.fromkeys(partitions, LATEST))
        offsets = cluster.offsets(dict.fromkeys(partitions, max(0, time_ms)))
        return {place: at if at >= 0 else ends[place] for place, at in offsets.items()}


@contextmanager
def asking(connection: Attributes) -> Iterator[None]:
    """A context in which a cluster is asked, and its failures are kept. A cluster that has just let no one in
    is not waited for again until its timeout is over: one plan asks for topics, for offsets and for records.
    Raises ``Failure``.
    """
    key = digest(connection)
    until, diagnostics = _SILENT.get(key, (0.0, ()))
    if time.monotonic() < until:
        raise Failure(*diagnostics)
    try:
        yield
    except Failure as failure:
        if failure.diagnostics[0].code in _OF_CLUSTER:
            seconds = ConnectionDefinition.of(connection).timeout_ms / 1000
            _SILENT[key] = time.monotonic() + seconds, failure.diagnostics
        raise


def opened(connection: Attributes, address: str = "", cancel: threading.Event | None = None) -> "Cluster":
    """The cluster of a connection, by its canonical attributes. ``address`` says in messages which one it is.
    Raises ``Failure``.
    """
    definition = ConnectionDefinition.of(connection)
    servers = f"Kafka at {definition.bootstrap_servers}"
    # Imported here: librdkafka is loaded once a cluster is asked
    with needed_by(f"{address} ({servers})" if address else servers):
        from flareiac_kafka.broker.client import Cluster
    return Cluster(definition, address or servers, cancel)


def _matching(names: Iterable[str], pattern: str) -> tuple[str, ...]:
    if (problem := name_patterns.fault(pattern)) is not None:
        why = f"{pattern!r}: {problem}. Write a regular expression that matches whole names of topics."
        raise Failure(error(codes.INVALID_TOPIC_PATTERN, why))
    if not name_patterns.is_common(pattern):
        why = (
            f"Which topics match {pattern!r}, only Java tells: Python may read the pattern otherwise. Write "
            "it with letters, digits, dots, classes such as [a-z0-9], groups, | and repetitions * + ? {2,3}."
        )
        raise Failure(error(codes.TOPIC_PATTERN_OF_JAVA, why))
    return tuple(
        name for name in names if name_patterns.matches(pattern, name) and name not in INTERNAL_TOPICS
    )


def _limit(config: Mapping[str, ConfigValue], name: str) -> int | None:
    limit = _number(config, name)
    return limit if limit is None or "delete" in _policies(config) else _NO_LIMIT


def _number(config: Mapping[str, ConfigValue], name: str) -> int | None:
    setting = config.get(name)
    return None if setting is None or setting.value is None else int(setting.value)


def _policies(config: Mapping[str, ConfigValue]) -> Sequence[str]:
    setting = config.get("cleanup.policy")
    return (
        []
        if setting is None or setting.value is None
        else [policy.strip() for policy in setting.value.split(",")]
    )


READER: Final[BrokerReader] = KafkaReader()
