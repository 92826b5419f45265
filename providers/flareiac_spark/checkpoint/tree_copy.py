"""Copies the files of a checkpoint to another place and proves the copy, file by file. Touches disks and
buckets; never writes in the place that it copies from.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from flareiac.kernel.durable_files import READABLE_DIRECTORY_MODE, make_directory, sync_directory
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.notes_beside import NOTES
from flareiac_spark_runtime.checkpoint_log import MANAGED_BY
from flareiac_spark_runtime.storage import ObjectPath, Place, make_folder, replace_whole

_AT_ONCE: Final = 8
_REPORTED_AFTER: Final = 200
_LARGE: Final = 64 * 1024 * 1024
_PART: Final = 1024 * 1024
_CHECKSUM: Final = re.compile(r"(^|/)\.[^/]+\.crc$")
_START_NOTE: Final = re.compile(r"\.g[0-9]{4,9}\.starts\.json")


class CopyFailed(Exception):
    """The copy is not what it is to be, or the original is not what it was."""


class CopyCancelled(Exception):
    """Someone asked to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file: its size in bytes, and a stamp that changes when it is written again."""

    size: int
    stamp: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The files and folders below a place, by relative path. ``folders``: all of them, empty ones too."""

    files: Mapping[str, FileEntry]
    folders: frozenset[str]

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files.values())

    @property
    def filled(self) -> frozenset[str]:
        """The folders with a file in them, or further down."""
        folders: set[str] = set()
        for path in self.files:
            parts = path.split("/")[:-1]
            folders |= {"/".join(parts[: end + 1]) for end in range(len(parts))}
        return frozenset(folders)

    @property
    def marks_inside(self) -> list[str]:
        """The folders below that are checkpoints of their own."""
        return sorted(path.rpartition("/")[0] for path in self.files if path.endswith(f"/{MANAGED_BY}"))


def tree_of(place: Place) -> Tree:
    """Everything below a place but its mark; empty where there is nothing, and without what Spark deletes
    meanwhile. Follows symbolic links. Raises ``OSError``.
    """
    if isinstance(place, ObjectPath):
        return _objects(place)
    files: dict[str, FileEntry] = {}
    folders: set[str] = set()
    root = Path(str(place))
    if root.is_dir():
        _walk(root, "", (), files, folders)
    return Tree(files=files, folders=frozenset(folders))


def _objects(place: ObjectPath) -> Tree:
    files: dict[str, FileEntry] = {}
    folders: set[str] = set()
    for stored_object in place.below():
        path = stored_object.key.removeprefix(place.prefix)
        if path.endswith("/"):
            folders.add(path.rstrip("/"))
        elif path and path != MANAGED_BY:
            files[path] = FileEntry(size=stored_object.size, stamp=stored_object.revision)
        parts = path.rstrip("/").split("/")[:-1]
        folders |= {"/".join(parts[: end + 1]) for end in range(len(parts))}
    return Tree(files=files, folders=frozenset(folders - {""}))


def _walk(
    folder: Path,
    below: str,
    above: tuple[tuple[int, int], ...],
    files: dict[str, FileEntry],
    folders: set[str],
) -> None:
    folder_stat = folder.stat()
    key = (folder_stat.st_dev, folder_stat.st_ino)
    if key in above:
        raise OSError(f"{folder} is a link to a folder around it")
    for name in sorted(entry.name for entry in folder.iterdir()):
        path, relative = folder / name, f"{below}{name}"
        with contextlib.suppress(FileNotFoundError):
            if path.is_dir():
                _walk(path, f"{relative}/", (*above, key), files, folders)
                folders.add(relative)
            elif relative != MANAGED_BY:
                file_stat = path.stat()
                files[relative] = FileEntry(
                    size=file_stat.st_size, stamp=(file_stat.st_mtime_ns, file_stat.st_ino)
                )


def beside(place: Place, *, alone: bool) -> Iterator[tuple[Place, str]]:
    """The notes that stand beside a folder that is itself the checkpoint of a query (``alone``), each with
    what comes after the name of the folder. Those of other checkpoints are inside. Raises ``OSError``.
    """
    if alone:
        for note in NOTES:
            path = place.with_name(f".{place.name}.{note}.json")
            if path.is_file():
                yield path, note


def copy_tree(
    source: Place,
    target: Place,
    progress: Callable[[str], None],
    cancel: threading.Event,
    *,
    alone: bool,
) -> Tree:
    """Makes everything below ``target`` equal to what is below ``source`` but for the marks, and returns what
    was copied: an earlier copy that was interrupted is completed, and what is no part of it goes. What was
    written is read again and compared. Raises ``OSError``, ``CopyFailed`` and ``CopyCancelled``.
    """
    before = tree_of(source)
    work = _Copying(source, target, cancel)
    wanted = copied_of(before, source, target).files
    for path in tree_of(target).files:
        if path not in wanted:
            (target / path).unlink(missing_ok=True)
    for folder in sorted(before.folders):
        work.make_folder(folder, empty=folder not in before.filled)
    _copy_files(work, list(wanted), progress)
    for old, note in beside(source, alone=alone):
        work.put(old, target.with_name(f".{target.name}.{note}.json"))
    work.settle_folders(before.folders)
    if tree_of(source) != before:
        raise CopyFailed(
            f"Files in {source} changed while they were copied: something writes there, although every job "
            "that FlareIaC knows of has stopped"
        )
    _compare(tree_of(target), work.written, target)
    return Tree(files=wanted, folders=before.folders)


