"""The schema of delete rewrites: the way in which position delete files are rewritten."""

from typing import Final

from flareiac.sdk.schema import Block
from flareiac.sdk.validators import whole
from flareiac_iceberg.maintenance.schema_parts import (
    OPTIONS,
    always,
    number,
    partial,
    size,
)

BLOCK: Final = Block(
    description="Rewrites small position delete files and removes deletes of rows that no longer exist.",
    attributes={
        **always(),
        "target_file_size": size(
            "Target file size. Default: write.delete.target-file-size-bytes of the table, otherwise 64MB."
        ),
        "min_file_size": size(
            "Files below this size are candidates for a rewrite. Default: 75% of the target size."
        ),
        "max_file_size": size("Files above this size are split. Default: 180% of the target size."),
        "min_input_files": number(
            "Minimum number of small delete files in a partition that triggers a rewrite.", 5
        ),
        "max_file_group_size": size("Maximum size that is rewritten in one group.", "100GB"),
        "max_concurrent_groups": number("Number of groups that are rewritten concurrently.", 5),
        "partial_progress": partial(
            "Commits groups of files when they are ready instead of all in one commit: { max_commits = 10 }.",
            max_commits=whole(1),
        ),
        "options": OPTIONS,
    },
)
