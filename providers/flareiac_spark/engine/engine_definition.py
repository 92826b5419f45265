"""The meaning of an engine block, as a record: the canonical attributes of an engine and nothing else.
Pure.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Self

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE
from flareiac.sdk.definitions import Number, Text, definition_of
from flareiac.sdk.project import Project
from flareiac_spark.places import absolute_place
from flareiac_spark_runtime.storage import is_object_uri

LOCAL: Final = "local"
SPARK_SUBMIT: Final = "spark_submit"
EXTERNAL: Final = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSize:
    """The driver process: ``memory`` as Spark reads it (``2g``), ``cores`` in whole cores."""

    memory: Text
    cores: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDefinition:
    """A scheduler pool: its share of the cores beside others, and the cores that it is served first."""

    weight: Number
    min_share: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDefinition:
    """``type`` is ``local``, ``spark_submit`` or ``external``; ``deploy_mode`` empty for a driver on this
    host. ``conf`` are Spark settings by name, those of executors and of spark-submit's options among them;
    ``packages`` Maven coordinates, sorted. ``runtime_location`` is the folder where the application and the
    command line meet, relative to the root where it lies below it. ``idle_shutdown_ms`` and
    ``graceful_stop_ms`` are milliseconds; without idle_shutdown_ms the application never ends by itself.
    ``proxy_user``: as whom spark-submit runs it, empty for who calls it. ``log_format``: empty for text.
    ``listen`` and ``liveness_file``: where it can be probed, empty for nowhere. ``pools``: by name.
    """

    type: Text
    master: Text
    conf: Mapping[str, Text]
    packages: tuple[Text, ...]
    driver: DriverSize
    log_level: Text
    runtime_location: Text
    idle_shutdown_ms: Number | None
    graceful_stop_ms: Number
    deploy_mode: Text = field(default="", metadata=SPARSE)
    proxy_user: Text = field(default="", metadata=SPARSE)
    log_format: Text = field(default="", metadata=SPARSE)
    listen: Text = field(default="", metadata=SPARSE)
    liveness_file: Text = field(default="", metadata=SPARSE)
    pools: Mapping[str, PoolDefinition] = field(default_factory=dict, metadata=SPARSE)

    @classmethod
    def of(cls, attributes: Attributes) -> Self:
        """The definition that attributes say. Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)


def control_place(engine: EngineDefinition, project: Project) -> str:
    """The place where the application of an engine and the command line meet: an absolute path, or the URI of
    a place in object storage.
    """
    location = engine.runtime_location
    return location if is_object_uri(location) else str(absolute_place(location, project))
