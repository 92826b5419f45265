"""A state store whose content is encrypted: what it is given is sealed, what is read is opened. Touches the
store that it wraps.

A record of the journal is bound to the snapshot that it comes after and to its place in the journal, so that
none can be left out in the middle, moved, or taken from another state.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Journal, Kept, Lease, LockInfo, Moment, StateStore, Stored
from flareiac.state.cipher import Cipher, Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """The position of the next record under a lease: after which snapshot, and after how many records."""

    lock_id: str
    base: str
    count: int


class EncryptedStore:
    """See ``flareiac.sdk.state.StateStore``."""

    def __init__(self, store: StateStore, cipher: Cipher) -> None:
        self._store, self._cipher = store, cipher
        self._end: _End | None = None

    def describe(self) -> str:
        return self._store.describe()

    def read(self) -> Moment:
        moment = self._store.read()
        base, where = _base(moment.snapshot), f"the journal of {self.describe()}"
        records = tuple(
            self._cipher.open(record, Purpose.JOURNAL, where, _bound(base, number))
            for number, record in enumerate(moment.journal.records)
        )
        return Moment(
            snapshot=self._opened(moment.snapshot), journal=replace(moment.journal, records=records)
        )

    def read_snapshot(self) -> Stored | None:
        return self._opened(self._store.read_snapshot())

    def write_snapshot(self, content: bytes, *, expect: str | None, lease: Lease) -> str:
        self._end = None
        sealed = self._cipher.seal(content, Purpose.SNAPSHOT)
        return self._store.write_snapshot(sealed, expect=expect, lease=lease)

    def replace_damaged(self, content: bytes, lease: Lease) -> None:
        self._end = None
        self._store.replace_damaged(self._cipher.seal(content, Purpose.SNAPSHOT), lease)

    def read_journal(self) -> Journal:
        return self.read().journal

    def append_journal(self, records: Sequence[bytes], lease: Lease) -> None:
        if not self._cipher.encrypts:
            self._store.append_journal(records, lease)
            return
        end = self._end_under(lease)
        self._end = None  # how many of them are there is not known until the store has answered
        sealed = [
            self._cipher.seal(record, Purpose.JOURNAL, _bound(end.base, number))
            for number, record in enumerate(records, end.count)
        ]
        self._store.append_journal(sealed, lease)
        self._end = replace(end, count=end.count + len(sealed))

    def check_writable(self, lease: Lease) -> None:
        self._store.check_writable(lease)

    def lock(self, operation: str, *, timeout: float, on_wait: Callable[[LockInfo], None]) -> Lease:
        return self._store.lock(operation, timeout=timeout, on_wait=on_wait)

    def lock_info(self) -> LockInfo | None:
        return self._store.lock_info()

    def release_lock(self, lock_id: str) -> LockInfo:
        return self._store.release_lock(lock_id)

    def history(self) -> Sequence[Kept]:
        return self._store.history()

    def read_history(self, name: str) -> bytes:
        where = f"An earlier state in {self.describe()}"
        return self._cipher.open(self._store.read_history(name), Purpose.SNAPSHOT, where)

    def _opened(self, stored: Stored | None) -> Stored | None:
        if stored is None:
            return None
        plain = self._cipher.open(stored.content, Purpose.SNAPSHOT, self.describe())
        return replace(stored, content=plain)

    def _end_under(self, lease: Lease) -> _End:
        """Read once under each lease: no one else appends meanwhile."""
        if self._end is None or self._end.lock_id != lease.info.id:
            moment = self._store.read()
            count = len(moment.journal.records)
            self._end = _End(lock_id=lease.info.id, base=_base(moment.snapshot), count=count)
        return self._end


def _base(stored: Stored | None) -> str:
    return "" if stored is None else hashlib.sha256(stored.content).hexdigest()[:32]


def _bound(base: str, number: int) -> str:
    return f"{base}:{number}"
