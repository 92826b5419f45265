"""The contract of a provider: small required interfaces, optional capabilities, promises the core checks.

Planners are pure: no session, no clock, no I/O. Drivers touch the world and tell its trouble with ``Failure``.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path as FilePath
from typing import Protocol, TypeAlias, runtime_checkable

from flareiac.kernel.codes import CodeTable
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.types import Type
from flareiac.sdk.changes import Claim, Disturbance, Proposal
from flareiac.sdk.lakehouse import TableHistory
from flareiac.sdk.maintenance import Hold, Maintainer
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.schema import Block


class Kind(StrEnum):
    CONNECTION = "connection"
    """Known at plan, never counted as a change: catalog, engine."""
    DECLARATION = "declaration"
    """Part of the resources that refer to it: stream."""
    DATA = "data"
    """Read when a plan is made and never changed: what others own. The type's name is ``data.`` and the first label of its blocks."""
    MANAGED = "managed"
    """Planned, recorded, drifting: table, checkpoint, job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Where a command runs. Paths in attributes are relative to ``root``; ``workspace`` is part of default locations.

    ``resolve`` follows the links in a place (see ``sdk.places``); without a disk to look at, a place is what it is called.
    """

    root: FilePath
    workspace: str = "default"
    lineage: str = ""
    resolve: Callable[[str], str] = field(default=lambda place: place, compare=False, repr=False)

    @property
    def data_dir(self) -> FilePath:
        """The project's own files (``.flareiac``)."""
        return self.root / ".flareiac"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the state holds of one resource: canonical desired attributes of the last apply, and what the world answered then.

    ``identity`` is what the driver returned (table uuid, metadata location, query ids, ...); ``private`` is the provider's own. ``user``:
    address and attributes of what used it last, where that has left the state (see ``ResourceType.kept_by``).
    """

    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    schema_version: int = 1
    user: tuple[str, Attributes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """It is there. ``attributes`` are canonical, in the shape of the planner's; ``identity`` as in ``Recorded``.

    ``unmanaged`` describes things inside it that nobody declared (for ``drift``), ``unhealthy`` what is wrong with it while it runs.
    ``history``: of a table, what of it can be read as a stream, where it was asked for; for the planners of others, and never recorded.
    """

    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    unmanaged: tuple[str, ...] = ()
    unhealthy: tuple[str, ...] = ()
    history: TableHistory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The system answered, and it is not there. ``reason`` is shown; ``identity`` is what is left of it all the same."""

    reason: str = ""
    identity: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """The system did not answer, or what it holds cannot be read. Never the same as missing."""

    diagnostic: Diagnostic


Observation: TypeAlias = Present | Missing | Unreadable


def history_of(observed: Observation | None) -> TableHistory | None:
    """The past of a table as it was observed: empty for one that is not there yet, None where it is not known."""
    match observed:
        case Present(history=history):
            return history
        case Missing():
            return TableHistory()
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """Asks for one resource. ``cheap``: the driver may answer from the recorded values when a cheap identity is unchanged.

    ``history``: of a table, what of it can be read as a stream is asked for too (see ``Present.history``).
    """

    address: str
    desired: Attributes | None
    recorded: Recorded | None
    references: References
    cheap: bool = True
    import_id: str | None = None
    history: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One resource to ask about. ``provider`` and ``type`` say whom."""

    provider: str
    type: str
    request: ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A recorded resource that is no longer declared; ``destroy_object`` as in ``PlanRequest``."""

    type: str
    recorded: Recorded
    destroy_object: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """Asks a planner about one resource. ``desired`` None: it is no longer declared. ``destroy_object``: a ``removed`` block asked
    for destruction. ``importing``: an ``import`` block named this object, so that adopting it is wanted. ``replace``: asked for by name.
    """

    address: str
    desired: Attributes | None
    recorded: Recorded | None
    observed: Observation
    references: References
    project: Project
    importing: bool = False
    import_id: str | None = None
    """The id that an ``import`` block gives for this address, also where the resource is recorded already."""
    destroy_object: bool = False
    replace: bool = False
    protected: bool = False
    disturbances: tuple[Disturbance, ...] = ()
    """What changes of other resources ask of this one while it runs (the core asks the planner a second time when there are any)."""
    claims: tuple[Claim, ...] = ()
    """What other declared resources do with this one and with what it refers to directly."""
    leaving: tuple[Leaving, ...] = ()
    """Of a resource that is no longer declared: the others of which the same is true."""


