"""The type ``engine``."""

from typing import Final

from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.type_roles import Locating, Relations
from flareiac_spark.engine.canonical import canonical, sources, usages
from flareiac_spark.engine.schema import SCHEMA

ENGINE: Final = ResourceType(
    name="engine",
    kind=Kind.CONNECTION,
    schema=SCHEMA,
    description="Where jobs run: one Spark application for all jobs of the engine.",
    canonical=canonical,
    relations=Relations(usages=usages),
    locating=Locating(read=sources),
)
