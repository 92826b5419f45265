"""The type ``checkpoint``."""

from typing import Final

from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Recorded
from flareiac.sdk.type_roles import Locating, Planner, Planning, Recording, Relations
from flareiac_spark.checkpoint.canonical import canonical, places, usages
from flareiac_spark.checkpoint.schema import SCHEMA


def _planner() -> Planner:
    from flareiac_spark.checkpoint.plan import CheckpointPlanner

    return CheckpointPlanner()


def _examine(recorded: Recorded) -> object:
    from flareiac_spark.checkpoint_files.layout import recorded_layout
    from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition

    return CheckpointDefinition.of(recorded.attributes), recorded_layout(recorded.identity)


CHECKPOINT: Final = ResourceType(
    name="checkpoint",
    kind=Kind.MANAGED,
    schema=SCHEMA,
    description="The offsets and state of a streaming job.",
    canonical=canonical,
    planning=Planning(planner=_planner),
    recording=Recording(examine=_examine),
    relations=Relations(usages=usages),
    locating=Locating(own=places),
)
