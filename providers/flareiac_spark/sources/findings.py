"""The findings about the records that an input has yet to read, in the system that holds them: a closed
union. Pure.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.brokers import BrokerWords

Partition: TypeAlias = tuple[str, int]
"""A topic's name and the number of one of its partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """The number of offsets between what committed batches have read and the end. Compaction and transactions
    leave some of them without a record.
    """

    offsets: Mapping[Partition, int]

    @property
    def total(self) -> int:
        """The sum over all partitions."""
        return sum(self.offsets.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsGone:
    """Records of a topic that have to be read next are deleted. ``partitions``: number to the next offset to
    read, and to the first one that is left.
    """

    topic: str
    partitions: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeyondEnd:
    """A topic ends before what was read of it: it is another one of the same name, or it lost records.
    ``partitions``: number to the offset reached, and to the end.
    """

    topic: str
    partitions: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsGone:
    """Partitions that were read are not there: the topic is another one of the same name."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsAdded:
    """Partitions of which nothing was read yet: they are read from their beginning."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsAdded:
    """Topics of which nothing was read yet: they are read from their beginning."""

    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRecreated:
    """Another topic has the name of the one that was read. Ids are the broker's."""

    topic: str
    noted: str
    current: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicGone:
    """There is no such topic. ``read``: whether a query has read one of this name."""

    topic: str
    read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCluster:
    """The brokers belong to another cluster than the one whose offsets the checkpoint holds."""

    noted: str
    current: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDeletion:
    """Retention soon removes the next record to read. ``at_ms`` (UTC, since 1970): not before then, since
    whole segments are removed. ``left_ms``: until then, at most 0 where it is due.
    """

    topic: str
    partition: int
    at_ms: int
    left_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The system did not tell, so that nothing of the input's position is known."""

    why: str


Finding: TypeAlias = (
    Lag
    | OffsetsGone
    | BeyondEnd
    | PartitionsGone
    | PartitionsAdded
    | TopicsAdded
    | TopicRecreated
    | TopicGone
    | OtherCluster
    | NearDeletion
    | Unknown
)

Lost: TypeAlias = OffsetsGone | BeyondEnd | PartitionsGone | TopicRecreated | TopicGone | OtherCluster
"""The findings with which a query cannot go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicExtent:
    """The extent of a topic: the number of offsets that can be read, and of those whose records are deleted.
    Retention as in ``flareiac.sdk.brokers``.
    """

    held: int
    deleted: int
    retention_ms: int | None = None
    retention_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputReach:
    """The findings for one input. ``topics``: those that it reads now; None where that is not known.
    ``words``: those of the brokers that were asked.
    """

    findings: tuple[Finding, ...] = ()
    topics: Mapping[str, TopicExtent] | None = field(default=None)
    words: BrokerWords = BrokerWords()

    @property
    def unknown(self) -> Unknown | None:
        """The reason that nothing is known, None where something is."""
        return next((finding for finding in self.findings if isinstance(finding, Unknown)), None)

    @property
    def lost(self) -> tuple[Lost, ...]:
        """The reasons that a query cannot go on."""
        return tuple(finding for finding in self.findings if isinstance(finding, Lost))

    @property
    def lag(self) -> Lag | None:
        """The lag of a query; None where that is not known, or nothing was read yet."""
        return next((finding for finding in self.findings if isinstance(finding, Lag)), None)
