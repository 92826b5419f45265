"""The state while an apply changes it: every intent and result goes to the journal before it counts. Touches the state store."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from flareiac.applying.requests import StoredMaintenance, StoredRequest, stored_intent
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.kill_points import reach
from flareiac.kernel.records import encode
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.desired import OutputValue
from flareiac.model.journal import Begun, Ended, Entry, Intent, Outputs, Records, Recovered, Result, decode_entry, encode_entry, replay
from flareiac.model.relocation import restored
from flareiac.model.relocation import stored as stored_places
from flareiac.model.snapshot import ResourceRecord, Snapshot, decode_snapshot, encode_snapshot, new_snapshot, with_places
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.state import Damaged, Journal, Lease, StateStore, Stored

_READS = 10
_WITHOUT_JOURNAL = (
    "The journal holds what the last apply did after the snapshot beside it. Restore it from a backup; or move it away: plan then names "
    "what exists and is not recorded, and import blocks adopt it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A state as read: with the journal replayed, and the revision that a write must name (None: nothing stored yet)."""

    recovered: Recovered
    revision: str | None
    torn: bool = False
    root: str = ""
    """The folder of the root module: what is stored is relative to it."""

    @property
    def snapshot(self) -> Snapshot:
        return self.recovered.snapshot


def load(store: StateStore, root: str) -> Loaded:
    """The state of the root module in ``root``, empty and with a lineage of its own when there is none. Raises ``Damaged`` or OSError."""

    def absolute(data: Data) -> Data:
        return restored(data, root)

    where = store.describe()
    stored, journal = _read(store)
    base = with_places(decode_snapshot(stored.content, where), absolute) if stored else new_snapshot()
    with _journal_lost():
        entries = [_entry(record, f"the journal of {where}", absolute) for record in journal.records]
    return Loaded(recovered=replay(base, entries), revision=stored.revision if stored else None, torn=journal.torn, root=root)


def encode_state(snapshot: Snapshot, root: str) -> bytes:
    """The bytes of the state of the root module in ``root``: places of connections that lie below it are relative to it."""
    return encode_snapshot(with_places(snapshot, lambda data: stored_places(data, root)))


def _entry(record: bytes, where: str, places: Callable[[Data], Data]) -> Entry:
    try:
        entry = _entry_with_places(decode_entry(record, where), places)
        if isinstance(entry, Intent):
            stored_intent(entry.operation)
        return entry
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a journal that FlareIaC wrote")) from problem


def _entry_with_places(entry: Entry, places: Callable[[Data], Data]) -> Entry:
    match entry:
        case Result(record=ResourceRecord() as record):
            return replace(entry, record=record.with_places(places))
        case Intent(operation={"references": references}):
            return replace(entry, operation={**entry.operation, "references": places(references)})
        case _:
            return entry


def _read(store: StateStore) -> tuple[Stored | None, Journal]:
    """Snapshot and journal that belong together: an apply that ends between the two reads replaces one and empties the other."""
    stored = store.read_snapshot()
    for _ in range(_READS):
        with _journal_lost():
            journal = store.read_journal()
        again = store.read_snapshot()
        if (again.revision if again else None) == (stored.revision if stored else None):
            return stored, journal
        stored = again
    return stored, journal


@contextmanager
def _journal_lost() -> Iterator[None]:
    """Damage of the journal has a way out of its own: the snapshot is whole."""
    try:
        yield
    except Damaged as problem:
        raise Damaged(problem.where, problem.why, problem.way_out or _WITHOUT_JOURNAL) from problem


