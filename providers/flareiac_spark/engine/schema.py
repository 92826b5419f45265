"""What users may write in an ``engine`` block."""

from typing import Final

from flareiac.kernel.types import NUMBER, STRING, ListType, MapType, ObjectType, RefType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import is_duration, one_of

SETTINGS: Final = MapType(RefType(("secret",), or_string=True))
"""Texts by name, or secrets: only where a secret is travels, and who uses the setting reads it."""

SCHEMA: Final = Block(
    description="Where jobs run: one Spark application for all jobs of the engine. Left empty: a local one.",
    attributes={
        "type": Attribute(type=STRING, description="The kind of engine: local.", default="local", effect="restarts the application"),
        "master": Attribute(
            type=STRING, description="Spark's master URL: local[N].", default="local[*]", effect="restarts the application"
        ),
        "conf": Attribute(
            type=SETTINGS,
            description="Spark settings of the application. A local one shuffles into as many partitions as it has cores unless "
            "spark.sql.shuffle.partitions is set.",
            effect="restarts the application",
        ),
        "packages": Attribute(
            type=ListType(STRING),
            description="Further Maven coordinates; those that declared catalogs need are added.",
            effect="restarts the application",
        ),
        "driver": Attribute(
            type=ObjectType({"memory": STRING, "cores": NUMBER}, frozenset({"memory", "cores"})),
            description='The driver\'s share: { memory = "2g", cores = 1 }.',
            effect="restarts the application",
        ),
        "log_level": Attribute(
            type=STRING,
            description="The application's log level: ALL, TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF.",
            default="WARN",
            validators=(one_of("ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"),),
            effect="live",
        ),
        "runtime_location": Attribute(
            type=STRING,
            description="The folder through which command line and application meet.",
            default=".flareiac/runtime/WORKSPACE/ENGINE",
            effect="moves the application",
        ),
        "idle_shutdown": Attribute(
            type=STRING, description="An application without a running job ends after this time.", default="2m", validators=(is_duration,)
        ),
        "graceful_stop": Attribute(
            type=STRING, description="How long a stopping query may take to finish its batch.", default="2m", validators=(is_duration,)
        ),
    },
)
