"""What users may write in a ``table`` block."""

from typing import Final

from flareiac.kernel.types import ANY, NUMBER, STRING, ListType, MapType, RefType
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.validators import between, is_duration, not_empty, one_of
from flareiac_iceberg.maintenance.schema import BLOCKS as MAINTENANCE
from flareiac_iceberg.maintenance.schema import ENGINE

COLUMN: Final = Block(
    description="One column; the order of the blocks is the order of the columns.",
    attributes={
        "type": Attribute(
            type=STRING,
            description='An Iceberg type, such as "long not null", "timestamptz" or "struct<street: string, zip: string>".',
            required=True,
            effect="metadata only where Iceberg can widen the type, refused otherwise",
        ),
        "comment": Attribute(type=STRING, description="The column's comment.", effect="metadata only"),
        "tags": Attribute(type=ListType(STRING), description="Words kept with the column, in a table property.", effect="metadata only"),
        "default": Attribute(
            type=ANY,
            description="What batch writes and merges put into new rows that name no value. Needs format_version = 3.",
            effect="metadata only: for new rows",
        ),
    },
)

BRANCH: Final = Block(
    description="A branch beside main, made where main stands when it is first applied.",
    attributes={
        "retain": Attribute(
            type=STRING,
            description="How long the branch outlives its last snapshot when snapshots expire. Default: as the table says, or for good.",
            validators=(is_duration,),
            effect="metadata only",
        ),
        "min_snapshots_to_keep": Attribute(
            type=NUMBER,
            description="How many of its snapshots an expiry leaves at least.",
            validators=(between(1),),
            effect="metadata only",
        ),
        "max_snapshot_age": Attribute(
            type=STRING, description="From which age on its snapshots may expire.", validators=(is_duration,), effect="metadata only"
        ),
    },
)
TAG: Final = Block(
    description="A name for one snapshot, which does not expire while it has it.",
    attributes={
        "snapshot_id": Attribute(
            type=NUMBER,
            description="The snapshot. Default: the one on which main stands when the tag is made; the tag then stays there.",
            effect="metadata only",
        ),
        "retain": Attribute(
            type=STRING,
            description="How long the tag is kept, counted from its snapshot's time. Default: as the table says, or for good.",
            validators=(is_duration,),
            effect="metadata only",
        ),
    },
)

READER: Final = Block(
    description="A streaming reader of the table that this project does not own; an expiry keeps what it needs. One of the two.",
    attributes={
        "checkpoint": Attribute(
            type=STRING,
            description="The folder of its checkpoint, local or in S3, which says where it stands.",
            effect="takes effect with the next run",
        ),
        "hold": Attribute(
            type=STRING,
            description='Snapshots younger than this are kept for it, such as "10d".',
            effect="takes effect with the next run",
        ),
    },
)

SCHEMA: Final = Block(
    description="An Iceberg table.",
    attributes={
        "catalog": Attribute(
            type=RefType(("catalog",)),
            description="The catalog that holds the table. Default: that of a namespace that is referred to, or the only one declared.",
        ),
        "namespace": Attribute(
            type=RefType(("namespace",), or_string=True),
            description="The namespace, its levels separated by dots. It is created when it is missing.",
            required=True,
            validators=(not_empty,),
        ),
        "name": Attribute(type=STRING, description="The table's name. Default: the block's label.", validators=(not_empty,)),
        "comment": Attribute(type=STRING, description="The table's comment.", effect="metadata only"),
        "format_version": Attribute(
            type=NUMBER, description="Iceberg's format version: 1, 2 or 3.", default=2, effect="irreversible: versions only go up"
        ),
        "location": Attribute(type=STRING, description="The table's folder, fixed at creation. Default: below the catalog's warehouse."),
        "renamed": Attribute(
            type=MapType(STRING),
            description="Columns that got a new name: old = new, nested ones by their paths. Harmless once done.",
            effect="metadata only; stops the queries that write the table",
        ),
        "identifier": Attribute(
            type=ListType(STRING), description="The columns that identify a row; each must be not null.", effect="metadata only"
        ),
        "partition_by": Attribute(
            type=ANY,
            description='How rows are grouped into files: day("ts"), bucket(16, "id"), truncate(4, "zip") or a column name.',
            effect="metadata only: files that are there keep their layout",
        ),
        "sort_by": Attribute(
            type=ANY, description='How rows are sorted within files: asc("ts"), desc("amount").', effect="metadata only: for new files"
        ),
        "distribution": Attribute(
            type=STRING,
            description="How Spark distributes rows before it writes: none, hash or range.",
            validators=(one_of("none", "hash", "range"),),
            effect="metadata only: for new files",
        ),
        "properties": Attribute(
            type=MapType(RefType(("secret",), or_string=True)),
            description="Iceberg table properties. No secret, nor a reference to one: they are kept in clear text.",
            effect="metadata only",
        ),
        "tags": Attribute(type=MapType(STRING), description="Labels kept with the table, in its properties.", effect="metadata only"),
        "on_destroy": Attribute(
            type=STRING,
            description="What removing the block does: retain (forget the table), drop (keep its files) or purge (delete its files).",
            default="retain",
            validators=(one_of("retain", "drop", "purge"),),
            effect="state only",
        ),
        "engine": ENGINE,
    },
    blocks={
        "column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True),
        "branch": NestedBlock(nesting=Nesting.MAP, block=BRANCH, any_label=True),
        "tag": NestedBlock(nesting=Nesting.MAP, block=TAG, any_label=True),
        "reader": NestedBlock(nesting=Nesting.MAP, block=READER, any_label=True),
        **MAINTENANCE,
    },
)
