"""Writes in both kinds of places. A local file is replaced atomically and durably; so is an object by its
server. A folder of objects cannot be renamed at once.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flareiac.kernel.durable_files import (
    DIRECTORY_MODE,
    FILE_MODE,
    READABLE_DIRECTORY_MODE,
    make_directory,
    replace_file,
    sync_directory,
)
from flareiac_spark_runtime.storage.object_path import ObjectPath
from flareiac_spark_runtime.storage.places import Place

_DELETED_AT_ONCE, _AT_ONCE = 1000, 8


def replace_whole(place: Place, content: bytes, mode: int = FILE_MODE) -> None:
    """Every reader sees the old content or the new one; folders above are made. ``mode`` is that of a local
    file. Raises ``OSError``.
    """
    if isinstance(place, ObjectPath):
        place.store.put(place.key, content)
    else:
        make_directory(_local(place).parent, _folder_mode(mode))
        replace_file(_local(place), content, mode)


def _folder_mode(mode: int) -> int:
    """That of the folders that are made for a file: who may read it may enter them."""
    return DIRECTORY_MODE if mode == FILE_MODE else READABLE_DIRECTORY_MODE


def make_folder(place: Place) -> None:
    """Makes a folder that may stay empty, and those above it; others may read what is in it, whatever the
    umask says. Raises ``OSError``.
    """
    if isinstance(place, ObjectPath):
        place.store.put(place.prefix, b"")
    else:
        make_directory(_local(place), READABLE_DIRECTORY_MODE)


def move_folder(old: Place, new: Place) -> None:
    """A folder gets another name, at once where it is local. In object storage its files are copied one by
    one: who moves one has said before what an unfinished one is. Raises ``OSError``.
    """
    if isinstance(old, ObjectPath) and isinstance(new, ObjectPath):
        names = [listed.key.removeprefix(old.prefix) for listed in old.below()]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: _copy_object(old, new, name), names))
        remove_tree(old)
    else:
        _local(old).rename(_local(new))
        sync_directory(_local(new).parent)


def _copy_object(old: ObjectPath, new: ObjectPath, name: str) -> None:
    version = old.store.get(f"{old.prefix}{name}")
    if version is not None:
        new.store.put(f"{new.prefix}{name}", version.content)


def remove_tree(place: Place) -> None:
    """Removes a folder with all that is in it; does nothing where there is none. Raises ``OSError``."""
    if not isinstance(place, ObjectPath):
        if place.exists():
            shutil.rmtree(_local(place))
        return
    keys = [listed.key for listed in place.below()]
    for begin in range(0, len(keys), _DELETED_AT_ONCE):
        place.store.delete(keys[begin : begin + _DELETED_AT_ONCE])


def _local(place: Place) -> Path:
    if not isinstance(place, Path):
        raise TypeError(f"{place} is not a local path")
    return place
