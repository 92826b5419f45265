"""The schema of snapshot expiry: the snapshots that expire."""

from typing import Final

from flareiac.sdk.schema import Block
from flareiac_iceberg.maintenance.schema_parts import (
    always,
    duration,
    number,
)

BLOCK: Final = Block(
    description="Expires old snapshots and deletes the files that only they need. Snapshots that a declared "
    "reader or writer still needs are kept.",
    attributes={
        **always(),
        "older_than": duration("Younger snapshots are kept.", "5d"),
        "retain_last": number("Number of newest snapshots per branch that are kept regardless of age.", 1),
        "min_snapshots_to_expire": number("Due when at least this number of snapshots can expire.", 1),
        "hold_readers_for": duration(
            "A reader that holds snapshots and has not moved for this time causes a warning.", "7d"
        ),
    },
)
