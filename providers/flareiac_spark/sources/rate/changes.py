"""What a change of a rate does to a running query. Pure."""

from typing import Final

from flareiac_spark.settings import PARALLELISM, all_of
from flareiac_spark.sources.changes import Meaning

MEANING: Final = Meaning(
    attributes=("rows_per_second", "ramp_up"),
    text="the rate of {}",
    why=(
        "A rate stream's offsets are seconds: under another rate they stand for other numbers, some lost and "
        "some twice."
    ),
    undo="write the old rate again",
    of_state=False,
    part=("source",),
)
HARMLESS: Final = all_of(PARALLELISM, "partitions")
