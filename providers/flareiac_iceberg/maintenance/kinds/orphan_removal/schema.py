"""The schema of orphan removal: the files without a snapshot that are deleted."""

from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.types import BOOL, STRING
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import is_duration, one_of, parse_duration
from flareiac_iceberg.maintenance.schema_parts import (
    DAY_MS,
    NEXT,
    always,
    duration,
)


def _a_day_at_least(value: Data) -> str | None:
    wrong = is_duration(value)
    if wrong or (parse_duration(value) or 0) >= DAY_MS:
        return wrong
    return (
        f'"{value}" is less than "24h". Files younger than that may belong to a write that is in progress, '
        "whose snapshot is yet to name them."
    )


BLOCK: Final = Block(
    description="Deletes files below the location of the table that no snapshot names, if all of them are "
    "proven to be left by writers of this table.",
    attributes={
        **always("7d"),
        "older_than": duration(
            "Younger files are kept; at least 24h. Files of an open batch are kept, too.",
            "3d",
            _a_day_at_least,
        ),
        "dry_run": Attribute(
            type=BOOL, description="Counts orphans and deletes nothing.", default=False, on_change=NEXT
        ),
        "prefix_mismatch": Attribute(
            type=STRING,
            description="What happens if the same location has two prefixes (s3, s3a): error (stop), ignore "
            "(keep such files) or delete (them).",
            default="error",
            validators=(one_of("error", "ignore", "delete"),),
            on_change=NEXT,
        ),
    },
)