class Planner(Protocol):
    """Pure knowledge of one managed resource type."""

    def plan(self, request: PlanRequest) -> Proposal:
        """What apply would do. User-caused trouble is a blocker or a diagnostic in the proposal."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A body as decoded from HCL, on its way to canonical attributes."""

    address: str
    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """One block type.

    ``canonical(decoded, references, project, diagnostics)`` turns decoded HCL into the canonical attributes that are compared, recorded and
    handed to planner and driver: defaults filled in where they are part of the meaning, types normalised, None for what is not managed. It
    reports what is wrong before any system is asked; ``diagnostics`` entries carry ``attribute`` paths as written in HCL, and the core
    adds the span.
    ``claims`` tells what a resource reads, writes and owns. ``computed`` names attributes that only the world knows, by type.
    ``default`` is the decoded body of the embedded instance when none is declared (connections only).
    ``maintainer`` decides what work is due. ``holds(address, attributes, references, identity)`` tells, of a recorded resource as observed,
    what it still needs of others. ``kept_by(attributes)`` names the recorded resource that goes on holding the same once this one has left
    the state (a job's checkpoint). ``places(attributes, identity, project)`` tells where it has files of its own (see ``sdk.places``); the
    identity is empty of what was never observed. ``sources(attributes, project)``: folders with files that it needs and others write.
    """

    name: str
    kind: Kind
    schema: Block
    description: str
    canonical: Callable[[Decoded, References, Project, Diagnostics], Attributes]
    planner: Planner | None = None
    claims: Callable[[str, Attributes, References], tuple[Claim, ...]] = lambda _address, _attributes, _references: ()
    computed: Mapping[str, Type] = field(default_factory=dict)
    default: Attributes | None = None
    schema_version: int = 1
    maintainer: Maintainer | None = None
    holds: Callable[[str, Attributes, References, Attributes], tuple[Hold, ...]] = lambda *_nothing: ()
    kept_by: Callable[[Attributes], str | None] = lambda _attributes: None
    places: Callable[[Attributes, Attributes, Project], tuple[str, ...]] = lambda *_nothing: ()
    sources: Callable[[Attributes, Project], tuple[str, ...]] = lambda *_nothing: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A pure function of the language: plain data in, plain data out. ``ValueError`` from ``call`` becomes a diagnostic."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    returns: Type
    call: Callable[..., Data]
    description: str
    optional: tuple[tuple[str, Type], ...] = ()
    variadic: tuple[str, Type] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """Asks a driver to carry out one proposal. ``key`` is the operation's idempotency key; repeating a request with the same key
    after a crash must find the outcome of the first. ``planned`` has no UNKNOWN left but computed ones. ``going``: the addresses of what
    the same plan destroys.
    """

    key: str
    address: str
    action: str
    planned: Attributes | None
    recorded: Recorded | None
    payload: Data
    references: References
    cancel: threading.Event
    progress: Callable[[str], None]
    going: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Done. ``attributes`` and ``identity`` are recorded; ``restore`` is a ready command that undoes a risky step.

    ``revivable``: it was deleted, and what is recorded of it here is enough to bring it back.
    """

    attributes: Attributes
    identity: Attributes
    messages: tuple[str, ...] = ()
    revivable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplied:
    """Not done, and nothing changed in the world (or nothing that the next plan would not see)."""

    diagnostics: tuple[Diagnostic, ...]
    attributes: Attributes | None = None
    identity: Attributes | None = None
    """With ``attributes``: what did change all the same and must be recorded (a partly applied resource)."""
    restored: bool = False
    """The change was made, failed, and what was there before was put back: the apply counts as partly applied."""


Outcome: TypeAlias = Applied | NotApplied


class Driver(Protocol):
    """Touches one kind of thing in the world."""

    def read(self, request: ReadRequest) -> Observation: ...

    def apply(self, request: ApplyRequest) -> Outcome:
        """Create, adopt or update."""
        ...

    def delete(self, request: ApplyRequest) -> Outcome:
        """Delete; ``Applied`` when it is gone (or was gone already)."""
        ...


@runtime_checkable
class Prefetching(Protocol):
    """A driver that reads many at once: called before the ``read`` of each, from one thread."""

    def prefetch(self, requests: Sequence[ReadRequest]) -> None: ...


@runtime_checkable
class Quiescable(Protocol):
    """A driver whose resources run and can be stopped and started without being changed."""

    def quiesce(self, request: ApplyRequest) -> Outcome:
        """Stop it at a batch boundary as well as the system can; it stays recorded."""
        ...


@runtime_checkable
class Preflighting(Protocol):
    """A driver that can prove a set of changes before the first side effect on data."""

    def preflight(self, requests: Sequence[ApplyRequest]) -> tuple[Diagnostic, ...]: ...


@runtime_checkable
class Settling(Protocol):
    """A driver that can tell, by reading only, how an operation whose result was lost ended."""

    def settle(self, request: ApplyRequest) -> Outcome | None:
        """The recorded outcome if the operation was carried out, None if it left no trace and can be repeated."""
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """A driver whose ``settle`` does nothing but reading: a plan after an interruption asks it, without holding the lock."""

    def foresee(self, request: ApplyRequest) -> Outcome | None:
        """What ``settle`` will answer."""
        ...


@runtime_checkable
class Inspecting(Protocol):
    """A driver whose resources run: what one of them is doing now."""

    def inspect(self, address: str, recorded: Recorded, references: References) -> Attributes:
        """``phase``, ``run_id``, ``batch``, ``last_commit`` (UTC seconds), ``lag``, ``input_rows_per_second``,
        ``processed_rows_per_second``, ``watermark``, ``failures``, ``last_error``, ``log``; None where nothing is known.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRequest:
    """Asks how much there is of one recorded resource. ``known``: what was last measured of it; ``runs``: the last run of each kind of
    maintenance, as the state keeps them.
    """

    address: str
    recorded: Recorded
    references: References
    known: Attributes = field(default_factory=dict)
    runs: Mapping[str, Attributes] = field(default_factory=dict)


