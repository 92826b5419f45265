"""A source as the application runs it, of any kind: absolute paths, table identities, types as Iceberg spells
them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Protocol, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import by_kind
from flareiac.sdk.dataset_names import DatasetName
from flareiac_spark_runtime import sources
from flareiac_spark_runtime.sources.kept import Kept
from flareiac_spark_runtime.storage import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecColumn:
    """``type`` in Iceberg's spelling: ``long``, ``decimal(12,2)``, ``list<int>``, ``struct<a: string, b: int
    not null>``.
    """

    name: str
    type: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedTable:
    """The table that a source reads. ``start_from``: ``earliest``, ``oldest_snapshot``, ``latest`` or an ISO
    8601 time with offset.
    """

    identifier: tuple[str, ...]
    uuid: str | None
    start_from: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRows:
    """Rows of a batch in flight that cannot be read again. ``error_class`` is a stable word in Spark's
    spelling; ``why`` goes on after "batch N was begun and is done again, and".
    """

    batch: int
    error_class: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartProblem:
    """A reason for which a query must not start. ``error_class`` is a stable word in Spark's spelling;
    ``permanent`` if the same start would meet the same problem: else it waits for what is outside, and is
    tried again as long as it takes.
    """

    error_class: str
    why: str
    permanent: bool = True


class StartRefused(Exception):
    """A source that is opened finds what must not start."""

    def __init__(self, problem: StartProblem) -> None:
        super().__init__(problem.why)
        self.problem = problem


class Opening(Protocol):
    """The parts of the driver that a source uses while it is opened."""

    @property
    def session(self) -> Any:
        """Spark's session."""

    @property
    def checkpoints(self) -> tuple[Place, ...]:
        """The folders of the queries that read it."""

    def schema(self, columns: tuple[SpecColumn, ...]) -> Any:
        """Columns as Spark's schema."""

    def table(self, identifier: tuple[str, ...], uuid: str | None) -> str:
        """The name by which Spark reads a table whose identity is proven."""

    @property
    def bad_records(self) -> str:
        """The action for records that cannot be read (``bad_records.Action``), empty where they fail the job.
        A source that decodes judges them all the same.
        """

    @property
    def explains(self) -> bool:
        """True if the known facts of each bad record are wanted, and the reason that it is bad."""


class ResolvedSource(ABC):
    """A source as the driver uses it."""

    __slots__ = ()

    kind: str
    columns: tuple[SpecColumn, ...]

    @abstractmethod
    def open(self, opening: Opening, start: int | None) -> Any:
        """The streaming frame; touches its system. ``start``: what is noted of the moment at which it begins,
        for a table UTC milliseconds before which it is not read. Raises ``StartRefused``.
        """

    @property
    def frame_columns(self) -> tuple[SpecColumn, ...]:
        """The columns of the frame."""
        return self.columns

    @property
    def judged_columns(self) -> tuple[SpecColumn, ...]:
        """The columns that are decoded from a record, and are null where it is bad and kept."""
        return self.columns

    @property
    def table(self) -> StreamedTable | None:
        """The table that it reads."""
        return None

    @property
    def folder(self) -> str | None:
        """The path or pattern of the files that it reads."""
        return None

    @property
    def datasets(self) -> tuple[DatasetName, ...]:
        """The data that it reads, for other programs, where that is no table: folders of files, topics."""
        return ()

    def is_reported(self, description: str, end: Any) -> bool | None:
        """Returns True if Spark's progress of a source, with its description and the offsets that it was read
        to, is of this one; None if it is of one of this kind.
        """
        del description, end
        return False

    def version_read(self, end: Any) -> str | None:
        """The version of its table by the offsets that it was read to."""
        del end
        return None

    @property
    def begins_at_times(self) -> bool:
        """True if a generation of it can begin at a moment, which is noted beside the checkpoint."""
        return self.table is not None

    def noted_start(self, start_from: str, moment: int | None) -> int | None:
        """The note of a generation that begins at ``start_from``, which is ``moment`` (UTC milliseconds, None
        for the beginning).
        """
        del start_from
        return moment

    def learns(self, message: str, checkpoints: Sequence[Place]) -> bool:
        """Notes what a query has met for the first time and has failed for with ``message``; true where it
        can go on now, knowing it. Raises ``OSError``, ``ValueError``.
        """
        del message, checkpoints
        return False

    def explained(self, complaint: str, opening: Opening) -> str:
        """The complaint of a query about the bad record that ended it, with the reason where the source can
        find one by reading the record again. Raises what Spark raises.
        """
        del opening
        return complaint

    def lost_in_flight(self, checkpoint: Place, conf: Mapping[str, str]) -> LostRows | None:
        """The rows that the batch in flight of a checkpoint would miss, None for none. ``conf``: the job's.
        Raises ``Damaged``, ``OSError``.
        """
        del checkpoint, conf
        return None

    def prove_start(
        self, jvm: Callable[[], Any], checkpoints: Sequence[Place], others: "Sequence[ResolvedSource]"
    ) -> StartProblem | None:
        """Asks its system whether queries can go on where their checkpoints stand, before Spark is started;
        notes beside them what only that moment tells. ``jvm``: Spark's Java side. ``others``: what else the
        queries stream. Raises ``Damaged``, ``OSError``.
        """
        del jvm, checkpoints, others
        return None

    def prove_running(
        self, jvm: Callable[[], Any], checkpoints: Sequence[Place], kept: Kept
    ) -> StartProblem | None:
        """Asks its system, while queries run, whether what they read is still what they began with. ``kept``
        holds clients from one look to the next. Raises ``StartRefused`` where the system does not answer, and
        ``Failure``, ``Damaged``, ``OSError``, ``ValueError``.
        """
        del jvm, checkpoints, kept
        return None


def resolved_class(kind: str) -> type[ResolvedSource] | None:
    """The record of a kind; None for a kind that is not known."""
    if kind not in sources.KINDS:
        return None
    source_class: type[ResolvedSource] = import_module(f"{sources.__name__}.{kind}.resolved").KIND
    return source_class


Source: TypeAlias = Annotated[ResolvedSource, by_kind(resolved_class)]
"""A source of any kind, in a record."""
