"""The meaning of an engine block, as a record: the canonical attributes of an engine and nothing else.
Pure.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Self

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE
from flareiac.kernel.types import NUMBER, STRING, ListType, MapType, ObjectType
from flareiac.sdk.declared import DURATION, declared
from flareiac.sdk.definitions import Number, Text, definition_of
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.project import Project
from flareiac.sdk.schema import Attribute
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import is_duration, one_of, whole_sizes
from flareiac_spark.engine import openlineage_settings
from flareiac_spark.engine.monitoring_settings import is_absolute_path, is_listen_address
from flareiac_spark.engine.openlineage_settings import OpenLineageDefinition
from flareiac_spark.places import absolute_place
from flareiac_spark_runtime.storage import is_object_uri

ARE_SIZES: Final = whole_sizes(instances=None, cores=None, memory="g")
WITH_ALL_JOBS: Final = "with all jobs of the engine"
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
    ``openlineage``: where its events go, None for nowhere.
    """

    type: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="Who runs the driver: local and spark_submit start it here, the second for a "
                "cluster; external leaves it to you (flareiac driver).",
                default="local",
                on_change=OnChange(ChangeClass.RESTART, note=WITH_ALL_JOBS),
            )
        )
    )
    master: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="The master URL of Spark: local[N] for N cores, local[*] for all of them; "
                "spark://HOST:PORT, yarn or k8s://URL for a cluster.",
                default="local[*]",
                on_change=OnChange(ChangeClass.RESTART, note=WITH_ALL_JOBS),
            )
        )
    )
    conf: Mapping[str, Text] = field(
        metadata=declared(
            Attribute(
                type=SETTINGS,
                description="Spark settings of the application. Without spark.sql.shuffle.partitions a local "
                "application uses as many shuffle partitions as it has cores.",
                on_change=OnChange(
                    ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE, note=WITH_ALL_JOBS
                ),
            )
        )
    )
    packages: tuple[Text, ...] = field(
        metadata=declared(
            Attribute(
                type=ListType(STRING),
                description=(
                    "Additional Maven coordinates. The packages that declared catalogs need are added "
                    "automatically."
                ),
                on_change=OnChange(
                    ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE, note=WITH_ALL_JOBS
                ),
            )
        )
    )
    driver: DriverSize = field(
        metadata=declared(
            Attribute(
                type=ObjectType({"memory": STRING, "cores": NUMBER}, frozenset({"memory", "cores"})),
                description='Resources of the driver process: { memory = "2g", cores = 1 }.',
                validators=(ARE_SIZES,),
                on_change=OnChange(ChangeClass.RESTART, note=WITH_ALL_JOBS),
            )
        )
    )
    log_level: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "Log level of the application: ALL, TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF."
                ),
                default="WARN",
                validators=(one_of("ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"),),
                on_change=OnChange(ChangeClass.LIVE),
            )
        )
    )
    runtime_location: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "The control directory, through which command line and application communicate: a "
                    "path, or s3://BUCKET/PREFIX."
                ),
                default=".flareiac/runtime/WORKSPACE/ENGINE",
                on_change=OnChange(ChangeClass.RESTART, note=WITH_ALL_JOBS),
            )
        )
    )
    idle_shutdown_ms: Number | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "Time after which an application without a running job ends; external ones do not end "
                    "by default."
                ),
                default="2m",
                validators=(is_duration,),
                on_change=OnChange(ChangeClass.LIVE),
                unit=DURATION,
            )
        )
    )
    graceful_stop_ms: Number = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="Time that a stopping query has to finish its batch.",
                default="2m",
                validators=(is_duration,),
                on_change=OnChange(ChangeClass.LIVE),
                unit=DURATION,
            )
        )
    )
    deploy_mode: Text = field(
        default="",
        metadata=SPARSE
        | declared(
            Attribute(
                type=STRING,
                description=(
                    "Where the driver of a cluster runs: client (on this host) or cluster (yarn and k8s "
                    "alone; needs runtime_location in S3)."
                ),
                default="client",
                validators=(one_of("client", "cluster"),),
                on_change=OnChange(ChangeClass.RESTART, note=WITH_ALL_JOBS),
            )
        ),
    )
    proxy_user: Text = field(default="", metadata=SPARSE)
    log_format: Text = field(
        default="",
        metadata=SPARSE
        | declared(
            Attribute(
                type=STRING,
                description="Lines of the application's logs: text, or json (one object a line).",
                default="text",
                validators=(one_of("text", "json"),),
                on_change=OnChange(ChangeClass.LIVE),
            )
        ),
    )
    listen: Text = field(
        default="",
        metadata=SPARSE
        | declared(
            Attribute(
                type=STRING,
                description=(
                    'Where the driver serves /metrics, /healthz and /readyz: "127.0.0.1:9188". None by '
                    "default."
                ),
                validators=(is_listen_address,),
                on_change=OnChange(ChangeClass.LIVE),
            )
        ),
    )
    liveness_file: Text = field(
        default="",
        metadata=SPARSE
        | declared(
            Attribute(
                type=STRING,
                description=(
                    "Absolute path of a file that the driver touches while it makes progress, for probes "
                    "without HTTP. None by default."
                ),
                validators=(is_absolute_path,),
                on_change=OnChange(ChangeClass.LIVE),
            )
        ),
    )
    openlineage: OpenLineageDefinition | None = field(
        default=None,
        metadata=SPARSE
        | declared(
            Attribute(
                type=openlineage_settings.TYPE,
                description=(
                    "Where the driver sends events of OpenLineage at each start, commit, stop and failure "
                    'of a job: { url = "http://marquez:5000", api_key = secret.marquez } or { file = '
                    '"/var/lib/flareiac/lineage.jsonl" }. endpoint (default: api/v1/lineage) and timeout '
                    "(default: 5s) belong to url. namespace is that of the jobs (default: "
                    "flareiac-WORKSPACE). No events by default."
                ),
                validators=(openlineage_settings.is_openlineage,),
                on_change=OnChange(ChangeClass.LIVE),
            )
        ),
    )
    pools: Mapping[str, PoolDefinition] = field(
        default_factory=dict,
        metadata=SPARSE
        | declared(
            Attribute(
                type=MapType(
                    ObjectType({"weight": NUMBER, "min_share": NUMBER}, frozenset({"weight", "min_share"}))
                ),
                description=(
                    "Scheduler pools that jobs can name, with their priority: { etl = { weight = 2, "
                    "min_share = 1 } }. A pool of weight 2 gets twice the cores of one of weight 1 while "
                    "both have work; min_share cores are served first. Every job without a pool has one of "
                    "its own, of weight 1."
                ),
                on_change=OnChange(ChangeClass.RESTART, note=WITH_ALL_JOBS),
            )
        ),
    )

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
