"""The schema of the ``engine`` block: a reading of the record of its definition, and of what becomes Spark
settings.
"""

from typing import Final

from flareiac.kernel.types import NUMBER, STRING, ObjectType
from flareiac.sdk.declared import attributes_of
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.secret_settings import SETTINGS
from flareiac_spark.engine.engine_definition import ARE_SIZES, WITH_ALL_JOBS, EngineDefinition

SCHEMA: Final = Block(
    description="Where jobs run: one Spark application for all jobs of the engine. Default: a local one.",
    attributes={
        **attributes_of(EngineDefinition),
        "executor": Attribute(
            type=ObjectType(
                {"instances": NUMBER, "cores": NUMBER, "memory": STRING},
                frozenset({"instances", "cores", "memory"}),
            ),
            description='Executors on a cluster: { instances = 2, cores = 2, memory = "4g" }.',
            validators=(ARE_SIZES,),
            on_change=OnChange(ChangeClass.RESTART, note=WITH_ALL_JOBS),
        ),
        "submit_options": Attribute(
            type=SETTINGS,
            description='Options of spark-submit by their own names, as { queue = "etl" }; files are '
            "relative to the project.",
            on_change=OnChange(
                ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE, note=WITH_ALL_JOBS
            ),
        ),
    },
)
