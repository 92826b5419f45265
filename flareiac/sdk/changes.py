"""The answer of a planner: attribute changes with their origin, effects, actions, proposals."""

import re
from collections.abc import Iterable
from dataclasses import field, replace
from enum import StrEnum
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.records import OPTIONAL, SPARSE, UNSTORED
from flareiac.sdk.owner import Owner
from flareiac.sdk.service_level import ServiceLevel

_SENTENCE_END: Final = re.compile(r"(?<=\.)\s")


class Origin(StrEnum):
    """The origin of a difference (design: desired, recorded and observed are compared pairwise)."""

    CONFIG = "config"
    DRIFT = "drift"
    BOTH = "both"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeChange:
    """One attribute that differs. ``old`` is recorded (or live when nothing is recorded), ``new`` desired,
    ``live`` observed.

    ``note`` is what this change does, in a few words ("metadata only", "restart"); ``sensitive`` values are
    never shown.
    """

    path: Path
    origin: Origin
    old: Data
    new: Data
    live: Data
    note: str = field(default="", metadata=SPARSE)
    sensitive: bool = field(default=False, metadata=SPARSE)
    drift: str = field(default="", compare=False, metadata=UNSTORED)
    """The sentence of ``Proposal.drift`` that is about this attribute alone."""

    @property
    def has_drifted(self) -> bool:
        """Returns True if what is there is not what was recorded."""
        return self.origin in (Origin.DRIFT, Origin.BOTH)


class Action(StrEnum):
    """The action of apply on one resource."""

    NO_OP = "no-op"
    CREATE = "create"
    ADOPT = "adopt"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    FORGET = "forget"
    RECORD = "record"
    """Only the state is brought up to date: no remote write, not counted as a change."""