def _copy_files(work: "_Copying", paths: Sequence[str], progress: Callable[[str], None]) -> None:
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="copy") as pool:
        try:
            for done, _copied in enumerate(pool.map(work.copy, paths), start=1):
                reach("checkpoint-move.file")
                if done % _REPORTED_AFTER == 0:
                    progress(f"copied {done} of {len(paths)} files")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _compare(there: Tree, written: Mapping[str, int], target: Place) -> None:
    """On the very list: no file more, none less, each as long as it was written."""
    sizes = {path: file.size for path, file in there.files.items()}
    wrong = sorted(path for path in {*sizes, *written} if sizes.get(path) != written.get(path))
    if wrong:
        raise CopyFailed(f"{target / wrong[0]} is not what was written there a moment ago")


def copied_of(tree: Tree, source: Place, target: Place) -> Tree:
    """The part of a tree that is copied. Hadoop's checksums of local files (``.NAME.crc``) are not, where one
    end is a bucket: nothing keeps them true there, and back on a disk one that is not true makes its file
    unreadable. Without it a file is read all the same.
    """
    if not isinstance(source, ObjectPath) and not isinstance(target, ObjectPath):
        return tree
    files = {path: file for path, file in tree.files.items() if not _CHECKSUM.search(path)}
    return Tree(files=files, folders=tree.folders)


class _Copying:
    """One copy on its way. ``written``: the length of each file at the target, in bytes."""

    def __init__(self, source: Place, target: Place, cancel: threading.Event) -> None:
        self._source, self._target, self._cancel = source, target, cancel
        self._local = not isinstance(source, ObjectPath) and not isinstance(target, ObjectPath)
        self._one_large = threading.Lock()
        self.written: dict[str, int] = {}

    def make_folder(self, folder: str, *, empty: bool) -> None:
        place = self._target / folder
        if isinstance(place, ObjectPath):
            if empty:  # with a file in it a folder of a bucket is there by itself
                make_folder(place)
        else:
            make_directory(Path(str(place)), READABLE_DIRECTORY_MODE, durable=False)

    def copy(self, path: str) -> None:
        if self._cancel.is_set():
            raise CopyCancelled
        self.written[path] = self.put(self._source / path, self._target / path)

    def put(self, old: Place, new: Place) -> int:
        """Copies one file unless it is there, compares it, and returns its length."""
        if self._local and not _START_NOTE.fullmatch(old.name):
            return _put_local(Path(str(old)), Path(str(new)))
        if old.stat().st_size < _LARGE:
            return self._put_whole(old, new)
        with self._one_large:
            return self._put_whole(old, new)

    def _put_whole(self, old: Place, new: Place) -> int:
        content = self._respelled(old.name, old.read_bytes())
        digest = hashlib.sha256(content).digest()
        if not (new.is_file() and hashlib.sha256(new.read_bytes()).digest() == digest):
            replace_whole(new, content, mode=0o644)
            _given_like(old, new)
        if hashlib.sha256(new.read_bytes()).digest() != digest:
            raise CopyFailed(f"{new} reads otherwise than what was written there a moment ago")
        return len(content)

    def _respelled(self, name: str, content: bytes) -> bytes:
        """The note of a generation names the folder of the one before it, which moves too."""
        if not _START_NOTE.fullmatch(name):
            return content
        old, new = (
            json.dumps(f"{place}/", ensure_ascii=False)[:-1] for place in (self._source, self._target)
        )
        return content.replace(old.encode(), new.encode())

    def settle_folders(self, folders: frozenset[str]) -> None:
        """Local folders get owner and mode of the old ones, and their names are durable."""
        if isinstance(self._target, ObjectPath):
            return
        for folder in ("", *sorted(folders)):
            old, new = self._source / folder if folder else self._source, self._target / folder
            _given_like(old, new)
            sync_directory(Path(str(new)))


def _put_local(old: Path, new: Path) -> int:
    digest, size = _digest(old)
    if not new.is_file() or new.stat().st_size != size or _digest(new)[0] != digest:
        part = new.with_name(f".{new.name}.{os.getpid()}-{threading.get_native_id()}.part")
        try:
            with old.open("rb") as reading, part.open("wb") as writing:
                shutil.copyfileobj(reading, writing, _PART)
                writing.flush()
                os.fsync(writing.fileno())
            _given_like(old, part)
            part.replace(new)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        if _digest(new) != (digest, size):
            raise CopyFailed(f"{new} reads otherwise than {old}")
    return size


def _digest(path: Path) -> tuple[bytes, int]:
    sha256, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while part := file.read(_PART):
            sha256.update(part)
            size += len(part)
    return sha256.digest(), size


def _given_like(old: Place, new: Place) -> None:
    """The same owner and mode, where both are local and this user may give them: the application of another
    user goes on writing there.
    """
    if isinstance(old, ObjectPath) or isinstance(new, ObjectPath):
        return
    was = Path(str(old)).stat()
    Path(str(new)).chmod(was.st_mode & 0o7777)
    if os.geteuid() == 0:
        os.chown(str(new), was.st_uid, was.st_gid)
