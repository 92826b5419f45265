"""A held lock of a remote state: writing under it, keeping it by a heartbeat, knowing when it is lost.

The holder is the only one who appends; a process that takes the lock over uses the holder's next number
first, so that the holder's next append is refused. Old numbers are collected after a while: a holder that
was paused for so long verifies, after an append, that what it appended is the newest record.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Conflict, Damaged, LockInfo, LockLost
from flareiac_state.lease import Terms
from flareiac_state.lock_file import Clock
from flareiac_state.log_reader import LogReader
from flareiac_state.log_record import Header, Record, RecordKind, encode_record, join_entries
from flareiac_state.numbered_log import NumberedLog

KEPT_FOR = 600.0
"""Seconds for which no record is collected: much longer than a lease, so that a process that was fenced out
within the last half lease still meets the record that fenced it out.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTools:
    """The tools that a lease works with."""

    log: NumberedLog
    reader: LogReader
    clock: Clock
    terms: Terms


@dataclass(slots=True)
class _Confirmed:
    """The time at which it was last certain that no one else had the lock: by the clock of the place, and by
    ours.
    """

    at_place: float
    here: float


class LogLease:
    """A held lock (see ``flareiac.sdk.state.Lease``). Safe to use from several threads."""

    def __init__(
        self, tools: LogTools, header: Header, took_over: LockInfo | None, *, read_at: float, here: float
    ) -> None:
        """``read_at`` and ``here``: when the record before this lease's first was seen as the newest."""
        self.info = header.holder.lock
        self.took_over = took_over
        self._tools, self._header = tools, header
        self._confirmed = _Confirmed(at_place=read_at, here=here)
        self._lost = ""
        self._counter = 0
        self._replaced: str | None = "none was replaced"
        """The revision before a snapshot that this lease wrote without learning so."""
        self._has_beaten = False
        self._writing = threading.RLock()
        self._stop = threading.Event()
        self._heart = threading.Thread(target=self._keep_alive, name="flareiac-lease", daemon=True)

    @property
    def number(self) -> int:
        """That of the last record of this lease."""
        return self._header.number

    def begin(self, at: float | None) -> None:
        """After the record that took the lock: proves that it counts, and starts the heartbeat. Raises
        ``LockLost``. ``at``: when it was written, None when that is not known.
        """
        with self._writing:
            self._confirm(at, self._tools.clock.uptime())
        self._heart.start()

    def check(self) -> None:
        """Raises ``LockLost`` if the lease has been lost. Costs no request while it is surely held."""
        if self._lost:
            raise LockLost(self._lost)
        if self._tools.clock.uptime() - self._confirmed.here >= self._tools.terms.length / 2:
            self.verify()

    def verify(self) -> None:
        """Asks the place whether this lease still holds the lock. Raises ``LockLost``."""
        with self._writing, self._damage_is_a_loss():
            self._expect_not_lost()
            here = self._tools.clock.uptime()
            newest = self._tools.log.newest()
            if newest is not None and newest.number != self._header.number:
                self._expect_own(self._tools.reader.record(newest.number))
            elif newest is None:
                self._lose("all records of its state were deleted")
            else:
                self._confirmed = _Confirmed(at_place=newest.now, here=here)

    def append_entries(self, entries: Sequence[bytes]) -> None:
        """Writes journal records as one record of the log. Raises ``LockLost`` or ``OSError``."""
        with self._writing:
            self._expect_not_lost()
            if entries:
                self._append(
                    RecordKind.JOURNAL,
                    join_entries(entries),
                    lambda header: replace(header, entries=header.entries + len(entries)),
                )

    def put_snapshot(self, content: bytes, expect: str | None) -> Header:
        """Puts a snapshot in place; returns its header. Raises ``Conflict`` or ``LockLost``."""
        with self._writing:
            self._expect_not_lost()
            current = self._header.snapshot
            if expect not in (current.revision if current else None, self._replaced):
                raise Conflict("the state was written by someone else since it was read")
            return self.put_any_snapshot(content)

    def put_any_snapshot(self, content: bytes) -> Header:
        """The same in place of whatever is there. Raises ``LockLost``."""
        with self._writing:
            return self._append(RecordKind.SNAPSHOT, content, lambda header: header.with_snapshot(content))

    def put_deletion(self) -> None:
        """Ends the workspace and the lease."""
        self._end()
        with self._writing:
            self._append(RecordKind.DELETE, b"", lambda header: header.emptied())
            self._lost = "the workspace was deleted"

    def release(self) -> None:
        """Gives the lock back; does nothing when it is already lost or given back.

        Where that cannot be written, the lease runs out by itself.
        """
        self._end()
        with suppress(LockLost, OSError), self._writing:
            self._append(RecordKind.RELEASE, b"", lambda header: header)
            self._lost = f"the lock of this command ({self.info.operation}) was released"
            if self._has_beaten:
                self._tools.log.forget_beat(self.info.epoch)

    def _end(self) -> None:
        self._stop.set()
        if self._heart is not threading.current_thread() and self._heart.is_alive():
            self._heart.join()

    def _append(self, kind: RecordKind, payload: bytes, change: Callable[[Header], Header]) -> Header:
        """Appends a record behind the last one of this lease. Raises ``LockLost`` or ``OSError``; after the
        latter it is not known whether the record is there, and the next append finds out.
        """
        while True:
            self._expect_not_lost()
            self._counter += 1
            header = change(
                replace(
                    self._header,
                    number=self._header.number + 1,
                    kind=kind,
                    writer=f"{self.info.id}/{self._counter}",
                )
            )
            content = encode_record(Record(header=header, payload=payload))
            if self._is_appended(header, content):
                return self._header

    def _is_appended(self, header: Header, content: bytes) -> bool:
        """False when a record of this lease, of an append that failed, was there instead."""
        reach("state.before-append", header.kind)
        here = self._tools.clock.uptime()
        at = self._tools.log.append(header.number, content)
        reach("state.after-append", header.kind)
        if at is None:
            with self._damage_is_a_loss():
                record = self._tools.reader.record(header.number)
            if record is None or encode_record(record) != content:
                self._expect_own(record)
                return False
        self._header = header
        self._confirm(at, here)
        self._header = header.dated(self._confirmed.at_place)
        return True

    def _confirm(self, at: float | None, here: float) -> None:
        """After an append at that time: it counts unless the lease may have run out before."""
        if at is None or abs(at - self._confirmed.at_place) >= self._tools.terms.length / 2:
            self.verify()
        else:
            self._confirmed = _Confirmed(at_place=at, here=here)

    def _expect_own(self, record: Record | None) -> None:
        """Goes on from a record that this lease wrote without learning so. Raises ``LockLost`` for any
        other.
        """
        if record is None:
            self._lose("its state was deleted or written by someone else")
        elif record.header.holder.lock.id != self.info.id or not record.header.is_held:
            self._lose(_who(record.header))
        elif record.header.number < self._header.number:
            self._lose("later records of its state were deleted")
        else:
            if record.header.kind is RecordKind.SNAPSHOT:
                self._replaced = record.header.earlier[0].revision if record.header.earlier else None
            self._header = record.header

    def _expect_not_lost(self) -> None:
        if self._lost:
            raise LockLost(self._lost)

    def _lose(self, why: str) -> None:
        self._lost = f"the lock of this command ({self.info.operation}) is lost: {why}"
        raise LockLost(self._lost)

    @contextmanager
    def _damage_is_a_loss(self) -> Iterator[None]:
        try:
            yield
        except Damaged as problem:
            self._lose(f"{problem.where}: {problem.why}")

    def _keep_alive(self) -> None:
        terms, pause = self._tools.terms, self._tools.terms.heartbeat
        while not self._stop.wait(pause):
            try:
                self._beat_when_silent()
                pause = terms.heartbeat
            except LockLost:
                return
            except OSError:
                # Until someone takes it over, the lease is still ours.
                pause = terms.heartbeat / 5

    def _beat_when_silent(self) -> None:
        """Every append is a sign of life by itself."""
        if self._lost:
            raise LockLost(self._lost)
        if self._tools.clock.uptime() - self._confirmed.here < self._tools.terms.heartbeat / 2:
            return
        self._has_beaten = True
        self._tools.log.beat(self.info.epoch)
        self.verify()


def _who(header: Header) -> str:
    lock = header.holder.lock
    if header.kind is RecordKind.RELEASE:
        return "it was released by someone else"
    return f"it was taken over by {lock.owner} on {lock.host} (pid {lock.pid}, {lock.operation})"
