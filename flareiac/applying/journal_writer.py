"""Appends to the journal, in order. Once an apply has begun and the state can no longer be written, what is
still to be recorded goes to the emergency file. Touches the state store.
"""

import threading
from dataclasses import replace

from flareiac.applying.emergency_file import EmergencyFile
from flareiac.model.emergency import EmergencyHeader
from flareiac.sdk.state import Lease, LockLost, StateStore


class JournalWriter:
    """Safe to use from several threads.

    ``written``: how many records the journal holds already.
    """

    def __init__(self, store: StateStore, lease: Lease, *, written: int) -> None:
        self._store, self._lease, self._written = store, lease, written
        self._lock = threading.Lock()
        self._emergency: EmergencyFile | None = None
        self._header: EmergencyHeader | None = None
        self._pending: tuple[bytes, ...] = ()
        self._trouble: OSError | LockLost | None = None

    @property
    def trouble(self) -> OSError | LockLost | None:
        """Why the state is no longer written, None while it is."""
        return self._trouble

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
        with self._lock:
            if self._trouble is None and not self._failed(record):
                return
            self._save(record)

    def append_intent(self, record: bytes, not_begun: bytes) -> None:
        """The record of what is about to happen: it may begin only when this returns. ``not_begun`` ends it
        in the emergency file. Raises OSError or ``LockLost``.
        """
        with self._lock:
            if self._trouble is None and self._failed(record):
                # Whether it reached the state is not known. It says nothing that would need a file by itself.
                self._pending = (record, not_begun)
            if self._trouble is not None:
                raise self._trouble

    def _failed(self, record: bytes) -> bool:
        """Whether the record could not be written to the state; raises where there is no emergency file."""
        try:
            self._lease.check()
            self._store.append_journal(record, self._lease)
        except (OSError, LockLost) as trouble:
            if self._emergency is None:
                raise
            self._trouble = trouble
            return True
        self._written += 1
        return False

    def _save(self, record: bytes) -> None:
        assert self._emergency is not None, "an apply that has begun has one"
        assert self._header is not None, "it comes with the file"
        # What does not get there now is kept for the next try: a file with a gap would be of no use.
        self._pending = (*self._pending, record)
        self._emergency.append(replace(self._header, after=self._written), self._pending)
        self._pending = ()
