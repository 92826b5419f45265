"""The journal: what an apply is about to do and what came of it, one record each; and its replay onto a
snapshot.
"""

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Final, Literal, TypeAlias

from flareiac.kernel.data import Data, Seconds, read_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, decode, encode
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.desired import OutputValue
from flareiac.model.snapshot import (
    ResourceRecord,
    Snapshot,
    with_dropped,
    without_dropped,
)
from flareiac.sdk.state import Damaged


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRecords:
    """The difference that moves make in a state: the records that are new or changed, the addresses that
    nothing has any more, and the parts of the state that name addresses, whole.
    """

    records: tuple[ResourceRecord, ...]
    left: tuple[str, ...]
    dropped: tuple[ResourceRecord, ...] = ()
    applied: AppliedFrom | None = None
    named_after: dict[str, str]


def moved_records(before: Snapshot, after: Snapshot) -> MovedRecords | None:
    """The difference between a state and the same one after moves; None without any."""
    changed = tuple(
        record for address, record in after.resources.items() if before.resources.get(address) != record
    )
    left = tuple(address for address in before.resources if address not in after.resources)
    if not changed and not left and before.named_after == after.named_after:
        return None
    return MovedRecords(
        records=changed,
        left=left,
        dropped=after.dropped,
        applied=after.applied,
        named_after=dict(after.named_after),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """An apply starts. ``plan`` is the digest of its plan, ``time`` UTC seconds; the lineage of a state that
    has no snapshot yet.
    """

    kind: Literal["begun"] = "begun"
    apply: str
    plan: str
    time: Seconds
    lineage: str
    applied: AppliedFrom | None = field(default=None, metadata=SPARSE)
    """The origin of the apply, where it is recorded."""
    moved: MovedRecords | None = field(default=None, metadata=SPARSE)
    """The records that have another address from here on, or refer to one; None where nothing moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A side effect is about to happen. ``operation`` is the plan's operation as data, enough to settle it
    without the plan.
    """

    kind: Literal["intent"] = "intent"
    apply: str
    id: str
    operation: Data


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """An operation ended. ``record`` is what is recorded now; ``error`` when it failed.

    ``forgotten``: the resource left the state; ``record`` is then what it takes to bring it back, if that can
    be. ``note``: what a stage left for those after it.
    """

    kind: Literal["result"] = "result"
    apply: str
    id: str
    address: str
    forgotten: bool = False
    record: ResourceRecord | None = None
    error: str | None = None
    note: Data = field(default=None, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The outputs as they are after an apply."""

    kind: Literal["outputs"] = "outputs"
    apply: str
    outputs: dict[str, OutputValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The apply is over; nothing of it is open."""

    kind: Literal["ended"] = "ended"
    apply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The state was copied to another place, which counts from then on. ``to`` says where, for people; the
    next snapshot that is written here ends it.
    """

    kind: Literal["moved"] = "moved"
    to: str


Entry: TypeAlias = Begun | Intent | Result | Outputs | Ended | Moved
_KINDS: Final = ("begun", "intent", "result", "outputs", "ended", "moved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """An apply that has begun and not ended: its open intents by operation id, the ids that have a result
    (True: it succeeded), and what stages noted.
    """

    begun: Begun
    open: dict[str, Intent] = field(default_factory=dict)
    results: dict[str, bool] = field(default_factory=dict)
    notes: dict[str, Data] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """A snapshot with its journal replayed. ``moved``: the place that counts instead of this one."""

    snapshot: Snapshot
    interrupted: Interrupted | None = None
    entries: int = 0
    moved: str | None = None


def encode_entry(entry: Entry) -> bytes:
    """One record's bytes (one line of JSON without the line break)."""
    return write_json(encode(entry), compact=True, ensure_ascii=False).encode()


def decode_entry(content: bytes, where: str) -> Entry:
    """The inverse of ``encode_entry``. Raises ``Damaged``."""
    try:
        data = read_json(content)
        if data["kind"] not in _KINDS:
            raise Damaged(where, f"it holds a record of the unknown kind {data['kind']!r}")
        entry: Entry = decode(Entry, data, complete=True)
        return entry
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a journal that FlareIaC wrote")) from problem


@dataclass(slots=True, kw_only=True)
class Records:
    """The records as results come in: one rule for writing the journal and for replaying it."""

    resources: dict[str, ResourceRecord]
    dropped: tuple[ResourceRecord, ...]

    def take(self, result: Result) -> None:
        """An object that another one takes the place of in the state is kept among the dropped: nothing else
        knows of it any more.
        """
        record, before = result.record, self.resources.get(result.address)
        if result.forgotten:
            self.resources.pop(result.address, None)
            self.dropped = with_dropped(self.dropped, record) if record is not None else self.dropped
        elif record is not None:
            self.resources[result.address] = record
            self.dropped = without_dropped(self.dropped, record)
            if before is not None and before.uuid is not None and not before.is_same(record):
                self.dropped = with_dropped(self.dropped, before)

    def move(self, moved: MovedRecords) -> None:
        """Records get other addresses."""
        for address in moved.left:
            self.resources.pop(address, None)
        self.resources.update({record.address: record for record in moved.records})
        self.dropped = moved.dropped


def replay(snapshot: Snapshot, entries: Iterable[Entry]) -> Recovered:
    """The state after the journal's records, and the apply that they leave open, if any."""
    outputs, lineage, applied = dict(snapshot.outputs), snapshot.lineage, snapshot.applied
    named_after = snapshot.named_after
    records = Records(resources=dict(snapshot.resources), dropped=snapshot.dropped)
    interrupted: Interrupted | None = None
    moved: str | None = None
    count = 0
    for entry in entries:
        count += 1
        match entry:
            case Begun():
                if entry.moved is not None:
                    records.move(entry.moved)
                    applied, named_after = entry.moved.applied, entry.moved.named_after
                lineage, applied = entry.lineage, entry.applied or applied
                interrupted = Interrupted(begun=entry)
            case Intent() if interrupted:
                interrupted.open[entry.id] = entry
            case Result():
                if interrupted:
                    interrupted.open.pop(entry.id, None)
                    interrupted.results[entry.id] = entry.error is None
                    interrupted.notes[entry.id] = entry.note
                records.take(entry)
            case Outputs():
                outputs = dict(entry.outputs)
            case Ended():
                # The snapshot that follows may not have been written, so the results before this still count.
                interrupted = None
            case Moved():
                moved = entry.to
            case _:
                pass
    state = replace(
        snapshot,
        lineage=lineage,
        resources=records.resources,
        outputs=outputs,
        dropped=records.dropped,
        applied=applied,
        named_after=named_after,
    )
    return Recovered(snapshot=state, interrupted=interrupted, entries=count, moved=moved)
