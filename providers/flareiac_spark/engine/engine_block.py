"""An engine block as it was written, before defaults: the schema has checked its types. Pure."""

from collections.abc import Mapping
from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign
from flareiac.sdk.definitions import Number, Plain, Text
from flareiac_spark.engine.openlineage_settings import OpenLineageBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverBlock(Foreign):
    """Resources of the driver."""

    memory: Text | None = None
    cores: Number | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorBlock(Foreign):
    """Executors on a cluster. None: as Spark or its cluster decides."""

    instances: Number | None = None
    cores: Number | None = None
    memory: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolBlock(Foreign):
    """A scheduler pool."""

    weight: Number | None = None
    min_share: Number | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineBlock(Foreign):
    """The attributes that are read in a way of their own. ``conf`` and ``submit_options`` may hold references
    to secrets.
    """

    type: Text | None = None
    master: Text | None = None
    deploy_mode: Text | None = None
    conf: Plain = None
    packages: tuple[Text, ...] | None = None
    driver: DriverBlock | None = None
    executor: ExecutorBlock | None = None
    pools: Mapping[str, PoolBlock] | None = None
    submit_options: Plain = field(default=None)
    log_format: Text | None = None
    openlineage: OpenLineageBlock | None = None
    runtime_location: Plain = None
    idle_shutdown: Text | None = None
