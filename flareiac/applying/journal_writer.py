"""Appends to the journal, in order; records that wait at the same time are written together. Once an apply
has begun and the state can no longer be written, what is still to be recorded goes to the emergency file.
Touches the state store.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from flareiac.applying.emergency_file import EmergencyFile
from flareiac.kernel.group_commit import GroupCommit
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.emergency import EmergencyHeader
from flareiac.sdk.state import Lease, LockLost, StateStore

_Problem: TypeAlias = BaseException | None
"""The error that the thread of a record raises; None for a durable record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A record that is to be durable. ``not_begun`` is what ends an intent in the emergency file, None for
    any other record.
    """

    record: bytes
    not_begun: bytes | None = None

    @property
    def is_intent(self) -> bool:
        return self.not_begun is not None


class JournalWriter:
    """Safe to use from several threads.

    ``written``: how many records the journal holds already.
    """

    def __init__(self, store: StateStore, lease: Lease, *, written: int) -> None:
        self._store, self._lease, self._written = store, lease, written
        self._together: GroupCommit[_Entry, None] = GroupCommit(self._take)
        self._emergency: EmergencyFile | None = None
        self._header: EmergencyHeader | None = None
        self._pending: tuple[bytes, ...] = ()
        self._failure: OSError | LockLost | None = None

    @property
    def failure(self) -> OSError | LockLost | None:
        """The reason why the state is no longer written, None while it is."""
        return self._failure

    @property
    def emergency_file(self) -> str | None:
        """The name of the emergency file, None where there is none."""
        return self._emergency.name if self._emergency is not None else None

    def arm(self, emergency: EmergencyFile, *, lineage: str, serial: int, apply_id: str) -> None:
        """From now on operations have side effects: what cannot be written to the state goes there."""
        self._emergency = emergency
        self._header = EmergencyHeader(lineage=lineage, serial=serial, after=0, apply=apply_id)

    def append(self, record: bytes) -> None:
        """Durable when it returns, in the journal or in the emergency file. Raises OSError or ``LockLost``
        where it is in neither.
        """
        self._together.do(_Entry(record=record))

    def append_intent(self, record: bytes, not_begun: bytes) -> None:
        """The record of what is about to happen: it may begin only when this returns. ``not_begun`` ends it
        in the emergency file. Raises OSError or ``LockLost``.
        """
        self._together.do(_Entry(record=record, not_begun=not_begun))

    def _take(self, together: Sequence[_Entry]) -> Sequence[_Problem]:
        if self._failure is not None:
            return self._to_file(together, [entry.record for entry in together if not entry.is_intent])
        if self._is_in_state(together):
            return [None] * len(together)
        # The number that reached the state is not known, so the file continues with all of them. The ends of
        # intents come last: behind the records that may be there, none is out of order.
        ends = [entry.not_begun for entry in together if entry.not_begun is not None]
        return self._to_file(together, [*(entry.record for entry in together), *ends])

    def _is_in_state(self, together: Sequence[_Entry]) -> bool:
        """Writes the records; raises where that fails and there is no emergency file."""
        try:
            self._store.append_journal([entry.record for entry in together], self._lease)
        except (OSError, LockLost) as problem:
            if self._emergency is None:
                raise
            self._failure = problem
            return False
        self._written += len(together)
        return True

    def _to_file(self, together: Sequence[_Entry], records: Sequence[bytes]) -> Sequence[_Problem]:
        """Saves results; intents are refused, and say nothing that would need a file by itself."""
        assert self._emergency is not None, "an apply that has begun has one"
        assert self._header is not None, "it comes with the file"
        # Records that cannot be written now are kept for the next try: a file with a gap would be useless.
        self._pending = (*self._pending, *records)
        problem: _Problem = None
        if not all(entry.is_intent for entry in together):
            try:
                self._emergency.append(replace(self._header, after=self._written), self._pending)
                self._pending = ()
            except OSError as error:
                problem = error
        return [self._failure if entry.is_intent else problem for entry in together]
