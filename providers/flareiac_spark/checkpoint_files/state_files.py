"""The check that the state of a checkpoint can still be loaded: its files are numbered by version, so that a
missing or an empty one shows. Reads only.

A store of version V needs the newest snapshot up to V (none for the empty beginning) and every change file
after it. A query that has committed batch N goes on from version N + 1 of each store. HDFS-backed stores
write ``V.snapshot`` and ``V.delta``; RocksDB stores write ``V.zip``, for each version or, with
``V.changelog``, now and then; it lists files in ``SSTs``. What else is inside a file is not looked at.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, Final

from flareiac.kernel.data import parse_json
from flareiac_spark_runtime.storage import Place

_SNAPSHOTS: Final = (".snapshot", ".zip")
_CHANGES: Final = (".delta", ".changelog")
_VERSIONED: Final = re.compile(r"(\d{1,18})(\.snapshot|\.zip|\.delta|\.changelog)")
_DEFAULT: Final = "default"


def broken_state(state: Place, operator: int, stores: list[Any], version: int) -> tuple[Place, str] | None:
    """The first file that one of an operator's stores lacks for a version, and what is wrong with it; None if
    there is none.
    """
    for folder in _folders(state / str(operator), stores):
        broken_file = _broken(folder, version)
        if broken_file is not None:
            return broken_file
    return None


def _folders(operator: Place, stores: list[Any]) -> Iterator[Place]:
    """The folder of each store of each partition."""
    for store in stores:
        match store:
            case {"storeName": str(name), "numPartitions": int(count)}:
                for partition in range(count):
                    yield operator / str(partition) if name == _DEFAULT else operator / str(partition) / name
            case _:
                pass


def _broken(folder: Place, version: int) -> tuple[Place, str] | None:
    try:
        sizes = {entry.name: entry.stat().st_size for entry in folder.iterdir() if entry.is_file()}
    except FileNotFoundError:
        sizes = {}
    if any("_" in name and not name.startswith((".", "_")) for name in sizes):
        return None  # versions with ids of their own, which the commit log names
    snapshot = _newest_snapshot(sizes, version)
    if snapshot is not None and (unfit := _unfit_snapshot(folder / snapshot, sizes[snapshot])) is not None:
        return unfit
    first = 1 if snapshot is None else int(snapshot.partition(".")[0]) + 1
    suffix = _suffix_of_changes(sizes)
    for number in range(first, version + 1):
        name = next((f"{number}{ending}" for ending in _CHANGES if f"{number}{ending}" in sizes), None)
        if name is None:
            return (
                folder / f"{number}{suffix}",
                f"it is not there, and the state of version {version} is built from it",
            )
        if sizes[name] == 0:
            return folder / name, "it is empty, and the state is built from it"
    return None


def _newest_snapshot(sizes: Mapping[str, int], version: int) -> str | None:
    snapshots = [
        (int(match.group(1)), name)
        for name in sizes
        if (match := _VERSIONED.fullmatch(name)) and match.group(2) in _SNAPSHOTS
    ]
    return max(((number, name) for number, name in snapshots if number <= version), default=(0, None))[1]


def _unfit_snapshot(path: Place, size: int) -> tuple[Place, str] | None:
    if size == 0:
        return path, "it is empty, and the state is built from it"
    if path.suffix != ".zip":
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            known = archive.read("metadata").decode() if "metadata" in archive.namelist() else ""
    except (zipfile.BadZipFile, OSError, ValueError):
        return path, "it is cut off, and the state is built from it"
    return _unfit_table(path.parent / "SSTs", known, path.name)


def _unfit_table(folder: Place, listing: str, name: str) -> tuple[Place, str] | None:
    """The first of RocksDB's own files that a snapshot lists and that is not there as it was. ``listing``: a
    version, then JSON.
    """
    try:
        files = parse_json(listing.partition("\n")[2] or "{}").get("sstFiles") or []
    except (ValueError, AttributeError):
        return None  # of another release; Spark's start reads it
    for file in files:
        match file:
            case {"dfsSstFileName": str(table), "sizeBytes": int(size)}:
                path = folder / table
                if not path.is_file():
                    return path, f"it is not there, and {name} lists it"
                if path.stat().st_size != size:
                    return path, f"it has {path.stat().st_size} bytes, and {name} lists it with {size}"
            case _:
                pass
    return None


def _suffix_of_changes(sizes: Mapping[str, int]) -> str:
    """The suffix that a change file of this store would have."""
    kinds = {match.group(2) for name in sizes if (match := _VERSIONED.fullmatch(name))}
    if ".changelog" in kinds:
        return ".changelog"
    return ".zip" if ".zip" in kinds else ".delta"
