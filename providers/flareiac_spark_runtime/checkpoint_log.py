"""The logs of a checkpoint, in Spark 4's layout: numbered files with their version in the first line. Touches
the disk, by reading only.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.storage import Place

_VERSION: Final = re.compile(r"v[0-9]{1,4}")
NUMBER: Final = re.compile(r"[0-9]{1,18}")
_LONG: Final = 2**63
_OFFSETS: Final = ("v1",)
COMMITS: Final = ("v1", "v2")
_FILES: Final = ("v1",)
OPERATOR: Final = ("v1", "v2")
"""Versions that Spark 4.1 writes and reads, by log."""
MANAGED_BY: Final = "managed-by.json"
"""The file that says which state manages a checkpoint. With ``ARRIVING_FROM`` or ``MOVED_TO`` in it no query
starts there: one of two folders of a checkpoint that moves.
"""
ARRIVING_FROM: Final = "arriving_from"
MOVED_TO: Final = "moved_to"


class Damaged(Exception):
    """A file of the checkpoint cannot be understood or read."""

    def __init__(self, path: Place, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class Unreachable(Damaged):
    """Nothing is known to be wrong with the checkpoint: it cannot be read now, or not by this user."""


class TooNew(Damaged):
    """A file of the checkpoint is in a layout that a newer Spark writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsOnDisk:
    """One entry of ``offsets``: what was in force, and the position of each source as Spark wrote it (None:
    none yet).
    """

    header: Mapping[str, Any]
    positions: tuple[str | None, ...]


def read_offsets(folder: Place, batch: int) -> OffsetsOnDisk:
    """The record of the offsets that a batch was to read. Raises ``Damaged``."""
    path = folder / "offsets" / str(batch)
    lines = lines_of(path, _OFFSETS)
    if len(lines) < 3:
        raise Damaged(path, "it ends before the offset of a source")
    header = json_object(lines[1], path)
    if not isinstance(header.get("conf", {}), dict):
        raise Damaged(path, "its settings are no object")
    for line in lines[2:]:
        if line != "-":
            any_json(line, path)
    return OffsetsOnDisk(header=header, positions=tuple(None if line == "-" else line for line in lines[2:]))


def batches(folder: Place, log: str) -> list[int]:
    """Numbers of the entries of a log, such as ``offsets``, ascending. Raises ``Damaged``."""
    return sorted(numbers(folder / log))


def files_in(path: Place) -> list[dict[str, Any]]:
    """The entries of one file of a file source's log: ``path``, ``timestamp``, ``batchId``. Raises
    ``Damaged``.
    """
    return [json_object(line, path) for line in lines_of(path, _FILES)[1:]]


def newest(log: Place) -> int | None:
    """The newest entry of a log."""
    return max(numbers(log), default=None)


def numbers(log: Place) -> set[int]:
    """Batches of a log, compacted ones too; checksums and temporary files are none."""
    return {
        int(name.removesuffix(".compact"))
        for name in names_in(log)
        if NUMBER.fullmatch(name.removesuffix(".compact"))
    }


def first_entries(folder: Place) -> Iterator[Place]:
    """The first entry of the log of each source that has one, in order of the sources."""
    sources = folder / "sources"
    for name in sorted(name for name in names_in(sources) if NUMBER.fullmatch(name)):
        if (entry := sources / name / "0").is_file():
            yield entry


def names_in(folder: Place) -> list[str]:
    """The names of the entries of a folder, empty where the folder does not exist."""
    try:
        return [entry.name for entry in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def lines_of(path: Place, versions: tuple[str, ...]) -> list[str]:
    """The lines of an entry in one of these versions. Raises ``Damaged``."""
    lines = text_of(path).removesuffix("\n").split("\n")
    if lines == [""]:
        raise Damaged(path, "it is empty")
    version = lines[0]
    if version not in versions and _VERSION.fullmatch(version) and int(version[1:]) > int(versions[-1][1:]):
        raise TooNew(path, f"it is in version {version}, and Spark 4.1 reads up to {versions[-1]}")
    if version not in versions:
        raise Damaged(path, f"its first line is {version!r:.40}, expected {' or '.join(versions)}")
    return lines


def text_of(path: Place) -> str:
    """The content of a file of UTF-8 text. Raises ``Damaged``."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def json_object(text: str, path: Place) -> dict[str, Any]:
    """A line as a JSON object. Raises ``Damaged``."""
    content = any_json(text, path)
    if not isinstance(content, dict):
        raise Damaged(path, f"it holds {text!r:.40}, expected a JSON object")
    return content


def any_json(text: str, path: Place) -> Any:
    """A line as JSON. Raises ``Damaged``."""
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        raise Damaged(path, f"it is not JSON: {error}") from None


def whole(value: Any) -> int | None:
    """A whole number of JSON that a long of the JVM holds; None for anything else."""
    is_long = isinstance(value, int) and not isinstance(value, bool) and -_LONG <= value < _LONG
    return value if is_long else None


def unreadable(place: Place, error: Exception) -> Damaged:
    """The error for a place that could not be read or does not hold text: ``Damaged`` or ``Unreachable``."""
    if not isinstance(error, OSError):
        return Damaged(place, "it is not text")
    why = f"it cannot be read: {error.strerror or error}"
    if isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError):
        return Damaged(place, why)
    return Unreachable(place, why)
