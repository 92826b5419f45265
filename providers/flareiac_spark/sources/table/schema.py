"""The schema of the ``table`` block of a stream."""

from typing import Final

from flareiac.kernel.types import BOOL, NUMBER, STRING, RefType
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import whole

BLOCK: Final = Block(
    description="Reads the rows that are appended to an Iceberg table.",
    attributes={
        "table": Attribute(
            type=RefType(("table", "data.table")),
            description="The table that is read.",
            required=True,
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "start_from": Attribute(
            type=STRING,
            description='Where the first start begins: "earliest" (all rows; blocked if live snapshots no '
            'longer add some of them), "oldest_snapshot" (from the oldest live snapshot on, without those '
            'rows), "latest" (new rows only) or a time with offset.',
            default="earliest",
            on_change=OnChange(ChangeClass.NEXT_GENERATION),
        ),
        "max_files_per_trigger": Attribute(
            type=NUMBER,
            description="Maximum number of files per batch.",
            validators=(whole(),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "skip_deletes": Attribute(
            type=BOOL,
            description="Skip snapshots that delete rows. Otherwise such a snapshot ends the query.",
            default=False,
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "skip_overwrites": Attribute(
            type=BOOL,
            description="Skip snapshots that overwrite rows. Otherwise such a snapshot ends the query.",
            default=False,
            on_change=OnChange(ChangeClass.RESTART),
        ),
    },
)