class Effect(StrEnum):
    """The effect of a step on existing resources; the label beside it in the plan."""

    METADATA = "metadata only"
    """An object gets other metadata or is made empty, and no data is written, moved or deleted."""
    RENAMES = "renames for all readers"
    """The data does not change, and readers that use the old name no longer find it."""
    NEW_SNAPSHOT = "new snapshot"
    REWRITES_DATA = "rewrites data"
    MOVES_FILES = "moves files"
    LOSES_DATA = "loses data"
    STARTS = "starts"
    STOPS = "stops"
    RESTART = "restart"
    RESULTS_CHANGE = "results change"
    NEW_GENERATION = "new generation"
    NO_EFFECT = "no effect"
    LIVE = "live"
    TAKEN = "taken to mean the same; proven before apply changes anything"
    """Another text of one query, as far as can be told without asking the system that runs it."""
    RECORDED = "only recorded"
    """Only the state of the project takes it: no object and no running query changes."""
    IRREVERSIBLE = "irreversible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something whose readers notice a step: the resource itself, or ``subject``, the address of another one.
    ``columns``: the names in lower case that the step is about, where it is not about the whole. ``part``:
    the branch that it is about alone; None for the whole.
    """

    subject: str = field(default="", metadata=SPARSE)
    columns: tuple[str, ...] = field(default=(), metadata=SPARSE)
    part: str | None = field(default=None, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One that reads what a step changes, by address: a job, or a consumer outside of the project.
    ``columns``: those of the step that it is known to read; empty where it reads the whole, or where the
    columns that it reads are not known.
    """

    address: str
    owner: Owner | None = field(default=None, metadata=SPARSE)
    columns: tuple[str, ...] = field(default=(), metadata=SPARSE)
    is_certain: bool = True
    """False where it may also not read these columns."""
    is_former: bool = field(default=False, metadata=SPARSE)
    """True where only the last apply knew it as a reader: it is not declared any more."""
    known_as: str = field(default="", metadata=SPARSE)
    """The name by which the system of the resource knows it, such as a consumer group; a planner names a
    reader by this alone.
    """

    def joined(self, other: "Reader") -> "Reader":
        """The same reader, with what either says of it."""
        columns = tuple(dict.fromkeys((*self.columns, *other.columns)))
        return replace(self, columns=columns, is_certain=self.is_certain or other.is_certain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One typed change in words a tired engineer understands: what happens, its effect, and why (rule and
    version).
    """

    text: str
    effect: Effect
    why: str = ""
    batch_seconds: float | None = field(default=None, metadata=OPTIONAL)
    """The duration of the last batch of what stops, which is waited for; None where that is not known."""
    replays: tuple[int, ...] = field(default=(), metadata=SPARSE)
    """The numbers of the batches that were begun, and are done again."""
    hits: tuple[Hit, ...] = field(default=(), metadata=SPARSE)
    """Left out where it loses data or renames: then it hits all readers of the resource."""
    rules: tuple[str, ...] = field(default=(), metadata=SPARSE)
    """The rules that ``why`` quotes, by the name of their ``sdk.documents.Topic``."""
    readers: tuple[Reader, ...] = field(default=(), metadata=SPARSE)
    """The readers whom it hits. A planner gives those that the system of the resource shows; the core leaves
    out whom a declared reader stands for, and adds all declared ones.
    """


QUIESCE: Final = "quiesce"
"""The name of the stage that stops what runs; the core plans the same operation for what a change of another
resource would kill.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One effect of a change that is an operation of its own: planned, journalled and repeated by its id.

    ``name`` is unique within the change and part of the operation's id: no blank and no ``#``.
    ``text`` says what happens, in the imperative, with the addresses that it touches. ``early``: it is over
    before anything that the resource refers to changes. Data of another resource is only ever destroyed by a
    stage of its own, with ``Effect.LOSES_DATA``.
    """

    name: str
    text: str
    effect: Effect | None = field(default=None, metadata=SPARSE)
    early: bool = field(default=False, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A reason why a resource cannot be applied as written: what, why, and the lines to paste for each way
    out.
    """

    code: str
    summary: str
    why: str
    ways_out: tuple[str, ...] = ()
    rules: tuple[str, ...] = field(default=(), metadata=SPARSE)
    """As in ``Step``."""

    @property
    def line(self) -> str:
        """The summary with the first sentence of ``why``, which names what is wrong."""
        return f"{self.summary}: {_SENTENCE_END.split(self.why, maxsplit=1)[0].rstrip('.')}"

    def as_error(self, detail: str, *, address: str | None = None) -> Diagnostic:
        """The same obstacle as an error, for what stops at it without a plan that could show it."""
        return Diagnostic(code=self.code, summary=self.summary, detail=detail, address=address)


def blocker(code: Code, why: str, ways_out: Iterable[str] = (), rules: Iterable[str] = ()) -> Blocker:
    """A blocker: its code, a ``why`` that names what is wrong, the ways out, and the rules that ``why``
    quotes.
    """
    return Blocker(code=code.id, summary=code.title, why=why, ways_out=tuple(ways_out), rules=tuple(rules))


class Relation(StrEnum):
    """The relation of a holder to a subject."""

    WRITES = "writes"
    STREAMS_FROM = "streams from"
    LOOKS_UP = "looks up"
    KEEPS_STATE_IN = "keeps its state in"
    OWNS_LOCATION = "owns location"
    HOLDS_ALONE = "holds alone"
    """No other holder may have the subject. ``Usage.conflict`` says what it means where one has it."""
    REAL_NAME = "real name"
    """The subject is the resource's identity in the world: two holders of one such subject are an error."""


class Sharing(StrEnum):
    """The effect of a writer on the rows that other writers of the same subject have written."""

    ADDS = "adds rows"
    CHANGES = "changes rows"
    """It updates or deletes some of them: what is there in the end depends on who writes last."""
    REPLACES_PARTITIONS = "replaces rows by partition"
    """All rows of each partition that it writes."""
    REPLACES = "replaces all rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two holders of one subject: ``what`` they do, as in "use the same location", and the ``way_out``."""

    code: Code
    what: str
    way_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """``holder`` (an address) has this relation to ``subject`` (an address, or a text such as a location)."""

    subject: str
    holder: str
    relation: Relation
    reason: str
    completes: bool = False
    """True if the holder's operation ends when its work on the subject is done (a finite run), so that
    readers can wait for it.
    """
    tolerates: tuple[str, ...] = ()
    """Changes of the subject that do not end a holder that runs on: ``deletes`` and ``overwrites`` of
    rows that it reads, ``added columns`` of what it writes.
    """
    columns: tuple[str, ...] | None = None
    """In lower case: of a writer all that it gives, of a reader some that it certainly reads. None where that
    cannot be determined.
    """
    part: str | None = None
    """The part of the subject that is used, where it is not the main one: a table's branch."""
    sharing: Sharing = Sharing.ADDS
    """The effect of a writer on the rows of others."""
    mode: str = ""
    """The word of the holder's configuration that decides ``sharing``."""
    queries: tuple[str, ...] | None = None
    """The ids of all queries that a writer is recorded to run or to have run; None where they are not known.
    """
    conflict: Conflict | None = None
    """The meaning of another holder, with ``HOLDS_ALONE``."""
    known_as: str = ""
    """The name by which the system of the subject knows the holder, such as a consumer group."""
    is_outside: bool = False
    """True of a reader outside of the project: nothing waits for it, and nothing is held for it."""
    level: ServiceLevel | None = None
    """How fresh the subject has to be for the holder, as declared."""
    counts: bool = False
    """True if the holder's plan says how many rows the subject has, so that its history is read."""


class Reaction(StrEnum):
    """The reaction that a change of a subject requires of the running holders of a usage."""

    RUNS_ON = "runs on"
    RESTARTS = "restarts"
    STOPS_FIRST = "stops first"
    CAN_NOT = "cannot go on"
    """It stops first, and cannot start again on what it has kept of the old subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """A change of this resource disturbs the running holders of a relation, but for those whose usage
    tolerates it.
    """

    relation: Relation
    reaction: Reaction
    reason: str
    tolerance: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A planner's answer for one resource."""

    action: Action
    planned: Attributes | None
    """The canonical attributes that it will have, UNKNOWN where only apply can tell; None: it will be gone.
    """
    changes: tuple[AttributeChange, ...] = ()
    steps: tuple[Step, ...] = ()
    reasons: tuple[str, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    disturbs: tuple[Impact, ...] = ()
    drift: tuple[str, ...] = ()
    """The changes behind the team's back, in words, for ``drift``."""
    fingerprint: Data = None
    """See ``Planner.fingerprint``; the core adds it."""
    payload: Data = None
    """JSON data that the driver needs to carry out exactly this: typed changes and requirements, encoded."""
    diagnostics: tuple[Diagnostic, ...] = ()
    keeps: tuple[str, ...] = field(default=(), metadata=UNSTORED)
    """Attributes whose declared value means the same as the recorded one, so that the recorded one is
    planned, in whole or in parts.
    """
    unproven: str = ""
    """The part that apply alone proves before it changes anything, such as ``SQL``."""
    provable: bool = field(default=False, metadata=SPARSE)
    """True if it is blocked for want of a proof alone (see ``Proving``)."""
    unknown: tuple[str, ...] = field(default=(), metadata=SPARSE)
    """Facts that could not be observed, in words, so that no changes here do not mean that all is well.
    Diagnostics explain it.
    """
    stages: tuple[Stage, ...] = field(default=(), metadata=SPARSE)
    """The stages before the change's own operation, in order, each carried out by ``Staged.perform``."""
    closing: str = field(default="", metadata=SPARSE)
    """The work of the operation after all stages, in the imperative."""
    at_rest: bool = field(default=False, metadata=UNSTORED)
    """True of a resource for running that certainly does not run now, and goes on with nothing that it kept,
    so that no change of what it uses concerns it.
    """
