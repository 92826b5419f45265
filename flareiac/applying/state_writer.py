"""The state while an apply changes it: every intent and result goes to the journal before it counts. Touches
the state store.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from flareiac.applying.emergency_file import EmergencyFile
from flareiac.applying.journal_writer import JournalWriter
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.kill_points import reach
from flareiac.kernel.records import encode
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.desired import OutputValue
from flareiac.model.intents import StoredMaintenance, StoredRequest
from flareiac.model.journal import (
    Begun,
    Ended,
    Entry,
    Intent,
    Outputs,
    Records,
    Result,
    encode_entry,
    moved_records,
)
from flareiac.model.relocation import stored as stored_places
from flareiac.model.snapshot import ResourceRecord, Snapshot, after_maintenance, with_names_in_use
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.state import Lease, LockLost, StateStore
from flareiac.state.places import encode_state, with_entry_places
from flareiac.state.read import Loaded


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
        self._journal = JournalWriter(store, lease, written=loaded.recovered.entries)
        self._lock = threading.Lock()
        self._snapshot = loaded.snapshot
        self._records = Records(resources=dict(loaded.snapshot.resources), dropped=loaded.snapshot.dropped)
        interrupted = loaded.recovered.interrupted
        self._notes = dict(interrupted.notes) if interrupted is not None else {}
        self.apply_id = apply_id

    @property
    def snapshot(self) -> Snapshot:
        """The state as recorded up to now."""
        with self._lock:
            return replace(
                self._snapshot, resources=dict(self._records.resources), dropped=self._records.dropped
            )

    def record(self, address: str) -> ResourceRecord | None:
        with self._lock:
            return self._records.resources.get(address)

    def identity(self, address: str) -> Attributes:
        """Returns the last recorded answer of the world about an address; empty where nothing is recorded."""
        record = self.record(address)
        return record.identity if record else {}

    def note(self, operation_id: str) -> Data:
        """Returns what a completed stage left for those after it."""
        with self._lock:
            return self._notes.get(operation_id)

    def move(self, moved: Snapshot) -> None:
        """Goes on with the state after moves, which are recorded with the beginning of the apply."""
        with self._lock:
            self._snapshot = moved
            self._records = Records(resources=dict(moved.resources), dropped=moved.dropped)

    def begin(self, plan_digest: str, applied: AppliedFrom | None = None) -> None:
        """``applied``: where it comes from; None leaves what is recorded of that."""
        self._append(
            Begun(
                apply=self.apply_id,
                plan=plan_digest,
                time=self._clock(),
                lineage=self._snapshot.lineage,
                applied=applied,
                moved=moved_records(self._loaded.snapshot, self.snapshot),
            )
        )
        with self._lock:
            self._snapshot = replace(self._snapshot, applied=applied or self._snapshot.applied)

    def arm(self, emergency: EmergencyFile) -> None:
        """Side effects begin: a result that the state cannot take goes to the emergency file."""
        state = self._snapshot
        self._journal.arm(emergency, lineage=state.lineage, serial=state.serial, apply_id=self.apply_id)

    @property
    def failure(self) -> OSError | LockLost | None:
        """The reason why the state is no longer written; None while it is."""
        return self._journal.failure

    @property
    def emergency_file(self) -> str | None:
        """The file, relative to the root module, with what the state could not take."""
        return self._journal.emergency_file

    def intend(self, operation_id: str, operation: StoredRequest | StoredMaintenance) -> None:
        """The operation may begin when this returns. Raises OSError or ``LockLost``."""
        intent = Intent(apply=self.apply_id, id=operation_id, operation=encode(operation))
        not_begun = Result(
            apply=self.apply_id, id=operation_id, address=operation.address, error="it was not begun"
        )
        self._journal.append_intent(self._encoded(intent), self._encoded(not_begun))
        reach("apply.intent")

    def succeed(
        self, operation_id: str, address: str, record: ResourceRecord | None, *, forgotten: bool = False
    ) -> None:
        reach("apply.before-result")
        self._take(
            Result(
                apply=self.apply_id,
                id=operation_id,
                address=address,
                record=self._with_what_stays(record),
                forgotten=forgotten,
            )
        )
        self._notice_lost_lock()
        reach("apply.result")

    def stage_done(self, operation_id: str, address: str, note: Data) -> None:
        """A stage changes nothing of what is recorded: the change that it belongs to does."""
        reach("apply.before-result")
        self._append(Result(apply=self.apply_id, id=operation_id, address=address, note=note))
        with self._lock:
            self._notes[operation_id] = note
        self._notice_lost_lock()
        reach("apply.result")

    def fail(self, operation_id: str, address: str, error: str, record: ResourceRecord | None) -> None:
        self._take(
            Result(
                apply=self.apply_id,
                id=operation_id,
                address=address,
                record=self._with_what_stays(record),
                error=error,
            )
        )
        self._notice_lost_lock()

    def _take(self, result: Result) -> None:
        # It is noted with its keeper before it leaves, and the keeper lets go only after it is back: after a
        # kill between the two both hold on. With neither, maintenance could delete what it still needs.
        before = self.record(result.address)
        after = None if result.forgotten else (result.record or before)
        keeper, still = self._keeper(before), self._keeper(after)
        if before is not None and keeper is not None and (still is None or still.address != keeper.address):
            self._put(
                replace(
                    result,
                    id=f"{result.id} (user)",
                    address=keeper.address,
                    record=replace(keeper, user=before),
                    forgotten=False,
                )
            )
        self._put(result)
        # Another one goes on from it, and holds by itself
        if result.error is None and still is not None and still.user is not None:
            self._put(
                replace(
                    result, id=f"{result.id} (user)", address=still.address, record=replace(still, user=None)
                )
            )

    def _put(self, result: Result) -> None:
        self._append(result)
        with self._lock:
            self._records.take(result)

    def _keeper(self, record: ResourceRecord | None) -> ResourceRecord | None:
        """The recorded resource that holds for this one when it leaves the state."""
        kind = self._types.get(record.type) if record is not None else None
        address = (
            kind.recording.kept_by(record.attributes) if kind is not None and record is not None else None
        )
        return self.record(address) if address is not None else None

    def _with_what_stays(self, record: ResourceRecord | None) -> ResourceRecord | None:
        """Keeps what was recorded of the maintenance and the user of an object that is recorded again, unless
        it is another object.
        """
        known = None if record is None else self.record(record.address)
        if record is None or known is None or not known.is_same(record):
            return record
        return replace(
            record, maintenance=record.maintenance or known.maintenance, user=record.user or known.user
        )

    def finish(self, outputs: Mapping[str, OutputValue], *, maintained: bool = False) -> Snapshot:
        """Ends the apply: writes a new snapshot and empties the journal. ``maintained``: it was asked for
        maintenance alone.
        """
        self._append(Outputs(apply=self.apply_id, outputs=dict(outputs)))
        self._append(Ended(apply=self.apply_id))
        reach("apply.before-snapshot")
        if self._journal.failure is not None:
            raise self._journal.failure
        final = replace(
            self.snapshot, serial=self._snapshot.serial + 1, outputs=dict(outputs), maintained=None
        )
        final = with_names_in_use(final)
        if maintained:
            final = after_maintenance(self._snapshot, final)
        self._store.write_snapshot(
            encode_state(final, self._loaded.root), expect=self._loaded.revision, lease=self._lease
        )
        reach("apply.snapshot")
        return final

    def _notice_lost_lock(self) -> None:
        """Raises ``LockLost`` if the lock is lost: what another command has done by now is not known, so
        nothing more may be begun.
        """
        if isinstance(self._journal.failure, LockLost):
            raise self._journal.failure

    def _append(self, entry: Entry) -> None:
        self._journal.append(self._encoded(entry))

    def _encoded(self, entry: Entry) -> bytes:
        return encode_entry(with_entry_places(entry, lambda data: stored_places(data, self._loaded.root)))
