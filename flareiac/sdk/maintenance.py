"""The contract of maintenance: who needs what of a thing, what work on it is due, how the work is asked for
and what came of it.

One provider keeps tables, another one runs Spark: the first measures and decides, the second carries out, the
core stands between them. A maintainer is pure: measuring is the driver's, time and holds are arguments.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol, runtime_checkable

from flareiac.kernel.data import Attributes, Data, StoredReference
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE
from flareiac.sdk.changes import Effect, Reader
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.table_tasks import Performed, StoredWork, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """``holder`` still needs a part of ``subject`` (both addresses).

    ``snapshots``: those it must find there. ``since_ms``: nothing that was committed at this time (ms since
    1970) or later may be forgotten, so that the way back to it stays whole. ``moved_ms``: when the holder
    last moved on, None where that is not known. ``reason`` says what for, in words. ``unknown``: that it
    holds something is certain, what is not; then everything is kept. ``release``: what someone does who no
    longer wants it, in words. ``fixed``: an age that someone declared, and no position that moves on.
    """

    subject: str
    holder: str
    reason: str
    snapshots: tuple[int, ...] = ()
    since_ms: int | None = None
    moved_ms: int | None = None
    unknown: bool = False
    release: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Another resource with files in the same places (see ``places``). ``dropped``: it was destroyed, and can
    still be brought back; ``address`` is then what commands call it, with its uuid where the address means
    another one too.
    """

    address: str
    places: tuple[str, ...]
    dropped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceTask:
    """One kind of maintenance of one resource, due or not.

    ``name`` is the block's. ``id`` is the same for the same thing, settings and snapshot.
    ``summary`` says what would be done, or why nothing is, with the figure against its threshold.
    ``forecast`` and results are numbers by name (see ``Performed``). ``held``: who keeps it from doing more,
    and for how long. ``performer`` is a connection whose session carries it out (see ``Performing``), also
    where the resource's own provider does. ``work`` None: nothing to carry out. ``effect`` of the work is
    the label beside it in a plan; None where nothing is carried out.
    """

    name: str
    id: str
    due: bool
    summary: str
    forecast: Mapping[str, int] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    performer: StoredReference | None = None
    work: StoredWork | None = None
    effect: Effect | None = field(default=None, metadata=SPARSE)
    hits_readers: bool = field(default=False, metadata=SPARSE)
    """True where rows or snapshots go that readers outside of the project may look for. Those inside hold
    what they need.
    """
    readers: tuple[Reader, ...] = field(default=(), metadata=SPARSE)
    """Those readers; the core adds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The last run of a maintenance task as the state keeps it: when (UTC seconds) and by which ``id``.
    ``failed`` says what was wrong with it.
    """

    at: float
    id: str
    forecast: Mapping[str, Data] = field(default_factory=dict)
    result: Mapping[str, Data] = field(default_factory=dict)
    failed: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRequest:
    """Asks for the figures that decide. ``identity`` is the observed one; ``known`` are the figures of the
    last time (or empty).

    ``dropped``: the identities of those of its type that were destroyed and may still be brought back, by
    ``Neighbour.address``. ``declared``: the project's connections. ``in_use``: as in ``ReadRequest``.
    ``runs``: as in ``TasksRequest``.
    """

    address: str
    attributes: Attributes
    identity: Attributes
    references: References
    known: Attributes = field(default_factory=dict)
    dropped: Mapping[str, Attributes] = field(default_factory=dict)
    declared: References = field(default_factory=dict)
    in_use: frozenset[str] = frozenset()
    runs: Mapping[str, LastRun] = field(default_factory=dict)


@runtime_checkable
class Measuring(Protocol):
    """A driver that can measure what its resources need."""

    def measure(self, request: MeasureRequest) -> Attributes:
        """Plain data for the same provider's maintainer; nothing but reading. Raises ``Failure``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksRequest:
    """``attributes`` are the planned ones. ``runs``: the last run by the name of the maintenance task.
    ``neighbours``: those whose files are where this one has its own. ``now_ms``: since 1970, UTC.
    """

    address: str
    attributes: Attributes
    identity: Attributes
    figures: Attributes
    references: References
    now_ms: int
    holds: tuple[Hold, ...] = ()
    runs: Mapping[str, LastRun] = field(default_factory=dict)
    neighbours: tuple[Neighbour, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict on a result, compared with its forecast: in words, and as complaints where it is wrong (an
    error: the run counts as failed).
    """

    messages: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class Maintainer(Protocol):
    """Pure knowledge of what one resource type needs."""

    def wants(self, attributes: Attributes) -> bool:
        """Returns True if any maintenance is declared."""
        ...

    def tasks(self, request: TasksRequest) -> tuple[MaintenanceTask, ...]:
        """All that is declared, due or not, in the order in which it must be done."""
        ...

    def judge(self, task: MaintenanceTask, result: Mapping[str, Data]) -> Judgement:
        """Compares what was done with what was expected."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformRequest:
    """Asks for one maintenance task. ``key`` is the maintenance task's id: repeated after a crash, it must
    find the outcome of the first, or do the rest.

    ``subject`` is the thing (a table with its catalog among the references), ``performer`` the connection
    that the maintenance task named.
    """

    key: str
    subject: Resolved
    performer: Resolved
    work: Work
    references: References
    cancel: threading.Event
    progress: Callable[[str], None]


@runtime_checkable
class Performing(Protocol):
    """A session that carries out work on data for resources of other providers."""

    def perform(self, request: PerformRequest) -> Performed:
        """Waits until it is done. Raises ``Failure`` when it was not, or when that is not known."""
        ...

    def disturbed(self, address: str, performer: Resolved, references: References) -> Sequence[Diagnostic]:
        """Returns the effects on others of work on a resource with these references, as warnings of a plan.
        Raises ``Failure``.
        """
        ...

    def outcome(self, request: PerformRequest) -> Performed | None:
        """Returns the outcome of a request whose asker died; None when that is not known. Begins nothing, but
        waits for the process that works on it.

        Raises ``Failure`` when it was cancelled.
        """
        ...
