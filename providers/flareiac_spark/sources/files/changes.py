"""What a change of a stream of files does to a running query. Pure."""

from typing import Final

from flareiac_spark.settings import BATCH_SIZE, all_of

HARMLESS: Final = all_of(BATCH_SIZE, "max_files_per_trigger")
