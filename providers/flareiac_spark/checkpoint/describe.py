"""Describes a checkpoint for ``checkpoint show``. Touches the disk, by reading only."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from flareiac.kernel.data import Attributes, Data
from flareiac.sdk.project import Project
from flareiac.sdk.results import Recorded
from flareiac_spark.checkpoint_files.file_log import noted_files
from flareiac_spark.checkpoint_files.generations import Generation, contents
from flareiac_spark.checkpoint_files.layout import recorded_layout
from flareiac_spark.checkpoint_files.reader import (
    CheckpointOnDisk,
    Damaged,
    SourceOnDisk,
    batches,
    preparation_note,
    read_offsets,
)
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.observation.checkpoint import number_in_use, removable
from flareiac_spark.places import absolute_place

_LAST: Final = 5
_PARTS: Final = ("metadata", "offsets", "commits", "sources", "state")


def describe(recorded: Recorded, project: Project) -> Attributes:
    """``generations``: one entry for each folder, oldest first; ``queries``: what is in those in use. Raises
    ``Damaged``, ``OSError``.
    """
    checkpoint, layout = CheckpointDefinition.of(recorded.attributes), recorded_layout(recorded.identity)
    location, generation = absolute_place(checkpoint.location, project), checkpoint.generation
    found = contents(location)
    items = found.generations if found is not None else ()
    numbered = [(item, number_in_use(item, layout, generation)) for item in items]
    spare = removable({number for _item, number in numbered}, generation, checkpoint.keep_generations)
    return {
        "location": str(location),
        "generation": generation,
        "keep_generations": checkpoint.keep_generations,
        "generations": [
            _folder(item, number, generation, number in spare and item.number > 0)
            for item, number in numbered
        ],
        "queries": [
            _query(item, item.found, number)
            for item, number in numbered
            if item.found is not None and number == generation
        ],
    }


def size_of(folder: Path) -> int:
    """Bytes of what Spark keeps there; what goes away meanwhile counts nothing."""
    total = 0
    for part in _PARTS:
        for path in (folder / part, *(folder / part).rglob("*")):
            try:
                total += path.stat().st_size if path.is_file() else 0
            except OSError:
                continue
    return total


def _folder(item: Generation, number: int, in_use: int, spare: bool) -> Attributes:
    return {
        "output": item.output,
        "number": number,
        "folder": str(item.folder),
        "standing": item.standing.value,
        "in_use": number == in_use,
        "removable": spare,
        "bytes": size_of(item.folder),
        "damage": str(item.damage) if item.damage is not None else None,
        "began": _began(item.folder),
    }


def _began(folder: Path) -> Mapping[str, Data] | None:
    try:
        note = preparation_note(folder)
    except Damaged:
        return None
    return None if note is None else {name: note.get(name) for name in ("start_from", "query_id", "batch")}


def _query(item: Generation, found: CheckpointOnDisk, number: int) -> Attributes:
    return {
        "output": item.output,
        "number": number,
        "query_id": found.query_id,
        "started": found.started,
        "committed": found.committed,
        "in_flight": found.in_flight,
        "watermark_ms": found.watermark_ms or None,
        "last_batches": _last_batches(item.folder, found),
        "sources": [_source(item.folder, source) for source in found.sources],
        "operators": [
            {"id": each.id, "name": each.name, "partitions": each.partitions} for each in found.operators
        ],
        "pinned": dict(sorted(found.conf.items())),
    }


def _last_batches(folder: Path, found: CheckpointOnDisk) -> list[Attributes]:
    rows: list[Attributes] = []
    for batch in batches(folder, "offsets")[-_LAST:]:
        try:
            begun = read_offsets(folder, batch).header.get("batchTimestampMs")
        except Damaged:
            begun = None
        committed = found.committed is not None and batch <= found.committed
        rows.append(
            {"batch": batch, "begun_ms": begun if isinstance(begun, int) else None, "committed": committed}
        )
    return rows


def _source(folder: Path, source: SourceOnDisk) -> Attributes:
    """``offset`` as Spark wrote it, and ``text`` for a person."""
    return {
        "index": source.index,
        "kind": source.kind,
        "offset": source.offset,
        "text": _words(folder, source),
    }


def _words(folder: Path, source: SourceOnDisk) -> str:
    if source.offset is None:
        return "nothing was read of it yet"
    offset = json.loads(source.offset)
    match source.kind:
        case "table":
            whole = ", with what was there before it" if offset.get("scan_all_files") else ""
            return f"up to file {offset.get('position')} of snapshot {offset['snapshot_id']}{whole}"
        case "files":
            return _files(folder / "sources" / str(source.index), source)
        case "rate":
            return f"up to second {source.offset}" if isinstance(offset, int) else source.offset
        case _:
            return source.offset


def _files(log: Path, source: SourceOnDisk) -> str:
    noted = list(noted_files(log))
    last = unquote(noted[-1].path.rpartition("/")[2]) if noted else ""
    places = ", ".join(source.folders[:3]) + (" and others" if len(source.folders) > 3 else "")
    return f"{len(noted)} files read, the last one {last} in {places}"
