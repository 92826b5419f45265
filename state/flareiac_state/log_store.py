"""A workspace's state as one numbered log, wherever that is kept. Touches the log.

Taking the lock, every journal record, every snapshot and the release are the next number. Numbers are created
once, so of two writers that append the same one, the second is refused: this is all that the protocol relies
on. A lease counts as over when the place itself has seen no sign of its holder for its whole length.
"""

import math
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.host import Host
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Damaged, Journal, Kept, Lease, LockHeld, LockInfo, LockLost, Moment, Stored
from flareiac_state.lease import Terms
from flareiac_state.lock_file import SYSTEM_CLOCK, Clock
from flareiac_state.log_lease import KEPT_FOR, LogLease, LogTools
from flareiac_state.log_reader import LogReader, Tip
from flareiac_state.log_record import RESTORE, Header, Holder, Record, RecordKind, SnapshotMark, encode_record
from flareiac_state.numbered_log import NumberedLog
from flareiac_state.process_identity import ProcessIdentity, ci_job, is_gone, this_process, user_name

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """The parts that a store needs beside its log. ``prove`` proves the place before the first record of a
    log is written there (see ``LogPlace.prove``).
    """

    where: str
    environment: Mapping[str, str]
    prove: Callable[[], None]
    clock: Clock = SYSTEM_CLOCK
    terms: Terms = Terms()


