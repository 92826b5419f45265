"""Keeps this process the one that drives the application: a thread renews the lease and writes the status."""

import threading
import time
from collections.abc import Callable
from logging import Logger
from pathlib import Path

from flareiac_spark_runtime.control import ControlDirectory, ControlError, Lease, Status, moment, this_process
from flareiac_spark_runtime.control.lease import LeaseState
from flareiac_spark_runtime.driver import fence
from flareiac_spark_runtime.driver.fence import Fence

_TAKEN = "another driver took the lease"
_EMPTIED = "its lease is gone: someone emptied the control directory, so that it cannot be asked for anything"


def take_lease(control: ControlDirectory, owner: str, over: threading.Event, log: Logger) -> Lease | None:
    """The lease, None if someone else drives the application (or ``over`` was set).

    The lease of a process that cannot be seen from here is watched: renewed, it is held; unchanged for its
    whole term, it is taken.
    """
    watched: Lease | None = None
    deadline = time.monotonic()
    while not over.is_set():
        patient = time.monotonic() >= deadline
        lease = control.take_lease(
            owner,
            this_process(),
            now=moment(),
            seconds=control.rhythm.term,
            watched=watched if patient else None,
        )
        if lease is not None:
            return lease
        seen = control.read_lease()
        if seen is None or seen.standing(moment()) is LeaseState.FREE:
            continue
        if seen.standing(moment()) is LeaseState.HELD or (watched is not None and seen != watched):
            return None
        if watched is None:
            log.info(
                "watching the lease of process %s on %s, which cannot be seen from here", seen.pid, seen.host
            )
            watched, deadline = seen, time.monotonic() + seen.seconds
        over.wait(control.rhythm.watch)
    return None


class Leadership:
    """Writes nothing any more once the lease is lost.

    While a local directory cannot be written it goes on: a full disk or a lost mount may pass, and who takes
    over on this host ends the JVM first. In object storage the next driver may be on another host, so that a
    lease that is not renewed in time ends the JVM (see ``fence``).
    """

    def __init__(
        self,
        control: ControlDirectory,
        lease: Lease,
        status: Callable[[], Status],
        log: Logger,
        publish_logs: Callable[[], None],
    ) -> None:
        self.lost = threading.Event()
        self.why_lost = ""
        self.term = control.rhythm.term
        self.renewed = fence.now()
        """When the renewal of the lease began that succeeded last, by the clock of ``fence``."""
        self.written: float | None = None
        """When the status was written last, in UTC seconds."""
        self._control, self._lease, self._status, self._log = control, lease, status, log
        self._publish_logs = publish_logs
        self._changed, self._over = threading.Event(), threading.Event()
        self._logs_due, self._shipped = threading.Event(), threading.Event()
        self._writing = threading.Lock()
        self._last_failure = ""
        self._fence: Fence | None = None
        self._heartbeat = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        # The logs of many jobs are many requests: no renewal of the lease waits for them
        self._logs = threading.Thread(target=self._ship, name="logs", daemon=True)

    def start(self) -> None:
        self._heartbeat.start()
        self._logs.start()

    def guard(self, jvm_pid: int) -> None:
        """From now on this JVM ends when a lease in object storage is not renewed in time."""
        if not isinstance(self._control.place, Path):
            self._fence = Fence(jvm_pid, self._control.rhythm.term)

    @property
    def has_fenced(self) -> bool:
        """Returns True if the JVM was ended because the lease was not renewed."""
        return self._fence is not None and self._fence.has_fallen

    def publish_soon(self) -> None:
        """Asks for a write of the status at the next moment that the bounded rate allows."""
        self._changed.set()

    def publish(self) -> None:
        """Renews the lease and writes the status now."""
        with self._writing:
            if self.lost.is_set():
                return
            begun = fence.now()
            try:
                rhythm = self._control.rhythm
                renewed = self._control.renew_lease(self._lease, now=moment(), seconds=rhythm.term)
                if renewed is None:
                    self.why_lost = self._who_has_it()
                    self.lost.set()
                    return
                self.renewed = begun
                if self._fence is not None:
                    self._fence.renewed(begun)
                status = self._status()
                self._control.write_status(status)
                self.written = status.heartbeat
                self._logs_due.set()
            except ControlError as failure:
                if str(failure) != self._last_failure:
                    self._log.error("the status could not be written: %s", failure)
                self._last_failure = str(failure)
            else:
                self._last_failure = ""

    def _who_has_it(self) -> str:
        try:
            return _TAKEN if self._control.read_lease() is not None else _EMPTIED
        except ControlError:  # a newer release writes leases that this one cannot read
            return _TAKEN

    def end(self) -> None:
        """Writes the last status and lets the next one in. Nothing is written to tables any more."""
        # The lease is renewed while the last logs are written
        self._shipped.set()
        self._logs_due.set()
        self._logs.join()
        if not self.lost.is_set():
            self._publish_logs()
        self._over.set()
        self._changed.set()
        self._heartbeat.join()
        self.publish()
        if not self.lost.is_set():
            try:
                self._control.release_lease(self._lease, now=moment())
            except ControlError as failure:
                self._log.error("the lease could not be released: %s", failure)
        if self._fence is not None:
            self._fence.end()

    def _beat(self) -> None:
        while not self._over.is_set() and not self.lost.is_set():
            self._changed.clear()
            self.publish()
            self._over.wait(self._control.rhythm.shortest)
            self._changed.wait(self._control.rhythm.beat)

    def _ship(self) -> None:
        while True:
            self._logs_due.wait(self._control.rhythm.beat)
            self._logs_due.clear()
            if self._shipped.is_set() or self.lost.is_set():
                return
            self._publish_logs()
