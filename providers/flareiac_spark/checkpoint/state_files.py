"""Can the state of a checkpoint still be loaded? Its files are numbered by version, so that a missing or an empty one shows. Reads only.

A store of version V needs the newest snapshot up to V (none for the empty beginning) and every change file after it. A query that has
committed batch N goes on from version N + 1 of each store. HDFS-backed stores write ``V.snapshot`` and ``V.delta``; RocksDB stores write
``V.zip`` and, with changelogs, ``V.changelog``. What is inside a file is not looked at: Spark's start does that.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

_SNAPSHOTS: Final = (".snapshot", ".zip")
_CHANGES: Final = (".delta", ".changelog")
_VERSIONED: Final = re.compile(r"(\d{1,18})(\.snapshot|\.zip|\.delta|\.changelog)")
_DEFAULT: Final = "default"


def broken_state(state: Path, operator: int, stores: list[Any], version: int) -> tuple[Path, str] | None:
    """The first file that one of an operator's stores lacks for a version, and what is wrong with it; None if there is none."""
    for folder in _folders(state / str(operator), stores):
        found = _broken(folder, version)
        if found is not None:
            return found
    return None


def _folders(operator: Path, stores: list[Any]) -> Iterator[Path]:
    """The folder of each store of each partition."""
    for store in stores:
        match store:
            case {"storeName": str(name), "numPartitions": int(count)}:
                for partition in range(count):
                    yield operator / str(partition) if name == _DEFAULT else operator / str(partition) / name
            case _:
                pass


def _broken(folder: Path, version: int) -> tuple[Path, str] | None:
    try:
        sizes = {item.name: item.stat().st_size for item in folder.iterdir() if item.is_file()}
    except FileNotFoundError:
        sizes = {}
    if any("_" in name and not name.startswith((".", "_")) for name in sizes):
        return None  # versions with ids of their own, which the commit log names
    snapshot = _newest_snapshot(sizes, version)
    if snapshot is not None and (why := _unfit_snapshot(folder / snapshot, sizes[snapshot])):
        return folder / snapshot, why
    if snapshot is not None and not any(name.endswith(_CHANGES) for name in sizes):
        return None  # RocksDB without changelogs: whether each version has a snapshot of its own is up to Spark
    first = 1 if snapshot is None else int(snapshot.partition(".")[0]) + 1
    suffix = _suffix_of_changes(sizes)
    for number in range(first, version + 1):
        name = next((f"{number}{ending}" for ending in _CHANGES if f"{number}{ending}" in sizes), None)
        if name is None:
            return folder / f"{number}{suffix}", f"it is not there, and the state of version {version} is built from it"
        if sizes[name] == 0:
            return folder / name, "it is empty, and the state is built from it"
    return None


def _newest_snapshot(sizes: Mapping[str, int], version: int) -> str | None:
    found = [(int(match.group(1)), name) for name in sizes if (match := _VERSIONED.fullmatch(name)) and match.group(2) in _SNAPSHOTS]
    return max(((number, name) for number, name in found if number <= version), default=(0, None))[1]


def _unfit_snapshot(path: Path, size: int) -> str:
    if size == 0:
        return "it is empty, and the state is built from it"
    if path.suffix == ".zip" and not zipfile.is_zipfile(path):
        return "it is cut off, and the state is built from it"
    return ""


def _suffix_of_changes(sizes: Mapping[str, int]) -> str:
    """How a change file of this store would be named."""
    kinds = {match.group(2) for name in sizes if (match := _VERSIONED.fullmatch(name))}
    if ".changelog" in kinds:
        return ".changelog"
    return ".zip" if ".zip" in kinds else ".delta"
