"""The schema of the ``checkpoint`` block: a reading of the record of its definition."""

from typing import Final

from flareiac.sdk.declared import attributes_of
from flareiac.sdk.schema import Block
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition

SCHEMA: Final = Block(
    description="The offsets and state of a streaming job.",
    attributes=attributes_of(CheckpointDefinition),
)
