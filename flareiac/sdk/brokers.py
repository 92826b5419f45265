"""Questions of a provider to a message broker that another provider connects to: which topics exist, and
which of their records can still be read. Records, and the plug-ins that answer.

Any broker fits that keeps records in named topics, each of one or more numbered partitions, and gives each
record of a partition a greater whole number than the one before, its offset. Records are deleted from the
front. What such a broker calls these things, ``BrokerWords`` says.

A provider declares a reader for each type of connection as an entry point of the group ``flareiac.brokers``:
``TYPE = "module:READER"``. A planner of another provider's resources gets what was read as facts; a broker
that does not answer leaves topics and offsets unknown, never missing.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Protocol

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.plug_ins import plug_in

GROUP: Final = "flareiac.brokers"
"""The entry points of readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerWords:
    """The words of a kind of broker, in texts for users: nouns in the singular, whose plurals end with s.
    ``system`` is the name of the kind, where it has one.
    """

    system: str = ""
    topic: str = "topic"
    partition: str = "partition"
    cluster: str = "cluster"
    """The brokers that have one set of topics together."""
    keeping: str = "retention time"
    """The time for which a topic keeps a record, with the name of the setting of it in brackets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSelection:
    """Topics by name, or by a regular expression that matches whole names (in Java's syntax, as Spark reads
    it).
    """

    names: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOffsets:
    """The records of one partition that can be read: offsets from ``first`` up to ``end``, without ``end``.
    There may be offsets in between without a record.
    """

    first: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicOffsets:
    """One topic. ``id`` is the broker's own, which a topic that is created again under the same name does not
    share; None where the broker has none. ``partitions``: all of them; where one cannot be asked, ``view``
    has failed. ``retention_ms`` and ``retention_bytes`` (of one partition): None where that is not known, -1
    where no record is deleted for its age, or for the size of the others.
    """

    name: str
    id: str | None
    partitions: Mapping[int, PartitionOffsets]
    retention_ms: int | None = None
    retention_bytes: int | None = None
    is_compacted: bool = False
    """True if a record may be deleted because a later one has its key."""
    largest_batch: int | None = None
    """Bytes of records that it takes at once; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerView:
    """The answer of a cluster. ``missing``: requested names that are not topics."""

    cluster_id: str | None
    topics: Mapping[str, TopicOffsets]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRecord:
    """One record. ``timestamp_ms`` since 1970, UTC; None where it has none."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None


class BrokerReader(Protocol):
    """Asks brokers of one type of connection, which is given by its canonical attributes; resolves its
    secrets by itself. Safe to use from several threads. Each method raises ``Failure``: unreachable, refused,
    or a setting that it cannot use.
    """

    def view(self, connection: Attributes, selection: TopicSelection) -> BrokerView:
        """Topics with the offsets that can be read now."""
        ...

    def records(
        self, connection: Attributes, positions: Mapping[tuple[str, int], int], *, count: int = 1
    ) -> Sequence[BrokerRecord]:
        """For each topic and partition up to ``count`` records from a position on, in the order of their
        offsets; none where there is nothing to read.
        """
        ...

    def positions_at(
        self, connection: Attributes, partitions: Sequence[tuple[str, int]], time_ms: int
    ) -> Mapping[tuple[str, int], int]:
        """The offset of the first record that is not earlier than a time (ms since 1970, UTC); the end where
        there is none.
        """
        ...


@cache
def reader_of(connection_type: str) -> BrokerReader | None:
    """The reader for a type of connection, None where no installed package brings one. Raises ``Failure``
    where two do.
    """
    reader: BrokerReader | None = plug_in(GROUP, connection_type)
    return reader
