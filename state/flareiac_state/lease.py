"""Taking the lock, keeping it by a heartbeat, and knowing when it is lost.

A lease lasts ``Terms.length`` seconds from its last renewal. Who took it over raised the epoch, so that every
guarded write of the former holder is refused.
"""

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Damaged, LockHeld, LockInfo, LockLost
from flareiac_state.lock_file import Clock, LockFile, LockRecord
from flareiac_state.process_identity import ci_job, this_process, user_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Seconds: how long a lease lasts, and how often it is renewed."""

    length: float = 60.0
    heartbeat: float = 15.0


class LocalLease:
    """A held lock (see ``flareiac.sdk.state.Lease``)."""

    def __init__(
        self, file: LockFile, record: LockRecord, took_over: LockInfo | None, clock: Clock, terms: Terms
    ) -> None:
        self.info = record.info
        self.took_over = took_over
        self._file, self._record, self._clock, self._terms = file, record, clock, terms
        self._lost = False
        self._stop = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="flareiac-lease", daemon=True)
        self._heart.start()

    def check(self) -> None:
        """Raises ``LockLost`` if someone else holds the lock now, or no one does."""
        current = None if self._lost else self._read()
        if (
            current is None
            or not current.held
            or (current.info.id, current.info.epoch) != (self.info.id, self.info.epoch)
        ):
            self._lost = True
            raise LockLost(_lost(self.info, current))

    def _read(self) -> LockRecord | None:
        try:
            return self._file.read()
        except Damaged as problem:
            self._lost = True
            raise LockLost(
                f"{problem.where} was overwritten while this command ({self.info.operation}) held the lock"
            ) from problem

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """No one can take the lock while the body runs, and it runs only if this lease still holds it. Raises
        ``LockLost``.
        """
        with self._file.guarded():
            self.check()
            yield

    def renew(self) -> None:
        """Lengthens the lease. Raises ``LockLost``, or ``OSError`` when the file cannot be written."""
        with self.fenced():
            self._record = _until(self._record, self._clock, self._terms)
            self._file.write(self._record)
            self.info = self._record.info

    def release(self) -> None:
        """Gives the lock back; does nothing when it is already lost or given back.

        Where that cannot be written (a full disk) the lease runs out by itself, at the latest when this
        process ends.
        """
        self._stop.set()
        if self._heart is not threading.current_thread():
            self._heart.join()
        try:
            with self.fenced():
                self._file.write(replace(self._record, held=False))
                self._lost = True
        except (LockLost, OSError):
            return

    def _beat(self) -> None:
        pause = self._terms.heartbeat
        while not self._stop.wait(pause):
            try:
                self.renew()
                pause = self._terms.heartbeat
            except LockLost:
                return
            except OSError:
                # The disk may have room again in a moment; until someone takes it over the lease is still
                # ours.
                pause = self._terms.heartbeat / 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTaker:
    """Takes leases on one lock file for this process."""

    file: LockFile
    clock: Clock
    terms: Terms
    environment: Mapping[str, str]

    def take(self, operation: str, *, timeout: float, on_wait: Callable[[LockInfo], None]) -> LocalLease:
        """See ``StateStore.lock``. ``on_wait`` is called for every holder that is waited for, once each."""
        deadline = time.monotonic() + timeout
        watch = _Watch(self.terms.length)
        pause, known = 0.05, ""
        while True:
            taken = self._try(operation, watch)
            if isinstance(taken, LocalLease):
                return taken
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise LockHeld(taken.seen(self.clock))
            if taken.info.id != known:
                known = taken.info.id
                on_wait(taken.info)
            self.clock.sleep(min(remaining, pause * random.uniform(0.7, 1.3)))  # noqa: S311 - spreads waiters, hides nothing
            pause = min(pause * 2, 2.0)

    def _try(self, operation: str, watch: "_Watch") -> "LocalLease | LockRecord":
        with self.file.guarded():
            current = self.file.read()
            if current is not None and not current.is_over(self.clock) and not watch.silent(current):
                return current
            record = self._new(operation, 1 + (current.info.epoch if current else 0))
            self.file.write(record)
        took_over = current.info if current is not None and current.held else None
        return LocalLease(self.file, record, took_over, self.clock, self.terms)

    def _new(self, operation: str, epoch: int) -> LockRecord:
        here, now = this_process(), self.clock.wall()
        info = LockInfo(
            id=str(uuid.uuid4()),
            owner=user_name(self.environment),
            host=here.host.name,
            pid=here.pid,
            process_started=here.started,
            job=ci_job(self.environment),
            operation=operation,
            created=now,
            expires=now,
            epoch=epoch,
        )
        place = here.host
        record = LockRecord(
            info=info,
            held=True,
            boot=place.boot,
            namespace=place.namespace,
            expires_uptime=0.0,
            machine=place.machine,
            renewed=now,
        )
        return _until(record, self.clock, self.terms)


class _Watch:
    """A lease that was not renewed for its whole length while we looked on is over, whatever the clock that
    wrote it said.
    """

    def __init__(self, length: float) -> None:
        self._length = length
        self._seen: LockRecord | None = None
        self._since = 0.0

    def silent(self, record: LockRecord) -> bool:
        now = time.monotonic()
        if record != self._seen:
            self._seen, self._since = record, now
        return now - self._since > self._length


def _until(record: LockRecord, clock: Clock, terms: Terms) -> LockRecord:
    info = replace(record.info, expires=clock.wall() + terms.length)
    return replace(record, info=info, expires_uptime=clock.uptime() + terms.length, renewed=clock.wall())


def _lost(mine: LockInfo, current: LockRecord | None) -> str:
    if current is None or not current.held:
        return f"the lock of this command ({mine.operation}) was released by someone else"
    other = current.info
    return (
        f"the lock of this command ({mine.operation}) was taken over by {other.owner} on {other.host} "
        f"(pid {other.pid}, {other.operation})"
    )
