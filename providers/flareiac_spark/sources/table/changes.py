"""What a change of a stream of a table does to a running query. Pure."""

from typing import Final

from flareiac_spark.settings import BATCH_SIZE, all_of

FIRST_START: Final = ("start_from",)
HARMLESS: Final = (
    *all_of(BATCH_SIZE, "max_files_per_trigger"),
    *all_of("where a first start begins", *FIRST_START),
    *all_of(
        "which commits of the source end the query; the rows that it reads are the same",
        "skip_deletes",
        "skip_overwrites",
    ),
)
