"""Appends to the journal, in order; records that wait at the same time are written together. Once an apply
has begun and the state can no longer be written, what is still to be recorded goes to the emergency file.
Touches the state store.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace

from flareiac.applying.emergency_file import EmergencyFile
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.emergency import EmergencyHeader
from flareiac.sdk.state import Lease, LockLost, StateStore


@dataclass(slots=True, kw_only=True)
class _Waiting:
    """A record whose thread waits until it is durable. ``not_begun`` is what ends an intent in the emergency
    file, None for any other record; ``problem`` is what its thread raises.
    """

    record: bytes
    not_begun: bytes | None = None
    is_done: bool = False
    problem: BaseException | None = None

    @property
    def is_intent(self) -> bool:
        return self.not_begun is not None


class JournalWriter:
    """Safe to use from several threads. The first that comes writes for all that wait.

    ``written``: how many records the journal holds already.
    """

    def __init__(self, store: StateStore, lease: Lease, *, written: int) -> None:
        self._store, self._lease, self._written = store, lease, written
        self._changed = threading.Condition()
        self._queue: list[_Waiting] = []
        self._is_writing = False
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
        self._write(_Waiting(record=record))

    def append_intent(self, record: bytes, not_begun: bytes) -> None:
        """The record of what is about to happen: it may begin only when this returns. ``not_begun`` ends it
        in the emergency file. Raises OSError or ``LockLost``.
        """
        self._write(_Waiting(record=record, not_begun=not_begun))

    def _write(self, mine: _Waiting) -> None:
        with self._changed:
            self._queue.append(mine)
            self._changed.wait_for(lambda: mine.is_done or not self._is_writing)
            is_leader = not mine.is_done
            if is_leader:
                self._is_writing = True
                together, self._queue = self._queue, []
        if is_leader:
            self._lead(together)
        if mine.problem is not None:
            raise mine.problem

    def _lead(self, together: Sequence[_Waiting]) -> None:
        try:
            if self._trouble is not None:
                self._to_file(together, [waiting.record for waiting in together if not waiting.is_intent])
            elif not self._is_in_state(together):
                # How many of them reached the state is not known, so the file goes on with all of them. The
                # ends of intents come last: behind the records that may be there, none is out of order.
                ends = [waiting.not_begun for waiting in together if waiting.not_begun is not None]
                self._to_file(together, [*(waiting.record for waiting in together), *ends])
        except BaseException as problem:  # noqa: BLE001 - each of the threads raises it
            _fail(together, problem)
        finally:
            with self._changed:
                for waiting in together:
                    waiting.is_done = True
                self._is_writing = False
                self._changed.notify_all()

    def _is_in_state(self, together: Sequence[_Waiting]) -> bool:
        """Writes the records; raises where that fails and there is no emergency file."""
        try:
            self._lease.check()
            self._store.append_journal([waiting.record for waiting in together], self._lease)
        except (OSError, LockLost) as trouble:
            if self._emergency is None:
                raise
            self._trouble = trouble
            return False
        self._written += len(together)
        return True

    def _to_file(self, together: Sequence[_Waiting], records: Sequence[bytes]) -> None:
        """Saves results; intents are refused, and say nothing that would need a file by itself."""
        assert self._trouble is not None, "the state takes no more"
        assert self._emergency is not None, "an apply that has begun has one"
        assert self._header is not None, "it comes with the file"
        intents = [waiting for waiting in together if waiting.is_intent]
        _fail(intents, self._trouble)
        # What does not get there now is kept for the next try: a file with a gap would be of no use.
        self._pending = (*self._pending, *records)
        if len(intents) < len(together):
            self._emergency.append(replace(self._header, after=self._written), self._pending)
            self._pending = ()


def _fail(waiting: Sequence[_Waiting], problem: BaseException) -> None:
    for one in waiting:
        one.problem = one.problem or problem
