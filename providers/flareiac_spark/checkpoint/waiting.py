"""How many files wait to be read by a query? The files of its folder that its checkpoint has not noted. Touches the disk, by reading only.

Only where Spark lists as simply as this: one folder without patterns, without folders in it, without options that leave files out.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from flareiac_spark.checkpoint.disk import batches, files_in

_PATTERN: Final = frozenset("*?[{")
_OTHER_LISTING: Final = frozenset(
    name.lower() for name in ("recursiveFileLookup", "pathGlobFilter", "maxFileAge", "modifiedAfter", "modifiedBefore", "fileNameOnly")
)
_OLDEST_MS: Final = 7 * 24 * 3_600_000
"""Spark passes over files that are older than the newest one that it has seen by more than this (``maxFileAge``)."""


def files_waiting(checkpoint: Path, index: int, folder: Path, options: Mapping[str, str]) -> int | None:
    """Files that source ``index`` of a checkpoint has not taken into a batch; None where that cannot be known. Raises ``Damaged``."""
    if _PATTERN & set(str(folder)) or _OTHER_LISTING & {name.lower() for name in options}:
        return None
    noted, newest = _noted(checkpoint / "sources" / str(index))
    waiting = 0
    try:
        for path, changed_ms in _listed(folder):
            if path not in noted and changed_ms >= newest - _OLDEST_MS:
                waiting += 1
    except (OSError, _Nested):
        return None
    return waiting


class _Nested(Exception):
    """A folder in the folder: whether Spark reads it depends on its name and on all others."""


def _listed(folder: Path) -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(("_", ".")):
                continue
            if not entry.is_file():
                raise _Nested
            yield entry.path, int(entry.stat().st_mtime * 1000)


def _noted(log: Path) -> tuple[set[str], int]:
    """The files of a source's log, and the time of the newest in ms since 1970. Every so many entries one holds all before it."""
    numbers = batches(log.parent, log.name)
    compact = max((number for number in numbers if (log / f"{number}.compact").exists()), default=None)
    names = [str(number) for number in numbers if compact is None or number > compact]
    entries = [entry for name in ([] if compact is None else [f"{compact}.compact"]) + names for entry in files_in(log / name)]
    paths = {"/" + unquote(str(entry.get("path", "")).removeprefix("file:")).lstrip("/") for entry in entries}
    return paths, max((entry["timestamp"] for entry in entries if isinstance(entry.get("timestamp"), int)), default=0)
