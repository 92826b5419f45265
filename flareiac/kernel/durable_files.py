"""File writes that survive a kill at any byte and a full disk: either all of it is there afterwards, or what
was there before. Touches the disk; imports the standard library alone, because the Spark driver uses it, too.
"""

import os
import threading
from contextlib import suppress
from pathlib import Path

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
READABLE_FILE_MODE = 0o644
READABLE_DIRECTORY_MODE = 0o755
"""The mode of directories that others may read but not write, whatever the umask is: jars, checkpoints."""


def make_directory(path: Path, mode: int = DIRECTORY_MODE, *, durable: bool = True) -> None:
    """Makes a directory, with those above it that are missing: by default such that only their owner may
    enter them.
    """
    if path.is_dir():
        return
    make_directory(path.parent, mode, durable=durable)
    with suppress(FileExistsError):
        path.mkdir(mode=mode)
        if durable:
            sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Makes the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_all(handle: int, content: bytes) -> None:
    """Writes every byte (one call to the system may write fewer)."""
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def write_beside(path: Path, content: bytes, mode: int = FILE_MODE, *, durable: bool = True) -> Path:
    """Writes the content to a new file beside ``path`` and returns its path. Leaves nothing when it
    fails: on a full disk, half a file would take the room that the next try needs.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}.tmp")
    temporary.unlink(missing_ok=True)
    write_new(temporary, content, mode, durable=durable)
    return temporary


def write_new(path: Path, content: bytes, mode: int = FILE_MODE, *, durable: bool = True) -> None:
    """Writes a file that is not there yet; its name is not durable by that. Leaves nothing when it fails."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        try:
            write_all(handle, content)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def move_into_place(temporary: Path, path: Path) -> None:
    """Puts a finished file under its name, at once and durably."""
    temporary.replace(path)
    sync_directory(path.parent)


def replace_file(path: Path, content: bytes, mode: int = FILE_MODE, *, durable: bool = True) -> None:
    """Replaces a whole file at once. What is not ``durable`` may be lost with the power: it can be made
    again, and is not worth waiting for the disk.
    """
    temporary = write_beside(path, content, mode, durable=durable)
    if durable:
        move_into_place(temporary, path)
    else:
        temporary.replace(path)


def remove_file(path: Path) -> None:
    """Removes a file durably, if it is there."""
    if path.exists():
        path.unlink()
        sync_directory(path.parent)


def append_at(path: Path, offset: int, content: bytes) -> None:
    """Makes the content durable at ``offset``, which becomes the end of what was there; what stood behind it
    is cut off.

    When the write fails half-way the file is cut back to ``offset``.
    """
    created = not path.exists()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        os.ftruncate(handle, offset)
        os.lseek(handle, offset, os.SEEK_SET)
        try:
            write_all(handle, content)
            os.fsync(handle)
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, offset)
                os.fsync(handle)
            raise
    finally:
        os.close(handle)
    if created:
        sync_directory(path.parent)
