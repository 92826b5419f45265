"""Compares the files that a removal would delete with those that the table names: by what they are, not by
how they are spelled.

Touches the table's files through the table's own file access and, where a location is a local path, through
the file system.
"""

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from flareiac.sdk.table_tasks import TableWork, TaskRefusal
from flareiac_iceberg_runtime.file_names import name_of, plain
from flareiac_iceberg_runtime.metadata_content import current_metadata

_TABLES: Final = (("all_manifests", "path"), ("all_files", "file_path"))
"""Metadata tables of all snapshots, and the column of each that holds a location."""


def refuse_live(work: TableWork, condemned: Collection[str]) -> None:
    """Raises ``TaskRefusal`` if one of these files is, or could be, one that the table names now."""
    if not condemned:
        return
    suspects = Suspects(work.table.io(), condemned)
    alive = [(path, live) for live in _named(work) if (path := suspects.same_as(live)) is not None]
    if not alive:
        return
    path, live = alive[0]
    more = f", and {len(alive) - 1} more" if len(alive) > 1 else ""
    raise TaskRefusal(
        "LIVE_FILES",
        f"{path} was to be removed and is, or could be, the file that the table names as {live}{more}. The "
        "same place is written in two ways: through a link, a mount, another scheme or escapes.",
    )


def _named(work: TableWork) -> Iterator[str]:
    """The location of every file that a snapshot, a statistics entry or the metadata log names."""
    work.table.refresh()
    location, metadata = current_metadata(work)
    yield location
    yield from metadata.named
    for table, column in _TABLES:
        rows = work.session.sql(f"SELECT {column} FROM {work.name}.{table}")  # noqa: S608 - the name is quoted
        for row in rows.toLocalIterator():
            yield str(row[0])


class Suspects:
    """Files that are to be deleted, by all that shows that another location means one of them."""

    def __init__(self, io: Any, condemned: Iterable[str]) -> None:
        self._io = io
        self._spelled: dict[str, str] = {}
        self._nodes: dict[tuple[int, int], str] = {}
        self._names: dict[str, list[str]] = {}
        for path in condemned:
            self._spelled[plain(path)] = path
            self._names.setdefault(_folded(path), []).append(path)
            if (node := _node(path)) is not None:
                self._nodes[node] = path

    def same_as(self, live: str) -> str | None:
        """The listed path that is the file of this location, or that could be, since name and length are the
        same. None without one.

        Two mounts of one export, or two names of one bucket, show nothing but that.
        """
        if (path := self._spelled.get(plain(live))) is not None:
            return path
        node = _node(live) if self._nodes else None
        if node is not None and (path := self._nodes.get(node)) is not None:
            return path
        return next((path for path in self._names.get(_folded(live), ()) if self._as_long(path, live)), None)

    def _as_long(self, path: str, live: str) -> bool:
        """True also where a length is not known."""
        lengths = [_length(self._io, each) for each in (path, live)]
        return None in lengths or lengths[0] == lengths[1]


def _folded(location: str) -> str:
    """The name of a file, whatever its escapes, letter case and composition of characters."""
    return unicodedata.normalize("NFC", unquote(name_of(location))).casefold()


def _node(location: str) -> tuple[int, int] | None:
    """Device and inode of a local file, None of any other."""
    text = plain(location)
    if ":" in text.partition("/")[0]:
        return None
    for spelled in dict.fromkeys((text, unquote(text))):
        try:
            known = Path(spelled).stat()
        except (OSError, ValueError):
            continue
        return known.st_dev, known.st_ino
    return None


def _length(io: Any, location: str) -> int | None:
    try:
        return int(io.newInputFile(location).getLength())
    except Exception:  # noqa: BLE001 - whatever the reason: the length is not known
        return None
