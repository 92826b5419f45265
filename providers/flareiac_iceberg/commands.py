"""The commands of the Iceberg provider. Declarations alone: ``flareiac --help`` imports this module."""

from typing import Final

from flareiac.sdk.commands import Command, Commands, Group

COMMANDS: Final[Commands] = {
    "table": Group(
        "Look at the snapshots of tables, and go back to one.",
        {
            "snapshots": Command(
                "flareiac_iceberg.table.commands:snapshots",
                "List the snapshots of a table, newest first: when, who wrote, how many rows.",
                reads_only=True,
            ),
            "rollback": Command(
                "flareiac_iceberg.table.commands:rollback",
                "Set a table back to an earlier snapshot, after showing what that does. Jobs that write it "
                "or stream from it must have stopped.",
            ),
        },
    ),
}
