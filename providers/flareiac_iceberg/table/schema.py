"""The schema of the ``table`` block."""

from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.types import ANY, NUMBER, STRING, ListType, MapType, RefType
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.validators import is_duration, not_empty, one_of, whole
from flareiac_iceberg.format.spec import DISTRIBUTION_MODES, FOREVER
from flareiac_iceberg.maintenance.schema import BLOCKS as MAINTENANCE
from flareiac_iceberg.maintenance.schema import ENGINE
from flareiac_iceberg.table.purge_check import PURGES

COLUMN: Final = Block(
    description="A column. The order of the blocks is the order of the columns.",
    attributes={
        "type": Attribute(
            type=STRING,
            description=(
                'An Iceberg type, such as "long not null", "timestamptz" or "struct<street: '
                'string, zip: string>".'
            ),
            required=True,
            on_change=OnChange(
                ChangeClass.IRREVERSIBLE, note="where Iceberg can widen the type, refused otherwise"
            ),
        ),
        "comment": Attribute(
            type=STRING, description="Comment of the column.", on_change=OnChange(ChangeClass.METADATA_ONLY)
        ),
        "tags": Attribute(
            type=ListType(STRING),
            description="Labels of the column, stored in a table property.",
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "default": Attribute(
            type=ANY,
            description=(
                "Value that batch writes and merges store in new rows without a value. Needs "
                "format_version = 3."
            ),
            on_change=OnChange(ChangeClass.METADATA_ONLY, note="for new rows"),
        ),
    },
)


def _is_time_kept(value: Data) -> str | None:
    return None if value == FOREVER else is_duration(value)


BRANCH: Final = Block(
    description="A branch beside main. It starts at the current snapshot of main when it is created.",
    attributes={
        "retain": Attribute(
            type=STRING,
            description="How long the branch is kept after its last snapshot when snapshots expire. Default: "
            'the setting of the table, otherwise forever. Or "forever", whatever the table says.',
            validators=(_is_time_kept,),
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "min_snapshots_to_keep": Attribute(
            type=NUMBER,
            description="Minimum number of snapshots of the branch that an expiry keeps.",
            validators=(whole(),),
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "max_snapshot_age": Attribute(
            type=STRING,
            description='Age from which snapshots of the branch may expire, or "forever".',
            validators=(_is_time_kept,),
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
    },
)
TAG: Final = Block(
    description="A name for one snapshot. A tagged snapshot does not expire.",
    attributes={
        "snapshot_id": Attribute(
            type=NUMBER,
            description=(
                "The snapshot. Default: the current snapshot of main when the tag is created; the "
                "tag then stays there."
            ),
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "retain": Attribute(
            type=STRING,
            description="How long the tag is kept, counted from the time of its snapshot. Default: the "
            'setting of the table, otherwise forever. Or "forever", whatever the table says.',
            validators=(_is_time_kept,),
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
    },
)

READER: Final = Block(
    description="A streaming reader of the table that this project does not own; snapshot expiry keeps what "
    "it needs. Set one of the two attributes.",
    attributes={
        "checkpoint": Attribute(
            type=STRING,
            description="Folder of its checkpoint, local or in S3. Its position is read at each run.",
            on_change=OnChange(ChangeClass.NEXT_RUN),
        ),
        "hold": Attribute(
            type=STRING,
            description='Snapshots younger than this are kept, such as "10d".',
            on_change=OnChange(ChangeClass.NEXT_RUN),
        ),
    },
)

SCHEMA: Final = Block(
    description="An Iceberg table.",
    attributes={
        "catalog": Attribute(
            type=RefType(("catalog",)),
            description=(
                "The catalog of the table. Default: the catalog of the referenced namespace, "
                "otherwise the only one declared."
            ),
            on_change=OnChange(ChangeClass.REFUSED),
        ),
        "namespace": Attribute(
            type=RefType(("namespace",), or_string=True),
            description=(
                "Namespace of the table: a reference, or its name with levels separated by dots. A "
                "missing namespace is created."
            ),
            required=True,
            validators=(not_empty,),
            on_change=OnChange(ChangeClass.RENAMES),
        ),
        "name": Attribute(
            type=STRING,
            description="Name of the table. Default: the label of the block.",
            validators=(not_empty,),
            on_change=OnChange(ChangeClass.RENAMES),
        ),
        "comment": Attribute(
            type=STRING, description="Comment of the table.", on_change=OnChange(ChangeClass.METADATA_ONLY)
        ),
        "format_version": Attribute(
            type=NUMBER,
            description="Format version of Iceberg: 1, 2 or 3.",
            default=2,
            on_change=OnChange(ChangeClass.IRREVERSIBLE, note="versions only go up"),
        ),
        "location": Attribute(
            type=STRING,
            description=(
                "Folder of the table, fixed at creation. Default: below the warehouse of the catalog."
            ),
            on_change=OnChange(ChangeClass.REFUSED),
        ),
        "renamed": Attribute(
            type=MapType(STRING),
            description=(
                "Renamed columns: old = new, nested ones by path. The entry can stay after the rename."
            ),
            on_change=OnChange(ChangeClass.METADATA_ONLY, note="stops the queries that write the table"),
        ),
        "identifier": Attribute(
            type=ListType(STRING),
            description="Columns that identify a row; each must be not null.",
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "partition_by": Attribute(
            type=ANY,
            description=(
                'How rows are grouped into files: day("ts"), bucket(16, "id"), truncate(4, "zip") '
                "or a column name."
            ),
            on_change=OnChange(ChangeClass.METADATA_ONLY, note="files that are there keep their layout"),
        ),
        "sort_by": Attribute(
            type=ANY,
            description='How rows are sorted within files: asc("ts"), desc("amount").',
            on_change=OnChange(ChangeClass.METADATA_ONLY, note="for new files"),
        ),
        "distribution": Attribute(
            type=STRING,
            description="How Spark distributes rows before writing: none, hash or range.",
            validators=(one_of(*DISTRIBUTION_MODES),),
            on_change=OnChange(ChangeClass.METADATA_ONLY, note="for new files"),
        ),
        "properties": Attribute(
            type=MapType(RefType(("secret",), or_string=True)),
            description="Iceberg table properties. They are stored in clear text, so neither secrets nor "
            "references to secrets are allowed.",
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "tags": Attribute(
            type=MapType(STRING),
            description="Labels of the table, stored in its properties.",
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "on_destroy": Attribute(
            type=STRING,
            description="What happens when the block is removed: retain (forget the table), drop (remove it "
            "from the catalog, keep its files), purge (delete its files, all of which must lie below its "
            "location) or purge_everywhere (delete all files that its metadata names, wherever they are).",
            default="retain",
            validators=(one_of("retain", "drop", *PURGES),),
            on_change=OnChange(ChangeClass.RECORDED),
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
    instead={
        **dict.fromkeys(
            ("schema", "columns"), 'Columns are blocks: column "NAME" { type = "long" }, one for each.'
        ),
        "database": "It is called namespace here.",
        "ttl": "Old rows are deleted by a task of maintenance (flareiac explain tables).",
        **dict.fromkeys(
            ("partitioned_by", "partition", "partitions", "partitioning"),
            'It is called partition_by: partition_by = [day("ts")].',
        ),
    },
)
