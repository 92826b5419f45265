"""Files that are kept in the user's cache or beside the configuration, and complaints about places that
cannot be written.
"""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

from flareiac.kernel.data import parse_json
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.durable_files import (
    READABLE_DIRECTORY_MODE,
    READABLE_FILE_MODE,
    make_directory,
    replace_file,
)
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac_spark import codes


def write_atomically(path: Path, content: str) -> None:
    """Replaces a file as a whole; readers see the old or the new one. Raises ``Failure``."""
    try:
        make_directory(path.parent, READABLE_DIRECTORY_MODE)
        replace_file(path, content.encode(), mode=READABLE_FILE_MODE)
    except OSError as failure:
        raise not_writable(path, failure) from failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """The result for a file of this size, time of content, time of change (ns) and inode."""

    stamp: tuple[int, ...]
    found: str


def remembered(note: Path, file: Path, find: Callable[[Path], str | None]) -> str | None:
    """The result of ``find`` for a file; it is noted, and found again only when the file may be another one.
    Raises ``OSError`` where the file cannot be read.
    """
    stat = file.stat()
    # The time of the content can be set by the writer of a file; that of the change of the inode cannot.
    stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    with contextlib.suppress(OSError, ValueError):  # a cache is never a reason to fail
        known = decode(Note, parse_json(note.read_text(encoding="utf-8")))
        if known.stamp == stamp:
            return known.found
    result = find(file)
    if result is not None:
        with contextlib.suppress(Failure):
            write_atomically(note, json.dumps(encode(Note(stamp=stamp, found=result))))
    return result


def not_writable(path: Path, failure: OSError) -> Failure:
    """The failure to raise when a file cannot be written."""
    return Failure(
        error(
            codes.CACHE_NOT_WRITTEN,
            f"{path}: {failure.strerror or failure}. Make room or give write access, or set XDG_CACHE_HOME "
            "to a directory that can be written.",
        )
    )
