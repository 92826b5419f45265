"""The schema of the ``stream`` block."""

from typing import Final

from flareiac.kernel.types import STRING
from flareiac.sdk.declared import attributes_of
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac_spark.sources.source import kinds
from flareiac_spark.stream.stream_definition import StreamDefinition

COLUMN: Final = Block(
    description="A column of the source.",
    attributes={
        "type": Attribute(
            type=STRING,
            description='An Iceberg type, such as "long" or "timestamptz".',
            required=True,
            on_change=OnChange(
                ChangeClass.RESTART,
                over_state=ChangeClass.NEW_GENERATION,
                note="a restart where no step reads the column",
            ),
        ),
        "comment": Attribute(
            type=STRING,
            description="Meaning of the column, for readers of the configuration.",
            on_change=OnChange(ChangeClass.RECORDED),
        ),
    },
)


def schema() -> Block:
    """The block, with one block in it for each kind of source."""
    sources = {name: NestedBlock(nesting=Nesting.SINGLE, block=kind.block) for name, kind in kinds()}
    return Block(
        description="A source of unbounded data for the inputs of streaming jobs.",
        attributes=attributes_of(StreamDefinition),
        blocks={
            **sources,
            "column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True),
        },
        exactly_one_of=(tuple(sources),),
    )
