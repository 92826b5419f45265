"""What users may write in a ``stream`` block."""

from typing import Final

from flareiac.kernel.types import BOOL, NUMBER, STRING, ObjectType, RefType
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.validators import between, one_of
from flareiac_spark.engine.schema import SETTINGS

FORMATS: Final = ("json", "csv", "parquet", "orc", "avro", "text")
FORMATS_SHOWN: Final = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"

COLUMN: Final = Block(
    description="One column.",
    attributes={
        "type": Attribute(type=STRING, description='An Iceberg type, such as "long" or "timestamptz".', required=True),
        "comment": Attribute(type=STRING, description="What the column means; for readers of the configuration."),
    },
)
_BAD_RECORDS: Final = ObjectType({"action": STRING, "quarantine": RefType(("table",))}, frozenset({"action", "quarantine"}))
FILES: Final = Block(
    description="New files in a folder.",
    attributes={
        "path": Attribute(type=STRING, description="The folder (or a glob), relative to the root module.", required=True, effect="blocked"),
        "format": Attribute(
            type=STRING,
            description=f"The files' format: {FORMATS_SHOWN}.",
            required=True,
            validators=(one_of(*FORMATS),),
        ),
        "options": Attribute(type=SETTINGS, description="Options of Spark's reader for this format."),
        "max_files_per_trigger": Attribute(
            type=NUMBER, description="At most this many files per batch.", validators=(between(1),), effect="restart"
        ),
    },
)
RATE: Final = Block(
    description="Rows made up at a steady rate, with columns timestamp and value.",
    attributes={
        "rows_per_second": Attribute(type=NUMBER, description="Rows per second.", default=1, validators=(between(1),)),
        "ramp_up": Attribute(type=STRING, description='Time until the full rate is reached, such as "10s".'),
        "partitions": Attribute(type=NUMBER, description="Partitions of each batch.", validators=(between(1),)),
    },
)
TABLE: Final = Block(
    description="What is appended to an Iceberg table.",
    attributes={
        "table": Attribute(type=RefType(("table", "data.table")), description="The table.", required=True, effect="blocked"),
        "start_from": Attribute(
            type=STRING,
            description='Where a first start begins: "earliest" (all rows; blocked where some are in no live snapshot\'s additions), '
            '"oldest_snapshot" (the oldest live snapshot, without such rows), "latest" or a time with offset.',
            default="earliest",
            effect="takes effect with the next generation",
        ),
        "max_files_per_trigger": Attribute(
            type=NUMBER, description="At most this many files per batch.", validators=(between(1),), effect="restart"
        ),
        "skip_deletes": Attribute(type=BOOL, description="Pass over snapshots that delete rows.", default=False, effect="restart"),
        "skip_overwrites": Attribute(type=BOOL, description="Pass over snapshots that overwrite rows.", default=False, effect="restart"),
    },
)

SCHEMA: Final = Block(
    description="A source of unbounded data, for the inputs of streaming jobs.",
    attributes={
        "watermark": Attribute(
            type=ObjectType({"column": STRING, "delay": STRING}),
            description='How late rows may be: { column = "ts", delay = "10m" }.',
        ),
        "bad_records": Attribute(type=_BAD_RECORDS, description='What happens to records that cannot be parsed: { action = "fail" }.'),
    },
    blocks={
        "files": NestedBlock(nesting=Nesting.SINGLE, block=FILES),
        "rate": NestedBlock(nesting=Nesting.SINGLE, block=RATE),
        "table": NestedBlock(nesting=Nesting.SINGLE, block=TABLE),
        "column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True),
    },
    exactly_one_of=(("files", "rate", "table"),),
)
