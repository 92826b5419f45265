"""The decision if and how a new generation can continue where the old one ended. Pure: two queries and what
the old checkpoint holds.

A table's position is a snapshot, which any query can begin at. A folder's position is the list of the files
read, which only makes sense together with the old offsets and commits; those a query with state cannot take,
because its state is not there.
"""

from collections.abc import Sequence
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.offsets import CarryOver, Offsets
from flareiac_spark.sources.source import offsets_of
from flareiac_spark_runtime import sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """One stream that a query reads. ``place`` tells sources of one kind apart: a folder, or which table it
    is.
    """

    name: str
    kind: str
    place: str

    @property
    def offsets(self) -> Offsets:
        """The offsets that it leaves in a checkpoint."""
        return offsets_of(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """``streams`` in the order of Spark's offsets; None where the SQL does not tell it. ``stateful`` also
    where it cannot be determined. ``reads``: how many positions they have, one for each time that one is
    read; None where that cannot be determined.
    """

    streams: tuple[Stream, ...] | None
    stateful: bool
    reads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Tables go on: pairs of an index in the old and in the new query. ``new_streams`` starts where its
    stream says.

    ``alone``: the new query reads one stream, so that whatever number of positions it has, all are this
    stream's.
    """

    pairs: tuple[tuple[int, int], ...]
    new_streams: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The old logs are taken over as they are: same sources in the same order, without state.

    ``alone``: all positions are those of one stream, which has one log.
    """

    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The reason that a new generation cannot go on where the old one ended."""

    why: str


Decision: TypeAlias = Positions | Copied | Refusal


def decide(old: Query, new: Query, on_disk: Sequence[str]) -> Decision:
    """The way in which the offsets of ``on_disk`` (kinds of sources by position; none: no batch was begun)
    reach the new query, or the reason that they cannot.
    """
    if new.streams is None:
        return Refusal(why="the new query reads several streams, and its SQL does not tell in which order")
    for stream in new.streams:
        if stream.offsets.carry_over is CarryOver.NONE:
            return Refusal(why=stream.offsets.no_position)
    if not on_disk:
        return Positions(pairs=(), new_streams=tuple(stream.name for stream in new.streams))
    if old.streams is None:
        return Refusal(why="the old query read several streams, and its SQL does not tell in which order")
    if len(old.streams) == 1 and len(on_disk) == old.reads and len(set(on_disk)) == 1:
        on_disk = on_disk[:1]  # all are positions of one stream, at one place of it
    if len(on_disk) != len(old.streams):
        return Refusal(
            why=(
                f"the checkpoint holds {len(on_disk)} positions, and the old query named "
                f"{len(old.streams)} streams"
            )
        )
    if any(
        kind not in (*sources.KINDS, stream.kind) for kind, stream in zip(on_disk, old.streams, strict=True)
    ):
        return Refusal(why="the checkpoint holds a position of a kind that is not known here")
    return _matched(old, new, old.streams, new.streams)


def _matched(old: Query, new: Query, before: tuple[Stream, ...], after: tuple[Stream, ...]) -> Decision:
    predecessors = [_predecessor(stream, before) for stream in after]
    logs = [
        stream
        for stream, at in zip(after, predecessors, strict=True)
        if stream.offsets.carry_over is CarryOver.LOG and at is not None
    ]
    if not logs:
        pairs = tuple((at, to) for to, at in enumerate(predecessors) if at is not None)
        new_streams = tuple(stream.name for stream, at in zip(after, predecessors, strict=True) if at is None)
        return Positions(pairs=pairs, new_streams=new_streams, alone=len(after) == 1)
    kept = logs[0].offsets.kept_in_log.format(logs[0].place)
    if old.stateful:
        return Refusal(
            why=(f"{kept} is kept together with the old query's state, and the state cannot come along")
        )
    if new.stateful:
        return Refusal(
            why=(f"{kept} cannot be given to a query that keeps state: Spark would look for old state")
        )
    if [(stream.kind, stream.place) for stream in before] != [
        (stream.kind, stream.place) for stream in after
    ]:
        return Refusal(
            why=(f"{kept} is kept by position, and the query reads other streams, or in another order")
        )
    if old.reads != new.reads:
        return Refusal(
            why=(
                f"{kept} is kept by position, one for each time that it is read, and the new query reads "
                "it another number of times"
            )
        )
    return Copied(alone=len(after) == 1)


def _predecessor(stream: Stream, before: tuple[Stream, ...]) -> int | None:
    """The old stream where a new one goes on: that of the same place, else one that it continues."""
    same = [at for at, old in enumerate(before) if (old.kind, old.place) == (stream.kind, stream.place)]
    others = [
        at
        for at, old in enumerate(before)
        if old.kind == stream.kind and stream.offsets.continues(old.place, stream.place)
    ]
    return same[-1] if same else next(iter(others), None)
