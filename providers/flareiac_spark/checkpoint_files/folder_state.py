"""The state of a generation's folder: absent, prepared or used. Touches the disk, by reading only."""

from enum import StrEnum

from flareiac_spark.checkpoint_files.reader import is_begun, preparation_note
from flareiac_spark_runtime.storage import Place


class FolderState(StrEnum):
    """The state of the folder of a generation."""

    ABSENT = "absent"
    PREPARED = "prepared"
    """Made for a query that has not begun; it can be made again."""
    USED = "used"
    UNKNOWN = "unknown"
    """No one says what it is."""


def folder_state(folder: Place, by: str | None = None) -> FolderState:
    """``by`` None: prepared for any job. Raises ``Damaged``."""
    if is_begun(folder):
        return FolderState.USED
    if not folder.exists():
        return FolderState.ABSENT
    note = preparation_note(folder)
    if note is not None and by in (None, note.get("by")):
        return FolderState.PREPARED
    return FolderState.UNKNOWN
