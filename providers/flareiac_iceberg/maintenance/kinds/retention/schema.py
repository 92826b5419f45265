"""The schema of retention: the time for which rows are kept."""

from typing import Final

from flareiac.kernel.types import STRING
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac_iceberg.maintenance.schema_parts import (
    NEXT,
    always,
    some_time,
)

BLOCK: Final = Block(
    description="Deletes old rows, in whole partitions if the table is partitioned by time of the column.",
    attributes={
        **always(),
        "column": Attribute(
            type=STRING,
            description="Column with the time of a row: timestamptz, timestamp_ntz (taken as UTC) or date.",
            required=True,
            on_change=NEXT,
        ),
        "keep": Attribute(
            type=STRING,
            description="Older rows are deleted, in whole partitions, otherwise in whole hours.",
            required=True,
            validators=(some_time,),
            on_change=OnChange(ChangeClass.NEXT_RUN, note="which deletes what is older"),
            unit="duration",
        ),
    },
)
