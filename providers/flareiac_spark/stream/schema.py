"""What users may write in a ``stream`` block."""

from typing import Final

from flareiac.kernel.types import BOOL, NUMBER, STRING, ObjectType, RefType
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.validators import between, one_of
from flareiac_spark.engine.schema import SETTINGS

FORMATS: Final = ("json", "csv", "parquet", "orc", "avro", "text")
FORMATS_SHOWN: Final = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"

COLUMN: Final = Block(
    description="A column of the source.",
    attributes={
        "type": Attribute(
            type=STRING, description='An Iceberg type, such as "long" or "timestamptz".', required=True
        ),
        "comment": Attribute(
            type=STRING, description="Meaning of the column, for readers of the configuration."
        ),
    },
)
_BAD_RECORDS: Final = ObjectType(
    {"action": STRING, "quarantine": RefType(("table",))}, frozenset({"action", "quarantine"})
)
FILES: Final = Block(
    description="Reads new files of a folder.",
    attributes={
        "path": Attribute(
            type=STRING,
            description="Folder or glob, relative to the root module.",
            required=True,
            effect="blocked",
        ),
        "format": Attribute(
            type=STRING,
            description=f"The files' format: {FORMATS_SHOWN}.",
            required=True,
            validators=(one_of(*FORMATS),),
        ),
        "options": Attribute(
            type=SETTINGS, description="Options of Spark's reader for this format, by Spark's names."
        ),
        "max_files_per_trigger": Attribute(
            type=NUMBER,
            description="Maximum number of files per batch.",
            validators=(between(1),),
            effect="restart",
        ),
    },
)
RATE: Final = Block(
    description="Generates rows at a steady rate, with columns timestamp and value.",
    attributes={
        "rows_per_second": Attribute(
            type=NUMBER, description="Rows per second.", default=1, validators=(between(1),)
        ),
        "ramp_up": Attribute(type=STRING, description='Time until the full rate is reached, such as "10s".'),
        "partitions": Attribute(
            type=NUMBER, description="Number of partitions of each batch.", validators=(between(1),)
        ),
    },
)
TABLE: Final = Block(
    description="Reads the rows that are appended to an Iceberg table.",
    attributes={
        "table": Attribute(
            type=RefType(("table", "data.table")),
            description="The table that is read.",
            required=True,
            effect="blocked",
        ),
        "start_from": Attribute(
            type=STRING,
            description='Where the first start begins: "earliest" (all rows; blocked if live snapshots no '
            "longer add some of "
            'them), "oldest_snapshot" (from the oldest live snapshot on, without those rows), "latest" '
            "(new rows "
            "only) or a time with offset.",
            default="earliest",
            effect="takes effect with the next generation",
        ),
        "max_files_per_trigger": Attribute(
            type=NUMBER,
            description="Maximum number of files per batch.",
            validators=(between(1),),
            effect="restart",
        ),
        "skip_deletes": Attribute(
            type=BOOL,
            description="Skip snapshots that delete rows. Otherwise such a snapshot ends the query.",
            default=False,
            effect="restart",
        ),
        "skip_overwrites": Attribute(
            type=BOOL,
            description="Skip snapshots that overwrite rows. Otherwise such a snapshot ends the query.",
            default=False,
            effect="restart",
        ),
    },
)

SCHEMA: Final = Block(
    description="A source of unbounded data for the inputs of streaming jobs.",
    attributes={
        "watermark": Attribute(
            type=ObjectType({"column": STRING, "delay": STRING}),
            description='How late rows may arrive: { column = "ts", delay = "10m" }.',
        ),
        "bad_records": Attribute(
            type=_BAD_RECORDS,
            description='What happens to records that cannot be parsed: { action = "fail" }.',
        ),
    },
    blocks={
        "files": NestedBlock(nesting=Nesting.SINGLE, block=FILES),
        "rate": NestedBlock(nesting=Nesting.SINGLE, block=RATE),
        "table": NestedBlock(nesting=Nesting.SINGLE, block=TABLE),
        "column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True),
    },
    exactly_one_of=(("files", "rate", "table"),),
)
