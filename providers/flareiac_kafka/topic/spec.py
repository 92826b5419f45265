"""A topic as typed records: as it is declared or recorded, and as it was observed. Pure."""

from collections.abc import Mapping
from dataclasses import field

from flareiac.kernel.addresses import instance_label
from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode
from flareiac.sdk.definitions import Number, Ref, definition_of
from flareiac.sdk.results import Recorded
from flareiac_kafka.broker.cluster import ConfigChange


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDefinition:
    """A ``topic`` block. What is None is not managed, as is a setting that is null."""

    kafka: Ref
    name: str
    partitions: Number | None = None
    replication_factor: Number | None = None
    config: Mapping[str, str | None] | None = None
    on_destroy: str = "retain"

    @classmethod
    def of(cls, attributes: Attributes) -> "TopicDefinition":
        """Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)

    @property
    def import_id(self) -> str:
        """``KAFKA/TOPIC``: the connection by its block's label."""
        return f"{instance_label(self.kafka.address)}/{self.name}"

    @property
    def settings(self) -> Mapping[str, str]:
        """The managed settings."""
        return {name: value for name, value in (self.config or {}).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicIdentity:
    """``id`` is the cluster's own for this topic, None where the cluster is too old to have one;
    ``cluster_id`` that of the cluster.
    """

    id: str | None = None
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFacts:
    """``effective``: every setting as it works, defaults of the cluster included. ``manager``: the beginning
    of the lineage of the state that manages it, empty where it carries no mark (see ``managed_by``).
    """

    effective: Mapping[str, str] = field(default_factory=dict)
    manager: str = ""
    can_be_marked: bool = False
    groups: tuple[str, ...] | None = ()
    """The consumer groups that are at work on a topic whose block is gone, as far as they may be seen; None
    where the cluster did not list them.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Facts of a topic that is not there: the cluster that was asked."""

    cluster_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """The changes of a plan to a topic. ``partitions``: the new number, None where it stays. ``id``: of the
    topic that is changed, None of one that is made. ``takes_over``: the beginning of the lineage of the state
    that manages it until then.
    """

    config: ConfigChange
    partitions: int | None = None
    id: str | None = None
    takes_over: str = ""


def identity_of(data: Attributes) -> TopicIdentity:
    """A topic's identity as it was recorded or observed."""
    return decode(TopicIdentity, data, "identity")


def examine(recorded: Recorded) -> None:
    """Reads all that is recorded of a topic. Raises what reading a wrong shape raises."""
    TopicDefinition.of(recorded.attributes)
    identity_of(recorded.identity)
