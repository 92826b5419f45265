"""The schema of the ``stream`` block."""

from typing import Final

from flareiac.kernel.types import STRING, ObjectType, RefType
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac_spark.sources.source import kinds

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
            on_change=OnChange(ChangeClass.STATE_ONLY),
        ),
    },
)
_BAD_RECORDS: Final = ObjectType(
    {"action": STRING, "quarantine": RefType(("table",))}, frozenset({"action", "quarantine"})
)


def schema() -> Block:
    """The block, with one block in it for each kind of source."""
    sources = {name: NestedBlock(nesting=Nesting.SINGLE, block=kind.block) for name, kind in kinds()}
    return Block(
        description="A source of unbounded data for the inputs of streaming jobs.",
        attributes={
            "watermark": Attribute(
                type=ObjectType({"column": STRING, "delay": STRING}),
                description='How late rows may arrive: { column = "ts", delay = "10m" }.',
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            ),
            "bad_records": Attribute(
                type=_BAD_RECORDS,
                description="What happens to records that cannot be read, or that fit the columns only in "
                'part: { action = "fail" } (the job fails), "null" (the row is kept, its declared columns '
                'are null), "drop" (the row is left out and counted) or { quarantine = table.bad } (a query '
                "of its own writes it to that table).",
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            ),
        },
        blocks={
            **sources,
            "column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True),
        },
        exactly_one_of=(tuple(sources),),
    )
