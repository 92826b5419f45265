"""The schema of the ``engine`` block."""

from typing import Final

from flareiac.kernel.types import NUMBER, STRING, ListType, MapType, ObjectType
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import is_duration, one_of, whole_sizes
from flareiac_spark.engine.monitoring_settings import is_absolute_path, is_listen_address

_are_sizes: Final = whole_sizes(instances=None, cores=None, memory="g")

SCHEMA: Final = Block(
    description="Where jobs run: one Spark application for all jobs of the engine. Default: a local one.",
    attributes={
        "type": Attribute(
            type=STRING,
            description="Who runs the driver: local and spark_submit start it here, the second for a "
            "cluster; external leaves it to you (flareiac driver).",
            default="local",
            on_change=OnChange(ChangeClass.RESTART, note="with all jobs of the engine"),
        ),
        "master": Attribute(
            type=STRING,
            description="The master URL of Spark: local[N] for N cores, local[*] for all of them; "
            "spark://HOST:PORT, yarn or k8s://URL for a cluster.",
            default="local[*]",
            on_change=OnChange(ChangeClass.RESTART, note="with all jobs of the engine"),
        ),
        "deploy_mode": Attribute(
            type=STRING,
            description="Where the driver of a cluster runs: client (on this host) or cluster (yarn and k8s "
            "alone; needs runtime_location in S3).",
            default="client",
            validators=(one_of("client", "cluster"),),
            on_change=OnChange(ChangeClass.RESTART, note="with all jobs of the engine"),
        ),
        "conf": Attribute(
            type=SETTINGS,
            description="Spark settings of the application. Without spark.sql.shuffle.partitions a local "
            "application uses as many shuffle partitions as it has cores.",
            on_change=OnChange(
                ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE, note="with all jobs of the engine"
            ),
        ),
        "packages": Attribute(
            type=ListType(STRING),
            description=(
                "Additional Maven coordinates. The packages that declared catalogs need are added "
                "automatically."
            ),
            on_change=OnChange(
                ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE, note="with all jobs of the engine"
            ),
        ),
        "driver": Attribute(
            type=ObjectType({"memory": STRING, "cores": NUMBER}, frozenset({"memory", "cores"})),
            description='Resources of the driver process: { memory = "2g", cores = 1 }.',
            validators=(_are_sizes,),
            on_change=OnChange(ChangeClass.RESTART, note="with all jobs of the engine"),
        ),
        "executor": Attribute(
            type=ObjectType(
                {"instances": NUMBER, "cores": NUMBER, "memory": STRING},
                frozenset({"instances", "cores", "memory"}),
            ),
            description='Executors on a cluster: { instances = 2, cores = 2, memory = "4g" }.',
            validators=(_are_sizes,),
            on_change=OnChange(ChangeClass.RESTART, note="with all jobs of the engine"),
        ),
        "pools": Attribute(
            type=MapType(
                ObjectType({"weight": NUMBER, "min_share": NUMBER}, frozenset({"weight", "min_share"}))
            ),
            description="Scheduler pools that jobs can name, with their priority: { etl = { weight = 2, "
            "min_share = 1 } }. A pool of weight 2 gets twice the cores of one of weight 1 while both have "
            "work; min_share cores are served first. Every job without a pool has one of its own, of weight "
            "1.",
            on_change=OnChange(ChangeClass.RESTART, note="with all jobs of the engine"),
        ),
        "submit_options": Attribute(
            type=SETTINGS,
            description='Options of spark-submit by their own names, as { queue = "etl" }; files are '
            "relative to the project.",
            on_change=OnChange(
                ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE, note="with all jobs of the engine"
            ),
        ),
        "log_level": Attribute(
            type=STRING,
            description="Log level of the application: ALL, TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF.",
            default="WARN",
            validators=(one_of("ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"),),
            on_change=OnChange(ChangeClass.LIVE),
        ),
        "log_format": Attribute(
            type=STRING,
            description="Lines of the application's logs: text, or json (one object a line).",
            default="text",
            validators=(one_of("text", "json"),),
            on_change=OnChange(ChangeClass.LIVE),
        ),
        "listen": Attribute(
            type=STRING,
            description='Where the driver serves /metrics, /healthz and /readyz: "127.0.0.1:9188". None by '
            "default.",
            validators=(is_listen_address,),
            on_change=OnChange(ChangeClass.LIVE),
        ),
        "liveness_file": Attribute(
            type=STRING,
            description="Absolute path of a file that the driver touches while it makes progress, for probes "
            "without HTTP. None by default.",
            validators=(is_absolute_path,),
            on_change=OnChange(ChangeClass.LIVE),
        ),
        "runtime_location": Attribute(
            type=STRING,
            description="The control directory, through which command line and application communicate: a "
            "path, or s3://BUCKET/PREFIX.",
            default=".flareiac/runtime/WORKSPACE/ENGINE",
            on_change=OnChange(ChangeClass.RESTART, note="with all jobs of the engine"),
        ),
        "idle_shutdown": Attribute(
            type=STRING,
            description="Time after which an application without a running job ends; external ones do not "
            "end by default.",
            default="2m",
            validators=(is_duration,),
            on_change=OnChange(ChangeClass.LIVE),
        ),
        "graceful_stop": Attribute(
            type=STRING,
            description="Time that a stopping query has to finish its batch.",
            default="2m",
            validators=(is_duration,),
            on_change=OnChange(ChangeClass.LIVE),
        ),
    },
)
