"""The files that a source has noted. Touches the disk, by reading only.

Spark notes files when it plans the batch that reads them, so that the newest notes may belong to a batch that
is still to be committed.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.checkpoint_log import batches, files_in
from flareiac_spark_runtime.storage import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedFile:
    """One file. ``changed_ms`` is its time when it was noted (UTC milliseconds), ``note`` the number of its
    note.
    """

    path: str
    changed_ms: int | None
    note: int | None


def noted_files(log: Place) -> Iterator[NotedFile]:
    """All files of a source's log, oldest first. Every so many entries one holds all before it. Raises
    ``Damaged``.
    """
    numbers = batches(log.parent, log.name)
    compact = max((number for number in numbers if (log / f"{number}.compact").exists()), default=None)
    names = [str(number) for number in numbers if compact is None or number > compact]
    for name in [*([] if compact is None else [f"{compact}.compact"]), *names]:
        for entry in files_in(log / name):
            changed, note = entry.get("timestamp"), entry.get("batchId")
            yield NotedFile(
                path=str(entry.get("path", "")),
                changed_ms=changed if isinstance(changed, int) else None,
                note=note if isinstance(note, int) else None,
            )


def note_of_offset(offset: Any) -> int | None:
    """The number of the newest note that an offset of files has read; None for another offset."""
    match offset:
        case {"logOffset": int(reached)}:
            return reached
        case _:
            return None


def local_path(path: str) -> str:
    """A noted file's path in the file system."""
    return "/" + unquote(path.removeprefix("file:")).lstrip("/")