@runtime_checkable
class Surveying(Protocol):
    """A driver whose resources hold data: how much, in how many parts, and how it is kept."""

    def survey(self, request: SurveyRequest) -> Attributes:
        """``rows``, ``bytes``, ``files``, ``delete_files``; ``small_files`` of ``looked_at_files``, as of ``looked_at`` (ms since 1970,
        None: now); ``snapshots`` (how many), ``oldest_snapshot``, ``last_commit`` (ms since 1970); ``names`` of branches and tags,
        ``format_version``, ``location``; ``maintenance``: ``name``, ``declared``, ``last`` and ``next`` (UTC seconds), ``failed``,
        ``result`` of each kind. None where nothing is known. Cheap. Raises ``Failure``.
        """
        ...


@runtime_checkable
class Explaining(Protocol):
    """A driver that can tell what is inside a recorded thing, for a person who has to decide something about it."""

    def explain(self, address: str, recorded: Recorded) -> Attributes:
        """Plain data, in the provider's own shape. Raises ``Failure``."""
        ...


@runtime_checkable
class Collecting(Protocol):
    """A driver whose resources leave things behind that are of no more use."""

    def collect(self, address: str, recorded: Recorded, holders: Mapping[str, Recorded], *, dry_run: bool) -> Sequence[str]:
        """Removes them and says what, in lines; ``dry_run``: says only. ``holders`` are the recorded resources that refer to this one: what
        they may still need stays. Raises ``Failure``.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """``texts`` say what happens; ``payload`` is what ``restore`` needs to do exactly that. ``there``: it stands there already."""

    texts: tuple[str, ...]
    payload: Data
    there: bool = False


@runtime_checkable
class Restoring(Protocol):
    """A driver whose resources keep earlier states of themselves, and can be set back to one."""

    def history(self, address: str, recorded: Recorded, references: References) -> Sequence[Attributes]:
        """Its states, newest first: ``id``, ``at`` (ms since 1970), ``operation``, ``writer`` (in words), ``added``, ``deleted``, ``total``
        (rows, None where not known), ``current``, ``names`` (of tags and branches). Raises ``Failure``.
        """
        ...

    def way_back(self, request: ApplyRequest) -> WayBack:
        """What setting it back would do; nothing but reading. ``request.payload``: ``to`` (an id, or None), and ``known``: what others
        recorded before they emptied it, each with ``snapshot_id`` (None: it was empty), ``branch`` (None: the main one) and ``why`` in
        words. Raises ``Failure``.
        """
        ...

    def restore(self, request: ApplyRequest) -> Outcome:
        """Sets it back. ``request.payload`` is the one of a ``WayBack``, and nothing else is done."""
        ...


@runtime_checkable
class Reviving(Protocol):
    """A driver whose deleted resources can be brought back as long as what they were made of is there."""

    def revive(self, request: ApplyRequest) -> Outcome:
        """Brings back what ``request.recorded`` says; ``Applied`` also where it is there already. Its attributes are what is recorded
        from now on. ``action`` is ``revive``, also when it is settled. ``request.references`` are as declared now, where they still are;
        ``request.payload`` has in ``then``, by address, their attributes when it was recorded.
        """
        ...


class Steer(StrEnum):
    """What a person can ask of something that runs, beside changing it."""

    STOP = "stop"
    START = "start"
    RESTART = "restart"


@runtime_checkable
class Steering(Protocol):
    """A driver whose resources can be stopped, started and restarted by hand, on their recorded definition."""

    def steer(self, verb: Steer, request: ApplyRequest) -> Outcome:
        """``request.planned`` is the recorded definition."""
        ...


@runtime_checkable
class Starting(Protocol):
    """A driver whose resources start by hand only where a plan would start them."""

    def starting(self, recorded: Recorded, observed: Observation, *, by_name: bool) -> Attributes | None:
        """The definition for which a plan is to be made before a start by hand; None if nothing would start. ``by_name``: this resource
        was asked for, and not the connection that runs it."""
        ...


@runtime_checkable
class SteeringConnections(Protocol):
    """A session whose connections run something of their own: an engine's application."""

    def steer_connection(
        self, verb: Steer, connection: Resolved, cancel: threading.Event, progress: Callable[[str], None]
    ) -> Sequence[str]:
        """Ends it, starts it or both, and says what came of it, in lines. What runs in it stays declared. Raises ``Failure``."""
        ...


