"""A look at a streamed folder before its files are read. Touches the disk, by reading only. Keeps names of
files and of fields, never a value.
"""

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.samples import FieldsWithoutColumn, SampleRead, judged
from flareiac_spark_runtime.sources.option_names import is_on, option
from flareiac_spark_runtime.sources.path_patterns import is_pattern
from flareiac_spark_runtime.sources.resolved import SpecColumn

SINK_LOG: Final = "_spark_metadata"
"""The folder of the log of Spark's own sink."""
_MOST: Final = 20_000
"""Files that are looked at."""
_SAMPLED: Final = 5
"""The newest files, which are opened."""
_BYTES: Final = 64 * 1024
"""Bytes of a file that are looked at."""
_LINES: Final = 100
_GLOB: Final = frozenset("[]{}*?\\")
_KEY: Final = re.compile(r"([^=/]+)=.*", re.DOTALL)
_OTHER_CSV: Final = ("sep", "delimiter", "quote", "encoding", "charset")
"""Options with which a header line is not looked at."""
_LINE_END: Final = re.compile(rb"[\r\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesLeft:
    """Files that no committed batch has read: those that the next ones read, and those that are too old."""

    waiting: int = 0
    too_old: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LandedFile:
    """A file that a query may read; ``changed_ms`` in ms since 1970."""

    path: str
    changed_ms: int
    below: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderDiffers:
    """The first line of a file, and whether it only has the columns in another order."""

    path: str
    header: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderLine:
    """A file whose first line holds the names of the columns, where no header line is expected."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLook:
    """``folder`` is absolute. ``globs`` are files with a glob character in their names, ``below`` those in
    folders below it, ``keys`` what the names of those folders hold (``dt=...``), ``old`` those that no query
    reads because of their age. Each with the number of all and one example. ``cut``: there are more files.
    """

    folder: str
    files: int = 0
    globs: tuple[int, str] = (0, "")
    below: tuple[int, str] = (0, "")
    keys: tuple[str, ...] = ()
    old: tuple[int, str] = (0, "")
    sink_log: bool = False
    fields: tuple[FieldsWithoutColumn, ...] = ()
    header: HeaderDiffers | HeaderLine | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderNote:
    """A note on the folder of a stream, as a sentence. ``unread``: rows are missing or doubled."""

    code: Code
    text: str
    unread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRead:
    """The way a stream reads a folder. ``json_lines``: whether each line is a record of JSON. ``oldest_ms``:
    the time before which files are passed over, in ms since 1970, None where none is; ``read`` are the paths
    of files that were read.
    """

    folder: Path
    format: str
    options: Mapping[str, str]
    columns: tuple[SpecColumn, ...]
    json_lines: bool
    oldest_ms: int | None = None
    read: frozenset[str] = frozenset()


def looked_at(how: FilesRead) -> FolderLook | None:
    """None for a pattern, and where the folder is not there or cannot be listed."""
    if is_pattern(how.folder):
        return None
    try:
        files, cut = _listed(how.folder)
    except OSError:
        return None
    oldest = how.oldest_ms
    old = [] if oldest is None else [f for f in files if f.changed_ms < oldest and f.path not in how.read]
    below = [file for file in files if file.below]
    newest = sorted(files, key=lambda file: file.changed_ms, reverse=True)[:_SAMPLED]
    return FolderLook(
        folder=str(how.folder),
        files=len(files),
        globs=_counted([file for file in files if _GLOB & set(Path(file.path).name)]),
        below=_counted(below),
        keys=tuple(dict.fromkeys(key for file in below for key in _keys(how.folder, file.path))),
        old=_counted(old),
        sink_log=(how.folder / SINK_LOG).exists(),
        fields=_fields(how, newest),
        header=_header(how, newest),
        cut=cut,
    )


def _counted(files: Sequence[LandedFile]) -> tuple[int, str]:
    return (len(files), files[0].path) if files else (0, "")


def _listed(folder: Path) -> tuple[list[LandedFile], bool]:
    """The files that are not hidden, and whether there are more. Raises ``OSError``."""
    landed_files: list[LandedFile] = []
    with os.scandir(folder):
        pass
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        for name in sorted(names):
            if _is_hidden(name):
                continue
            if len(landed_files) >= _MOST:
                return landed_files, True
            path = Path(at, name)
            try:
                changed = int(path.stat().st_mtime * 1000)
            except OSError:
                continue
            landed_files.append(LandedFile(path=str(path), changed_ms=changed, below=Path(at) != folder))
    return landed_files, False


def _is_hidden(name: str) -> bool:
    """Returns True where Spark passes over a name: not over one that holds a column."""
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")


def _keys(folder: Path, path: str) -> Iterator[str]:
    for part in Path(path).relative_to(folder).parts[:-1]:
        if (match := _KEY.fullmatch(part)) is not None:
            yield match[1]


def _fields(how: FilesRead, files: Sequence[LandedFile]) -> tuple[FieldsWithoutColumn, ...]:
    if not how.json_lines:
        return ()
    lines = [line for file in files for line in _beginning(file.path).splitlines()[:_LINES] if line.strip()]
    findings = judged(SampleRead(format="json", columns=how.columns), str(how.folder), lines)
    return tuple(finding for finding in findings if isinstance(finding, FieldsWithoutColumn))


def _header(how: FilesRead, files: Sequence[LandedFile]) -> HeaderDiffers | HeaderLine | None:
    if how.format != "csv" or any(option(how.options, name) is not None for name in _OTHER_CSV):
        return None
    names = [column.name.lower() for column in how.columns]
    expected = is_on(how.options, "header")
    for file in files:
        header = _names_in(_beginning(file.path))
        has_names = set(names) <= {name.strip().lower() for name in header}
        if not expected and has_names and names:
            return HeaderLine(path=file.path)
        if expected and header and [name.lower() for name in header] != names:
            return HeaderDiffers(path=file.path, header=header)
    return None


def _names_in(content: bytes) -> tuple[str, ...]:
    """The cells of the first line of a file in CSV; none where it has no such line. Spark ends a line at each
    of ``\\n``, ``\\r`` and both.
    """
    line = _LINE_END.split(content, maxsplit=1)[0].decode("utf-8-sig", errors="replace")
    try:
        return tuple(next(iter(csv.reader([line])), []))
    except csv.Error:
        return ()


def _beginning(path: str) -> bytes:
    """The first bytes of a file that is whole or packed by gzip; nothing where it cannot be read."""
    try:
        with gzip.open(path) if path.endswith(".gz") else Path(path).open("rb") as file:
            content: bytes = file.read(_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""
    return content if len(content) < _BYTES else content.rpartition(b"\n")[0]
