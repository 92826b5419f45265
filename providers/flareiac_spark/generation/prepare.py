"""Prepares a new generation before any query runs in it. Touches the disk: new folders only, never one that
a query has used.
"""

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.checkpoint_files.folder_state import FolderState, folder_state
from flareiac_spark.checkpoint_files.reader import note_of
from flareiac_spark.sources.on_disk import kind_of
from flareiac_spark.sources.source import kinds, offsets_of
from flareiac_spark_runtime.checkpoint_log import Damaged, batches, read_offsets
from flareiac_spark_runtime.control import ControlError
from flareiac_spark_runtime.control.atomic_files import read_json, write_json
from flareiac_spark_runtime.storage import Place, make_folder, move_folder, remove_tree, replace_whole

_POSITIONS_OF_ONE: Final = 8
"""A query that reads one table at several places has a position for each; more than it has do no harm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastBatch:
    """The position of the old generation: ``batch`` is the last one whose rows are in every output (None:
    none is).
    """

    folder: Place
    query_id: str
    batch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPositions:
    """The beginning of a generation.

    ``after``: the folder of the generation that it goes on after. ``times``: for each stream that can begin
    at a time, what is noted of it (of a table UTC milliseconds before which nothing is read), or None.
    ``positions``: Spark's own offset by the index of a source; with ``alone`` all of them are one stream's.
    ``copied``: whose logs are taken over.
    ``conf``: settings that are pinned again. ``by``: for whom, so that no one else's work is discarded;
    ``noted``: what is noted about it.
    """

    by: str
    after: Place | None = None
    times: Mapping[str, int | None] = field(default_factory=dict)
    positions: Mapping[int, str] = field(default_factory=dict)
    alone: bool = False
    copied: LastBatch | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    noted: Mapping[str, Any] = field(default_factory=dict)


def prepare_folder(folder: Place, beginning: StartPositions) -> None:
    """Prepares a folder that is absent or was prepared before. Raises ``Damaged`` for the old one,
    ``OSError`` and ``ControlError``.
    """
    state = folder_state(folder, beginning.by)
    assert state in (FolderState.ABSENT, FolderState.PREPARED), f"{folder} is {state}"
    scratch = folder.with_name(f".{folder.name}.seeding")
    remove_tree(scratch)
    make_folder(scratch)
    if beginning.copied is not None and beginning.copied.batch is not None:
        _copy(beginning.copied.folder, scratch, beginning.copied.batch, beginning)
    for index, offset in beginning.positions.items():
        for at in range(_POSITIONS_OF_ONE) if beginning.alone else (index,):
            offsets_of(kind_of(parse_json(offset))).begin_at(scratch / "sources" / str(at), offset, _write)
    if (after := beginning.after) is not None:
        for _name, kind in kinds():
            kind.offsets.carry_notes(after, folder, _write)
    # The note comes first: a folder without one is no one's, and stays.
    write_json(
        note_of(folder), {"times": dict(beginning.times), "seeded": {"by": beginning.by, **beginning.noted}}
    )
    remove_tree(folder)
    move_folder(scratch, folder)


def positions_at(last: LastBatch) -> tuple[str | None, ...]:
    """The position of each source after the last batch; none if there is no such batch. Raises
    ``Damaged``.
    """
    return () if last.batch is None else read_offsets(last.folder, last.batch).positions


def times_at(last: LastBatch) -> Mapping[str, int | None]:
    """The times at which the old generation's streams of tables began (UTC milliseconds, None for the
    beginning), by input. Raises ``Damaged``.
    """
    try:
        note = read_json(note_of(last.folder))
    except ControlError as error:
        raise Damaged(note_of(last.folder), error.why) from None
    times = (note or {}).get("times")
    return (
        {str(name): at if isinstance(at, int) else None for name, at in times.items()}
        if isinstance(times, dict)
        else {}
    )


def _copy(old: Place, new: Place, last: int, beginning: StartPositions) -> None:
    """Offsets, commits and the sources' own logs up to a batch. Without ``metadata``: Spark gives the new
    query an id of its own.
    """
    for batch in (number for number in batches(old, "offsets") if number < last):
        _write(new / "offsets" / str(batch), (old / "offsets" / str(batch)).read_text(encoding="utf-8"))
    newest = read_offsets(old, last)
    header = {
        **newest.header,
        "conf": {**newest.header.get("conf", {}), **_pinned(newest.header, beginning.conf)},
    }
    lines = [
        "v1",
        json.dumps(header, separators=(",", ":")),
        *(position or "-" for position in newest.positions),
    ]
    _write(new / "offsets" / str(last), "\n".join(lines))
    committed = [number for number in batches(old, "commits") if number <= last]
    for batch in committed:
        _write(new / "commits" / str(batch), (old / "commits" / str(batch)).read_text(encoding="utf-8"))
    if last not in committed:
        _write(new / "commits" / str(last), 'v1\n{"nextBatchWatermarkMs":0}')
    for index, position in enumerate(newest.positions):
        if index and beginning.alone and not (old / "sources" / str(index)).exists():
            continue  # a stream that is read again has another position and no log of its own
        offset = parse_json(position) if position is not None else None
        for _name, kind in kinds():
            kind.offsets.copy_log(old / "sources" / str(index), new / "sources" / str(index), offset, _write)


def _pinned(header: Mapping[str, Any], conf: Mapping[str, str]) -> dict[str, str]:
    """Settings of the new definition, where Spark would else take the old ones from the log. Without state
    any value will do.
    """
    return {name: value for name, value in conf.items() if name in header.get("conf", {})}


def _write(path: Place, text: str) -> None:
    replace_whole(path, text.encode(), mode=0o644)
