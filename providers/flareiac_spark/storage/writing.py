"""Writes in both kinds of places. A local file is replaced atomically and durably; so is an object by its
server. A folder of objects cannot be renamed at once: whoever moves one writes what makes it valid last.
"""

import shutil
from pathlib import Path

from flareiac.kernel.durable_files import FILE_MODE, make_directory, replace_file, sync_directory
from flareiac_spark.storage.object_path import ObjectPath
from flareiac_spark.storage.places import Place

_DELETED_AT_ONCE = 1000


def replace_whole(place: Place, content: bytes, mode: int = FILE_MODE) -> None:
    """Every reader sees the old content or the new one. ``mode`` is that of a local file. Raises
    ``OSError``.
    """
    if isinstance(place, ObjectPath):
        place.store.put(place.key, content)
    else:
        replace_file(_local(place), content, mode)


def make_folder(place: Place) -> None:
    """Makes a local folder durably; in object storage a folder comes with its first object."""
    if not isinstance(place, ObjectPath):
        make_directory(_local(place))


def copy_file(old: Place, new: Place) -> None:
    """Within one kind of storage; folders above it are made. Raises ``OSError``."""
    if isinstance(new, Path):
        new.parent.mkdir(parents=True, exist_ok=True)
    replace_whole(new, old.read_bytes())


def move_folder(old: Place, new: Place, last: str) -> None:
    """A folder gets another name, at once where it is local. In object storage the file ``last`` comes last,
    and the old folder is removed after it: until then the new one is not complete. Raises ``OSError``.
    """
    if isinstance(old, ObjectPath) and isinstance(new, ObjectPath):
        names = [item.key.removeprefix(old.prefix) for item in old.below()]
        for name in sorted(names, key=lambda name: (name == last, name)):
            copy_file(old / name, new / name)
        remove_tree(old)
    else:
        _local(old).rename(_local(new))
        sync_directory(_local(new).parent)


def remove_tree(place: Place, first: str | None = None) -> None:
    """Removes a folder with all that is in it; does nothing where there is none. ``first``: the object whose
    absence makes what is left no valid folder. Raises ``OSError``.
    """
    if not isinstance(place, ObjectPath):
        if place.exists():
            shutil.rmtree(_local(place))
        return
    if first is not None:
        place.store.delete([f"{place.prefix}{first}"])
    keys = [item.key for item in place.below()]
    for begin in range(0, len(keys), _DELETED_AT_ONCE):
        place.store.delete(keys[begin : begin + _DELETED_AT_ONCE])


def _local(place: Place) -> Path:
    if not isinstance(place, Path):
        raise TypeError(f"{place} is not a local path")
    return place
