"""The snapshots at which a query continues in its tables. Pure: positions were read from its checkpoint."""

from collections.abc import Iterator
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.checkpoint_files.query_positions import BEGINNING, QueryPositions
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.streamed_tables import StreamedTable, streamed_tables
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.start_from import LATEST
from flareiac_spark_runtime.control.timestamps import start_timestamp

_ALL_AVAILABLE = ("available_now", "once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """These must be there. ``first``: one of them is where the query began, which a run that reads all there
    is looks for.
    """

    ids: tuple[int, ...]
    first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Nothing was read yet: the oldest snapshot that is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """Nothing was read yet: what was committed at this time (ms since 1970, UTC) or later."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """Nothing was read yet: what is committed after the query's start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """The query reads several tables, and nothing tells which position belongs to which. ``ids`` are all of
    them.
    """

    ids: tuple[int, ...]


Position: TypeAlias = Snapshots | Start | Since | Now | Ambiguous


def positions(
    job: JobDefinition, query: str, stand: QueryPositions
) -> Iterator[tuple[StreamedTable, Position]]:
    """The position at which one query of a job goes on, for each table that it streams."""
    inputs = streamed_tables(job)
    places = _places(job, query, stand)
    for streamed_table in inputs:
        if places is None:
            yield streamed_table, Ambiguous(ids=_known((*stand.reached, *stand.ahead)))
        elif streamed_table.input in places:
            yield streamed_table, _position(job, streamed_table, stand, places[streamed_table.input])


def first_position(streamed_table: StreamedTable) -> Position:
    """The position at which a first start begins."""
    if streamed_table.start_from == LATEST:
        return Now()
    at_ms = start_timestamp(streamed_table.start_from, now=0.0)
    return Start() if at_ms is None else Since(at_ms=at_ms)


def _position(
    job: JobDefinition, streamed_table: StreamedTable, stand: QueryPositions, indexes: list[int]
) -> Position:
    reached = _of(stand.reached, indexes) or _of(stand.first, indexes)
    if not reached or BEGINNING in reached:
        if streamed_table.input not in stand.times:
            return first_position(streamed_table)
        at_ms = stand.times[streamed_table.input]
        return Start() if at_ms is None else Since(at_ms=at_ms)
    ids = [*reached, *_of(stand.ahead, indexes)]
    first = _of(stand.first, indexes) if job.trigger.kind in _ALL_AVAILABLE else []
    return Snapshots(ids=_known((*ids, *first)), first=bool(first))


def _known(ids: tuple[int | None, ...]) -> tuple[int, ...]:
    return tuple(
        dict.fromkeys(
            snapshot_id for snapshot_id in ids if snapshot_id is not None and snapshot_id != BEGINNING
        )
    )


def _of(ids: tuple[int | None, ...], indexes: list[int]) -> list[int]:
    chosen = (ids[at] for at in indexes if at < len(ids))
    return [snapshot for snapshot in chosen if snapshot is not None]


def _places(job: JobDefinition, query: str, stand: QueryPositions) -> dict[str, list[int]] | None:
    """The positions of each streamed table, by input; None where that cannot be determined."""
    count = max(len(stand.reached), len(stand.first), len(stand.ahead))
    streams = query_streams(job, query).streams
    if streams is not None and len(streams) == 1:
        return {streams[0].name: list(range(count))}
    if streams is not None and count in (0, len(streams)):
        return {stream.name: [at] for at, stream in enumerate(streams)}
    inputs = streamed_tables(job)
    if len({streamed_table.table for streamed_table in inputs}) == 1:
        return {inputs[0].input: list(range(count))}
    return None