class LogStore:
    """One workspace's state in a numbered log (see ``flareiac.sdk.state.StateStore``)."""

    def __init__(self, log: NumberedLog, workspace: str, options: StoreOptions) -> None:
        self._log, self._workspace, self._options = log, workspace, options
        self._reader = LogReader(log, workspace, options.where)
        self._tools = LogTools(log=log, reader=self._reader, clock=options.clock, terms=options.terms)

    def describe(self) -> str:
        return self._options.where

    def read(self) -> Moment:
        return self._reader.moment()

    def read_snapshot(self) -> Stored | None:
        return self._reader.moment(journal=False).snapshot

    def read_journal(self) -> Journal:
        return self._reader.moment(snapshot=False).journal

    def write_snapshot(self, content: bytes, *, expect: str | None, lease: Lease) -> str:
        header = _own(lease).put_snapshot(content, expect)
        assert header.snapshot is not None, "it was just put in place"
        self._collect(header)
        return header.snapshot.revision

    def replace_damaged(self, content: bytes, lease: Lease) -> None:
        """A snapshot builds on the newest record alone, which the lease has read."""
        self._collect(_own(lease).put_any_snapshot(content))

    def append_journal(self, records: Sequence[bytes], lease: Lease) -> None:
        _own(lease).append_entries(records)

    def check_writable(self, lease: Lease) -> None:
        """Taking the lock has written a record where snapshots and journal are written."""
        _own(lease).verify()

    def lock(self, operation: str, *, timeout: float, on_wait: Callable[[LockInfo], None]) -> LogLease:
        deadline, pause, known = time.monotonic() + timeout, _FIRST_PAUSE, ""
        while True:
            taken = self._try(operation)
            if isinstance(taken, LogLease):
                return taken
            if taken is None:
                continue
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise LockHeld(taken)
            if taken.id != known:
                known = taken.id
                on_wait(taken)
            self._options.clock.sleep(min(remaining, pause * random.uniform(0.7, 1.3)))  # noqa: S311 - spreads waiters, hides nothing
            pause = min(pause * 2, _LONGEST_PAUSE)

    def lock_info(self) -> LockInfo | None:
        with self._damaged_lock_told():
            tip = self._reader.tip()
            return self._holder(tip) if tip is not None else None

    def release_lock(self, lock_id: str) -> LockInfo:
        while True:
            with self._damaged_lock_told():
                tip = self._reader.tip()
            if tip is None or not tip.header.is_held:
                raise KeyError(lock_id)
            held = self._shown(tip)
            if held.id != lock_id:
                raise LockHeld(held)
            if self._is_put(self._after(tip, RecordKind.RELEASE, tip.header.holder), tip):
                return held

    def history(self) -> Sequence[Kept]:
        return tuple(
            Kept(name=mark.revision, written=mark.written, size=mark.size) for mark in self._earlier()
        )

    def read_history(self, name: str) -> bytes:
        for mark in self._earlier():
            if mark.revision == name:
                content = self._reader.snapshot(mark)
                if content is None:
                    raise Damaged(self._options.where, f"the earlier snapshot {name} was deleted", RESTORE)
                return content
        raise KeyError(name)

    def holds_state(self) -> bool:
        """Returns True if there is a snapshot or a journal."""
        tip = self._reader.tip()
        return tip is not None and (tip.header.snapshot is not None or tip.header.entries > 0)

    def delete(self) -> None:
        """Deletes all but the records that keep a fenced-out process from writing. Raises ``LockHeld``."""
        if self._reader.tip() is None:
            return
        lease = self.lock("workspace delete", timeout=0, on_wait=lambda _holder: None)
        first = lease.number
        before = self._reader.record(first - 1) if first > 1 else None
        lease.put_deletion()
        reach("state.before-collect")
        is_fence = before is not None and before.header.kind is RecordKind.RELEASE
        # The workspace is gone already; what stays is collected when it is made and deleted again.
        with suppress(OSError):
            self._log.collect(before=first - 1 if is_fence else first, keep=(), age=0.0)

    def _collect(self, header: Header) -> None:
        """Deletes what a new snapshot makes superfluous."""
        reach("state.before-collect")
        # What stays costs room only; the next snapshot collects it.
        with suppress(OSError):
            kept = {mark.number for mark in header.earlier}
            self._log.collect(before=header.number, keep=kept, age=KEPT_FOR)

    def _earlier(self) -> tuple[SnapshotMark, ...]:
        tip = self._reader.tip()
        return tip.header.earlier if tip is not None else ()

    def _try(self, operation: str) -> LogLease | LockInfo | None:
        """The lease, or who holds the lock; None when someone else was faster."""
        here = self._options.clock.uptime()
        with self._damaged_lock_told():
            tip = self._reader.tip()
            held_by = self._holder(tip) if tip is not None else None
        if held_by is not None:
            return held_by
        if tip is None:
            self._options.prove()
        header = self._after(tip, RecordKind.TAKE, self._this_holder(operation, tip))
        took_over = self._shown(tip) if tip is not None and tip.header.is_held else None
        reach("state.before-append", header.kind)
        at = self._log.append(header.number, _bytes(header))
        reach("state.after-append", header.kind)
        if at is None and not self._is_there(header):
            return None
        if tip is None and at is not None:
            lock = replace(header.holder.lock, created=at)
            header = replace(header, holder=replace(header.holder, lock=lock))
        # Without a record before it there is no time to compare with: it is then verified.
        lease = LogLease(
            self._tools, header, took_over, read_at=tip.now if tip is not None else -math.inf, here=here
        )
        try:
            lease.begin(at)
        except LockLost:
            return None
        if took_over is not None:
            with suppress(OSError):
                self._log.forget_beat(took_over.epoch)
        return lease

    def _is_put(self, header: Header, tip: Tip) -> bool:
        """Returns True if the record that follows the newest one is in place, and counts (see
        ``LogLease``).
        """
        at = self._log.append(header.number, _bytes(header))
        if at is not None and at - tip.now < self._options.terms.length / 2:
            return True
        newest = self._log.newest()
        return newest is not None and newest.number == header.number and self._is_there(header)

    def _is_there(self, header: Header) -> bool:
        with self._damaged_lock_told():
            record = self._reader.record(header.number)
        return record is not None and record.header == header

    def _holder(self, tip: Tip) -> LockInfo | None:
        """The holder of the lock; None where it is released, or its holder gave no sign for a lease's
        length.
        """
        header, terms = tip.header, self._options.terms
        if not header.is_held or is_gone(_process(header.holder), math.inf):
            return None
        if tip.now - tip.written <= terms.length:
            return self._shown(tip)
        beaten = self._log.beaten(header.holder.lock.epoch)
        sign = max(tip.written, beaten or 0.0)
        return self._shown(tip, sign) if tip.now - sign <= terms.length else None

    def _shown(self, tip: Tip, sign: float | None = None) -> LockInfo:
        last, lock = tip.written if sign is None else sign, tip.header.holder.lock
        # Before its first record a place did not say what time it was.
        created = tip.written if tip.header.number == 1 else lock.created
        return replace(
            lock,
            created=created,
            expires=last + self._options.terms.length,
            clock="the server",
            age=max(0.0, tip.now - created),
        )

    def _after(self, tip: Tip | None, kind: RecordKind, holder: Holder) -> Header:
        """The header of a record that follows the newest one and changes neither snapshot nor journal."""
        if tip is None:
            return Header(
                workspace=self._workspace, number=1, kind=kind, writer=str(uuid.uuid4()), holder=holder
            )
        return replace(
            tip.header, number=tip.header.number + 1, kind=kind, writer=str(uuid.uuid4()), holder=holder
        )

    def _this_holder(self, operation: str, tip: Tip | None) -> Holder:
        here = this_process()
        # For people alone: by the clock of the place, which first says what time it is in its first answer.
        now = tip.now if tip is not None else self._options.clock.wall()
        lock = LockInfo(
            id=str(uuid.uuid4()),
            owner=user_name(self._options.environment),
            host=here.host.name,
            pid=here.pid,
            process_started=here.started,
            job=ci_job(self._options.environment),
            operation=operation,
            created=now,
            expires=now + self._options.terms.length,
            epoch=1 + (tip.header.holder.lock.epoch if tip is not None else 0),
        )
        place = here.host
        return Holder(lock=lock, machine=place.machine, boot=place.boot, namespace=place.namespace)

    @contextmanager
    def _damaged_lock_told(self) -> Iterator[None]:
        """Raises ``Failure``: who holds the lock is in the newest record."""
        try:
            yield
        except Damaged as problem:
            detail = f"{problem.where}: {problem.why}. Nothing was changed. {problem.way_out}"
            raise Failure(error(codes.STATE_LOCK_UNREADABLE, detail)) from problem


def _bytes(header: Header) -> bytes:
    return encode_record(Record(header=header, payload=b""))


def _process(holder: Holder) -> ProcessIdentity:
    lock = holder.lock
    place = Host(name=lock.host, machine=holder.machine, boot=holder.boot, namespace=holder.namespace)
    return ProcessIdentity(host=place, pid=lock.pid, started=lock.process_started)


def _own(lease: Lease) -> LogLease:
    if not isinstance(lease, LogLease):
        raise LockLost("the lease was not taken from this store")
    return lease
