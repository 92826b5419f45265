"""The commands of the Spark provider. Declarations alone: ``flareiac --help`` imports this module."""

from typing import Final

from flareiac.sdk.commands import Command, Commands, Group

COMMANDS: Final[Commands] = {
    "checkpoint": Group(
        "Look into checkpoints, and tidy them up.",
        {
            "show": Command(
                "flareiac_spark.checkpoint.commands:show",
                "Show what a checkpoint holds: batches, offsets, watermark, state, pinned settings, "
                "generations.",
                reads_only=True,
            ),
            "gc": Command(
                "flareiac_spark.checkpoint.commands:gc",
                "Remove generations past keep_generations; never one in use.",
            ),
        },
    ),
}
