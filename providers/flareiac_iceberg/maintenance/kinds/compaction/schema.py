"""The schema of compaction: the way and the time in which data files are rewritten."""

from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import not_empty, one_of, whole
from flareiac_iceberg.maintenance.schema_parts import (
    NEXT,
    OPTIONS,
    always,
    entries,
    is_share,
    number,
    partial,
    size,
)


def _ratio(value: Data) -> str | None:
    return None if 0 < value <= 1 else f"{value} is out of range: it must be above 0 and at most 1."


BLOCK: Final = Block(
    description="Rewrites small files, and files with many deleted rows, into files of the target size.",
    attributes={
        **always(),
        "strategy": Attribute(
            type=STRING,
            description="How rows are arranged: binpack (unchanged), sort (by sort_by, otherwise by the "
            "order of the table) or zorder (by zorder_by).",
            default="binpack",
            validators=(one_of("binpack", "sort", "zorder"),),
            on_change=NEXT,
        ),
        "sort_by": Attribute(
            type=ANY,
            description='For strategy "sort": an order other than that of the table.',
            on_change=NEXT,
        ),
        "zorder_by": Attribute(
            type=ListType(STRING),
            description='For strategy "zorder": the columns.',
            validators=(not_empty,),
            on_change=NEXT,
        ),
        "target_file_size": size(
            "Target file size. Default: write.target-file-size-bytes of the table, otherwise 512MB."
        ),
        "min_file_size": size(
            "Files below this size are candidates for a rewrite. Default: 75% of the target size."
        ),
        "max_file_size": size("Files above this size are split. Default: 180% of the target size."),
        "min_input_files": number("Minimum number of small files in a partition that triggers a rewrite.", 5),
        "where": Attribute(
            type=STRING,
            description="Spark SQL condition on columns of the table. Only files that may contain matching "
            "rows are rewritten, such as cold partitions of a table that merges write.",
            validators=(not_empty,),
            on_change=NEXT,
        ),
        "delete_ratio": Attribute(
            type=NUMBER,
            description="Rewrites a file when this fraction of its rows is deleted.",
            default=0.3,
            validators=(_ratio,),
            on_change=NEXT,
        ),
        "delete_file_threshold": number(
            "Rewrites a file with at least this number of delete files. Default: no limit."
        ),
        "max_file_group_size": size("Maximum size that is rewritten in one group.", "100GB"),
        "max_concurrent_groups": number("Number of groups that are rewritten concurrently.", 5),
        "partial_progress": partial(
            "Commits groups of files when they are ready instead of all in one commit: { max_commits = 10, "
            "max_failed_commits = 10 }.",
            max_commits=whole(1),
            max_failed_commits=whole(0),
        ),
        "rewrite_all": Attribute(
            type=BOOL,
            description="Rewrites every file regardless of size. Needs every.",
            default=False,
            on_change=NEXT,
        ),
        "run_if": Attribute(
            type=ANY,
            description="Due when any of these holds for files that need a rewrite: { small_files_over = 20, "
            'small_file_share_over = "30%" }. Default: { small_files_over = 20 }.',
            validators=(entries(small_files_over=whole(0), small_file_share_over=is_share),),
            on_change=NEXT,
        ),
        "options": OPTIONS,
    },
)
