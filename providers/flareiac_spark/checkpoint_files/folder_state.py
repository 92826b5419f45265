"""Whether the folder of a generation is absent, prepared or used. Touches the disk, by reading only."""

from enum import StrEnum
from pathlib import Path

from flareiac_spark.checkpoint_files.reader import is_begun, seeded


class Standing(StrEnum):
    """What the folder of a generation is."""

    ABSENT = "absent"
    PREPARED = "prepared"
    """Made for a query that has not begun; it can be made again."""
    USED = "used"
    UNKNOWN = "unknown"
    """Nobody says what it is."""


def standing(folder: Path, by: str | None = None) -> Standing:
    """``by`` None: whoever prepared it. Raises ``Damaged``."""
    if is_begun(folder):
        return Standing.USED
    if not folder.exists():
        return Standing.ABSENT
    note = seeded(folder)
    if note is not None and by in (None, note.get("by")):
        return Standing.PREPARED
    return Standing.UNKNOWN
