"""The oracle of checkpoints in object storage: whatever a test reads or prepares on the disk is copied into a
bucket, read or prepared there, and has to give the same.
"""

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from flareiac_spark.generation.prepare import StartPositions
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.storage import ObjectPath, Place
from tests.support.memory_objects import MemoryObjects

READERS: Final = ("contents", "folder_state", "manager_of", "read_checkpoint", "read_query_positions",
                  "read_source_positions", "size_of")  # fmt: skip
_PLACE: Final = re.compile(r"(?:PosixPath|ObjectPath)\('([^']*)'\)")


def mirrored(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which also does the same on a copy in the bucket and compares."""
    return functools.wraps(function)(
        functools.partial(_prepare if name == "prepare_folder" else _read, function)
    )


def _read(function: Callable[..., Any], folder: Place, *more: Any) -> Any:
    there = _uploaded(folder)
    if there is None or not isinstance(folder, Path):
        return function(folder, *more)
    here, mirror = _outcome(function, folder, *more), _outcome(function, there, *more)
    assert _shown(mirror, str(there.parent)) == _shown(here, str(folder.parent))
    if isinstance(here, Exception):
        raise here
    return here


def _prepare(function: Callable[..., Any], folder: Place, beginning: StartPositions) -> None:
    there = _uploaded(folder)
    if there is None or not isinstance(folder, Path):
        function(folder, beginning)
        return
    copied = beginning.copied
    if copied is not None:
        copied = replace(copied, folder=there.parent / copied.folder.name)
    after = None if beginning.after is None else there.parent / beginning.after.name
    here = _outcome(function, folder, beginning)
    mirror = _outcome(function, there, replace(beginning, copied=copied, after=after))
    assert _shown(mirror, str(there.parent)) == _shown(here, str(folder.parent))
    assert _tree(there) == _tree(folder)
    if isinstance(here, Exception):
        raise here


def _uploaded(folder: Place) -> ObjectPath | None:
    """The folder and what is beside it, copied; None where it cannot be: one that cannot be read, links."""
    if not isinstance(folder, Path):
        return None
    store = MemoryObjects()
    try:
        for path in sorted(folder.parent.rglob("*")):
            if path.is_symlink():
                return None
            if path.is_dir() and not any(path.iterdir()):
                store.put(f"root/{path.relative_to(folder.parent).as_posix()}/", b"")
            if path.is_file():
                store.put(f"root/{path.relative_to(folder.parent).as_posix()}", path.read_bytes())
    except OSError:
        return None
    return ObjectPath(store, f"root/{folder.name}")


def _tree(folder: Place) -> dict[str, Any] | None:
    if not folder.exists():
        return None
    return {item.name: _tree(item) if item.is_dir() else item.read_bytes() for item in folder.iterdir()}


def _outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (Damaged, OSError, AssertionError) as error:
        return error


def _shown(outcome: Any, root: str) -> str:
    what = f"{type(outcome).__name__}: {outcome}" if isinstance(outcome, Exception) else repr(outcome)
    return _PLACE.sub(r"\1", what).replace(root, "ROOT")
