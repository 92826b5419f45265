"""The facts of a checkpoint: what was observed of it, as its planner reads it."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.results import Observation, Present
from flareiac_spark.checkpoint_files.folder_state import FolderState
from flareiac_spark.checkpoint_files.generations import Contents, Generation
from flareiac_spark.checkpoint_files.layout import CheckpointLayout
from flareiac_spark.sources.offsets import SourceOnDisk

_FRESH_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFacts:
    """One query in one generation. Operators as (name, partitions).

    ``fresh``: its last batch was begun so lately that the query may be running.
    """

    output: str
    number: int
    standing: FolderState
    query_id: str | None = None
    started: int | None = None
    committed: int | None = None
    begun_ms: int | None = None
    fresh: bool = False
    sources: tuple[SourceOnDisk, ...] = ()
    operators: tuple[tuple[str, int | None], ...] = ()

    @property
    def in_flight(self) -> int | None:
        return self.started if self.started != self.committed else None


class MoveTarget(StrEnum):
    """The kind of place that a checkpoint is to move to."""

    FREE = "free"
    BEGUN = "begun"
    """A copy of this checkpoint, from an apply of the same move that was interrupted."""
    REACHED = "reached"
    """The whole checkpoint: the apply that moved it was interrupted before that was recorded."""
    LEFT = "left"
    """An older copy of this checkpoint, left there by an earlier move."""
    SAME = "same"
    """The same folder, under another name."""
    NESTED = "nested"
    """A folder inside the checkpoint, or around it."""
    OCCUPIED = "occupied"
    OF_ANOTHER_STATE = "of another state"


COPIED_TO: Final = (MoveTarget.FREE, MoveTarget.BEGUN, MoveTarget.LEFT)
"""The states of a target to which a checkpoint may be copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointUser:
    """A job with a query in a checkpoint. ``control``: the control directory of its application. ``starts``:
    it is to run; ``may_run``: it may be at work. ``silent``: why its application is neither alive nor gone,
    where no lease tells. ``host``: where its application lives, empty for this host; ``cluster``: the master
    of its executors, empty where it has none.
    """

    job: str
    control: str
    may_run: bool
    starts: bool
    silent: str = ""
    host: str = ""
    cluster: str = ""

    @property
    def sees_other_disks(self) -> bool:
        """Returns True where its application works where the disks of this host need not be."""
        return bool(self.host or self.cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveFacts:
    """The facts about a move of the recorded checkpoint to the declared location: what is copied, in bytes
    and files, and what stands in its way.

    ``inside``: folders in it that are checkpoints of their own. ``unseen``: the target may be a disk that the
    application on another ``host`` does not see. ``room``: bytes that are free at the target, None where
    there is no limit. ``controls``: the control directories that were looked at.
    """

    target: MoveTarget
    files: int = 0
    bytes: int = 0
    inside: tuple[str, ...] = ()
    users: tuple[CheckpointUser, ...] = ()
    controls: tuple[str, ...] = ()
    unseen: bool = False
    room: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFacts:
    """The queries of all generations; ``used``: one of them has run. ``manager``: the lineage of the state
    that manages the checkpoint, empty where that is not known. ``gone_to``: the place for which it has left
    its folder; ``going_to``: the same of a move that was begun and has not come to its end. ``move``: where
    another location is declared than the recorded one.
    """

    used: bool
    manager: str = ""
    queries: tuple[QueryFacts, ...] = ()
    gone_to: str = ""
    going_to: str = ""
    move: MoveFacts | None = None


def number_in_use(on_disk: Generation, layout: CheckpointLayout, generation: int) -> int:
    """An imported folder counts as the generation that it was imported as."""
    if on_disk.number != 0:
        return on_disk.number
    return generation if layout.single is None else layout.single


def facts_of(
    content: Contents, layout: CheckpointLayout, generation: int, *, now: float, manager: str = ""
) -> CheckpointFacts:
    """The facts of a checkpoint on disk; what is in a generation only for the one in use. ``now`` in UTC
    seconds.
    """
    queries = tuple(
        _query(on_disk, number_in_use(on_disk, layout, generation), generation, now)
        for on_disk in content.generations
    )
    return CheckpointFacts(used=content.used, queries=queries, manager=manager)


def is_another_state(manager: str, own: str) -> bool:
    """Returns True if a checkpoint with this manager is another state's than ``own``, as far as both are
    known.
    """
    return bool(manager and own) and manager != own


def _query(generation: Generation, number: int, in_use: int, now: float) -> QueryFacts:
    query, on_disk = (
        QueryFacts(output=generation.output, number=number, standing=generation.standing),
        generation.checkpoint,
    )
    if on_disk is None or number != in_use:
        return query
    return replace(
        query,
        query_id=on_disk.query_id,
        started=on_disk.started,
        committed=on_disk.committed,
        begun_ms=on_disk.begun_ms,
        fresh=on_disk.begun_ms is not None and now - on_disk.begun_ms / 1000 < _FRESH_SECONDS,
        sources=on_disk.sources,
        operators=tuple((operator.name, operator.partitions) for operator in on_disk.operators),
    )


def observed_facts(observed: Observation) -> CheckpointFacts | None:
    """The facts of an observation; None where nothing was looked at."""
    facts = observed.facts if isinstance(observed, Present) else None
    return facts if isinstance(facts, CheckpointFacts) else None


def used(facts: Sequence[QueryFacts], generation: int) -> list[QueryFacts]:
    """The queries that have run in a generation."""
    return [fact for fact in facts if fact.number == generation and fact.standing == FolderState.USED]


def removable(numbers: Collection[int], in_use: int, keep: int) -> frozenset[int]:
    """The generations on disk that need not be kept beside the one in use: the newest ``keep`` are, that one
    among them.
    """
    older = sorted({number for number in numbers if number < in_use}, reverse=True)
    return frozenset(older[max(0, keep - 1) :])