@runtime_checkable
class Recovering(Protocol):
    """A session that reaches a system through its files, and can finish what a writer that was killed left of them."""

    def recover(self, connections: Sequence[Resolved]) -> None:
        """Undoes half a write. Asked by commands that hold the lock, before they read; trouble is left to whatever reads next."""
        ...


class Verdict(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of ``doctor``: what was looked at, how it is, and what to do about it."""

    name: str
    verdict: Verdict
    text: str
    fix: str = ""


@runtime_checkable
class Diagnosing(Protocol):
    """A session that can examine what it needs. ``references`` are the declared connections and all else that is declared."""

    def checks(self, references: References) -> Sequence[Check]: ...


@runtime_checkable
class Initialising(Protocol):
    """A session that has something to fetch before its first use. Returns what it did, in lines. Raises ``Failure``."""

    def initialise(self, references: References, progress: Callable[[str], None]) -> Sequence[str]: ...


@runtime_checkable
class Serving(Protocol):
    """A provider that has a long-running process of its own, which ``flareiac driver LOCATION`` runs in the foreground."""

    def serve(self, location: FilePath, root: FilePath) -> int:
        """Runs until told to stop; returns the exit code. ``root``: where the command runs. Raises ``Failure``."""
        ...


class Session(Protocol):
    """An open provider. Drivers are safe to use from several threads."""

    def driver(self, type_name: str) -> Driver: ...

    def close(self) -> None: ...


class Provider(Protocol):
    """What an entry point of the group ``flareiac.providers`` returns when called without arguments."""

    name: str

    def resource_types(self) -> Sequence[ResourceType]: ...

    def functions(self) -> Sequence[Function]: ...

    def codes(self) -> CodeTable:
        """The codes of its diagnostics, with their pages."""
        ...

    def open(self, project: Project) -> Session: ...