class Recording:
    """One apply's writes. Safe to use from several threads."""

    def __init__(
        self,
        store: StateStore,
        lease: Lease,
        loaded: Loaded,
        apply_id: str,
        *,
        clock: Callable[[], float],
        types: Mapping[str, ResourceType],
    ) -> None:
        self._store, self._lease, self._loaded, self._clock, self._types = store, lease, loaded, clock, types
        self._lock = threading.Lock()
        self._snapshot = loaded.snapshot
        self._records = Records(resources=dict(loaded.snapshot.resources), dropped=loaded.snapshot.dropped)
        self.apply_id = apply_id

    @property
    def snapshot(self) -> Snapshot:
        """The state as recorded up to now."""
        with self._lock:
            return replace(self._snapshot, resources=dict(self._records.resources), dropped=self._records.dropped)

    def record(self, address: str) -> ResourceRecord | None:
        with self._lock:
            return self._records.resources.get(address)

    def identity(self, address: str) -> Attributes:
        """What the world answered last about an address; empty where nothing is recorded."""
        record = self.record(address)
        return record.identity if record else {}

    def begin(self, plan_digest: str) -> None:
        self._append(Begun(apply=self.apply_id, plan=plan_digest, time=self._clock(), lineage=self._snapshot.lineage))

    def intend(self, operation_id: str, operation: StoredRequest | StoredMaintenance) -> None:
        self._append(Intent(apply=self.apply_id, id=operation_id, operation=encode(operation)))
        reach("apply.intent")

    def succeed(self, operation_id: str, address: str, record: ResourceRecord | None, *, forgotten: bool = False) -> None:
        reach("apply.before-result")
        self._take(Result(apply=self.apply_id, id=operation_id, address=address, record=self._with_what_stays(record), forgotten=forgotten))
        reach("apply.result")

    def fail(self, operation_id: str, address: str, error: str, record: ResourceRecord | None) -> None:
        self._take(Result(apply=self.apply_id, id=operation_id, address=address, record=self._with_what_stays(record), error=error))

    def _take(self, result: Result) -> None:
        before = self.record(result.address)
        after = None if result.forgotten else (result.record or before)
        keeper, still = self._keeper(before), self._keeper(after)
        if before is not None and keeper is not None and (still is None or still.address != keeper.address):
            self._put(
                replace(result, id=f"{result.id} (user)", address=keeper.address, record=replace(keeper, user=before), forgotten=False)
            )
        self._put(result)
        if result.error is None and still is not None and still.user is not None:  # another one goes on from it, and holds by itself
            self._put(replace(result, id=f"{result.id} (user)", address=still.address, record=replace(still, user=None)))

    def _put(self, result: Result) -> None:
        self._append(result)
        with self._lock:
            self._records.take(result)

    def _keeper(self, record: ResourceRecord | None) -> ResourceRecord | None:
        """The recorded resource that holds for this one when it leaves the state."""
        kind = self._types.get(record.type) if record is not None else None
        address = kind.kept_by(record.attributes) if kind is not None and record is not None else None
        return self.record(address) if address is not None else None

    def _with_what_stays(self, record: ResourceRecord | None) -> ResourceRecord | None:
        """What was recorded of its maintenance and of its user stays with an object that is recorded again, and is not another one's."""
        known = None if record is None else self.record(record.address)
        if record is None or known is None or not known.is_same(record):
            return record
        return replace(record, upkeep=record.upkeep or known.upkeep, user=record.user or known.user)

    def finish(self, outputs: Mapping[str, OutputValue]) -> Snapshot:
        """Ends the apply: writes the snapshot anew and empties the journal."""
        self._append(Outputs(apply=self.apply_id, outputs=dict(outputs)))
        self._append(Ended(apply=self.apply_id))
        reach("apply.before-snapshot")
        final = replace(self.snapshot, serial=self._snapshot.serial + 1, outputs=dict(outputs))
        self._store.write_snapshot(encode_state(final, self._loaded.root), expect=self._loaded.revision, lease=self._lease)
        reach("apply.snapshot")
        return final

    def _append(self, entry: Entry) -> None:
        self._lease.check()
        relative = _entry_with_places(entry, lambda data: stored_places(data, self._loaded.root))
        self._store.append_journal(encode_entry(relative), self._lease)
