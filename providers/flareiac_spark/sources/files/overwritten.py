"""Finds files that were written again, or moved within their folder, after a query had noted them. Touches
the disk, by reading only.

Spark's file source remembers a file by its path: one that is overwritten in place is never read again, and
Spark says nothing. A file of a batch that is still to be committed is read again with that batch.
"""

import bisect
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.files.batches_read import Reading, readings
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.sources.files.notes import NotedFile, local_path, noted_files
from flareiac_spark_runtime.storage import Place
from flareiac_spark_runtime.utc import utc_text

NEWEST: Final = 100_000
"""Files that are looked at, the newest ones of each source: one question to the file system each."""
_TOLERANCE_MS: Final = 1000
"""File systems that keep whole seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwritten:
    """Paths of local files. ``after``: written after their batch was committed. ``meanwhile``: between its
    planning and its commit, so that either content may have been read. ``moved``: a file that was read, and
    one of its name and time that was read where that one is gone. ``cut``: older files were not looked at.
    """

    after: tuple[str, ...] = ()
    meanwhile: tuple[tuple[str, int], ...] = ()
    """With the time that they had when they were noted (UTC milliseconds)."""
    moved: tuple[tuple[str, str], ...] = ()
    cut: bool = False


def overwritten(checkpoint: Place) -> Overwritten:
    """Local files that are newer than when they were noted. A log that moves while it is read tells
    nothing.
    """
    try:
        logs = sorted(int(entry.name) for entry in (checkpoint / "sources").iterdir() if entry.name.isdigit())
        by_log = [_of_source(checkpoint, index) for index in logs]
    except (OSError, Damaged):
        return Overwritten()
    return Overwritten(
        after=tuple(path for files in by_log for path in files.after),
        meanwhile=tuple(pair for files in by_log for pair in files.meanwhile),
        moved=tuple(pair for files in by_log for pair in files.moved),
        cut=any(files.cut for files in by_log),
    )


def unread(checkpoints: Iterable[Place]) -> tuple[str, ...]:
    """Files whose new content no query reads, or perhaps none has read, in words."""
    by_checkpoint = [overwritten(checkpoint) for checkpoint in checkpoints]
    after = list(dict.fromkeys(path for files in by_checkpoint for path in files.after))
    meanwhile = {
        path: noted for files in by_checkpoint for path, noted in files.meanwhile if path not in after
    }
    among = f" of the newest {NEWEST:,} files" if any(files.cut for files in by_checkpoint) else ""
    texts: list[str] = []
    if after:
        texts.append(
            f"overwritten after it was read: {_some(after)}{among}. Spark reads a file once, by its path: "
            "write new rows into a new file"
        )
    if meanwhile:
        first, noted = next(iter(meanwhile.items()))
        time = utc_text(noted, timespec="seconds")
        texts.append(
            f"overwritten while its batch was under way: {_some(list(meanwhile))}{among}. Which of its "
            "contents was read is not known: compare its rows with those in the table. Where they are "
            f"right, give the file its time back: touch -d {time} {first}"
        )
    moved = dict(pair for files in by_checkpoint for pair in files.moved)
    if moved:
        old, new = next(iter(moved.items()))
        more = f" and {len(moved) - 1:,} more" if len(moved) > 1 else ""
        texts.append(
            f"perhaps read twice: {new}{more} has the name and the time of {old}, which was read and is "
            "gone. A file that is moved within the folder is read again: compare its rows with those in the "
            "table, and move files out of the folder"
        )
    return tuple(texts)


def _of_source(checkpoint: Place, index: int) -> Overwritten:
    read = readings(checkpoint, index)
    if not read:
        return Overwritten()
    last = read[-1].note
    files = [
        noted_file
        for noted_file in noted_files(checkpoint / "sources" / str(index))
        if noted_file.note is None or noted_file.note <= last
    ]
    after, meanwhile = list[str](), list[tuple[str, int]]()
    for file in files[-NEWEST:]:
        if file.changed_ms is None or not file.path.startswith("file:"):
            continue
        path = local_path(file.path)
        written = _written_ms(path)
        if written is None or written <= file.changed_ms + _TOLERANCE_MS:
            continue
        if written > _read_by(file, read) + _TOLERANCE_MS:
            after.append(path)
        else:
            meanwhile.append((path, file.changed_ms))
    return Overwritten(
        after=tuple(after),
        meanwhile=tuple(meanwhile),
        moved=tuple(_moved(files[-NEWEST:])),
        cut=len(files) > NEWEST,
    )


def _moved(files: Sequence[NotedFile]) -> Iterator[tuple[str, str]]:
    """Pairs of the place that a file has left and the one in which it was read again, oldest first."""
    places: dict[tuple[str, int], str] = {}
    for file in files:
        if file.changed_ms is None or not file.path.startswith("file:"):
            continue
        path = local_path(file.path)
        before = places.setdefault((Path(path).name, file.changed_ms), path)
        if before != path and not Path(before).exists():
            yield before, path


def _read_by(file: NotedFile, read: Sequence[Reading]) -> int:
    """The latest time at which the batch of a file was committed."""
    at = bisect.bisect_left(read, file.note or 0, key=lambda reading: reading.note)
    return read[min(at, len(read) - 1)].committed_ms


def _written_ms(path: str) -> int | None:
    try:
        return Path(path).stat().st_mtime_ns // 1_000_000
    except OSError:
        return None


def _some(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1:,} more"
