"""Counts the files that wait to be read by a query: those of its folder that no committed batch has read.
Touches the disk, by reading only.

Only where Spark lists as simply as this: one folder without patterns, without folders in it, without options
that leave files out.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from flareiac_spark.sources.files.batches_read import reached
from flareiac_spark.sources.folder_look import FilesLeft
from flareiac_spark_runtime.sources.files.notes import local_path, noted_files
from flareiac_spark_runtime.sources.path_patterns import is_pattern
from flareiac_spark_runtime.storage import Place

_OTHER_LISTING: Final = frozenset(
    name.lower()
    for name in (
        "recursiveFileLookup",
        "pathGlobFilter",
        "maxFileAge",
        "modifiedAfter",
        "modifiedBefore",
        "fileNameOnly",
    )
)
SEVEN_DAYS_MS: Final = 7 * 24 * 3_600_000
"""Spark passes over files that are older than the newest one that it has seen by more than this
(``maxFileAge``).
"""


def files_left(
    checkpoint: Place,
    index: int,
    folder: Path,
    options: Mapping[str, str],
    *,
    age_ms: int | None = SEVEN_DAYS_MS,
    below: bool = False,
) -> FilesLeft | None:
    """Files that no committed batch has read from source ``index``; None where that cannot be known.
    ``age_ms``: age from which files are passed over, ``below``: whether folders below it are read. Raises
    ``Damaged``.
    """
    if is_pattern(folder) or _OTHER_LISTING & {name.lower() for name in options}:
        return None
    read, newest = files_read(checkpoint, index)
    noted = {local_path(file.path) for file in noted_files(checkpoint / "sources" / str(index))}
    waiting = too_old = 0
    try:
        for path, changed_ms in _listed(folder, below=below):
            if path in read:
                continue
            if age_ms is None or changed_ms >= newest - age_ms:
                waiting += 1
            elif path not in noted:
                too_old += 1
    except (OSError, _Nested):
        return None
    return FilesLeft(waiting=waiting, too_old=too_old)


class _Nested(Exception):
    """A folder in the folder: whether Spark reads it depends on its name and on all others."""


def _listed(folder: Path, *, below: bool) -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(("_", ".")):
                continue
            if below and entry.is_dir():
                yield from _listed(Path(entry.path), below=below)
                continue
            if not entry.is_file():
                raise _Nested
            yield entry.path, int(entry.stat().st_mtime * 1000)


def files_read(checkpoint: Place, index: int) -> tuple[set[str], int]:
    """The files that committed batches have read, and the time of the newest one that was noted in ms since
    1970.
    """
    noted, last = list(noted_files(checkpoint / "sources" / str(index))), reached(checkpoint, index)
    paths = {local_path(file.path) for file in noted if file.note is None or file.note <= last}
    return paths, max((file.changed_ms for file in noted if file.changed_ms is not None), default=0)
