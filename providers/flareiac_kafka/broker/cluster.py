"""Records of a cluster's topics. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass

EARLIEST: Final = -2
LATEST: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    """A topic as its cluster describes it. ``id``: as Java writes it; None where the cluster has none.
    ``replicas``: how many copies each partition has, by partition.
    """

    name: str
    id: str | None
    replicas: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigValue:
    """A setting of a topic. ``is_own``: it is set at the topic, and is no default of the cluster."""

    value: str | None
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange:
    """Settings of a topic to set, and those to give back to the default of the cluster."""

    set: Mapping[str, str]
    reset: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.set and not self.reset


@dataclass(frozen=True, slots=True, kw_only=True)
class Brokers:
    """The brokers of a cluster that are there: how many, and the cluster's id."""

    cluster_id: str | None
    count: int
