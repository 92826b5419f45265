"""The snapshots of tables that a query has reached. Read without a JVM, also of a generation that was
prepared. Touches the disk, by reading only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.checkpoint_files.reader import note_of
from flareiac_spark_runtime.checkpoint_log import Damaged, batches, names_in, read_offsets, unreadable, whole
from flareiac_spark_runtime.control import ControlError
from flareiac_spark_runtime.control.atomic_files import read_json
from flareiac_spark_runtime.storage import Place

BEGINNING: Final = -1
"""Iceberg's snapshot id for a stream that has found nothing to read yet."""
_ATTEMPTS: Final = 5
"""Spark writes and deletes files meanwhile: what cannot be read counts as damage once nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPositions:
    """Snapshot ids by a source's position in Spark's offsets, None for what is no table.

    ``first`` is where the query began, ``reached`` where its last committed batch ended, ``ahead`` where the
    batch in flight ends. ``in_flight`` is the number of that batch, ``begun_ms`` when it was begun;
    ``moved_ms`` is when the last committed one was (UTC milliseconds). ``times``: by input, the moment (UTC
    milliseconds) before which a stream of a table reads nothing, None for the start.
    """

    first: tuple[int | None, ...] = ()
    reached: tuple[int | None, ...] = ()
    ahead: tuple[int | None, ...] = ()
    committed: int | None = None
    in_flight: int | None = None
    begun_ms: int | None = None
    moved_ms: int | None = None
    times: Mapping[str, int | None] = field(default_factory=dict)


def read_positions(folder: Place) -> QueryPositions | None:
    """None if there is nothing yet. Raises ``Damaged``."""
    for _attempt in range(_ATTEMPTS):
        before = _newest(folder)
        try:
            return _read(folder, *before) if folder.is_dir() else None
        except OSError as error:
            damage = unreadable(folder, error)
        except Damaged as error:
            damage = error
        if _newest(folder) == before:
            break
    raise damage


def _newest(folder: Place) -> tuple[int | None, int | None]:
    return max(batches(folder, "offsets"), default=None), max(batches(folder, "commits"), default=None)


def _read(folder: Place, started: int | None, committed: int | None) -> QueryPositions:
    in_flight = started if started != committed else None
    ahead = read_offsets(folder, in_flight) if in_flight is not None else None
    reached = read_offsets(folder, committed) if committed is not None else None
    return QueryPositions(
        first=_first(folder / "sources"),
        reached=_snapshots(reached.positions) if reached is not None else (),
        ahead=_snapshots(ahead.positions) if ahead is not None else (),
        committed=committed,
        in_flight=in_flight,
        begun_ms=whole(ahead.header.get("batchTimestampMs")) if ahead is not None else None,
        moved_ms=whole(reached.header.get("batchTimestampMs")) if reached is not None else None,
        times=_times(folder),
    )


def _first(sources: Place) -> tuple[int | None, ...]:
    """The snapshot at which each source began, None where it has none: Iceberg notes it at the first start,
    and looks at it again.
    """
    entries = {
        int(name): entry
        for name in names_in(sources)
        if name.isdigit() and (entry := sources / name / "offsets" / "0").is_file()
    }
    texts = [
        entries[at].read_text(encoding="utf-8") if at in entries else None
        for at in range(max(entries, default=-1) + 1)
    ]
    return _snapshots(texts)


def _snapshots(positions: Sequence[str | None]) -> tuple[int | None, ...]:
    return tuple(_snapshot(position) for position in positions)


def _snapshot(position: str | None) -> int | None:
    try:
        offset = parse_json(position) if position is not None else None
    except ValueError:
        return None
    return whole(offset.get("snapshot_id")) if isinstance(offset, dict) else None


def _times(folder: Place) -> dict[str, int | None]:
    try:
        times = (read_json(note_of(folder)) or {}).get("times")
    except ControlError as error:
        raise Damaged(note_of(folder), error.why) from None
    return {str(name): whole(at) for name, at in times.items()} if isinstance(times, dict) else {}
