"""Is this process the one that drives the application, and what does it say of itself? A thread renews the lease and writes the status."""

import threading
import time
from collections.abc import Callable
from logging import Logger

from flareiac_spark.control import ControlDirectory, ControlError, Lease, Status

BEAT_SECONDS = 2.0
LEASE_SECONDS = 30.0
_SHORTEST_SECONDS = 0.2
"""Between two writes of the status, however often it changes."""


class Leadership:
    """Writes nothing any more once the lease is lost."""

    def __init__(self, control: ControlDirectory, lease: Lease, status: Callable[[], Status], log: Logger) -> None:
        self.lost = threading.Event()
        self._control, self._lease, self._status, self._log = control, lease, status, log
        self._changed, self._over = threading.Event(), threading.Event()
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def publish_soon(self) -> None:
        """Asks for a write of the status at the next moment that the bounded rate allows."""
        self._changed.set()

    def publish(self) -> None:
        """Renews the lease and writes the status now."""
        with self._writing:
            if self.lost.is_set():
                return
            try:
                renewed = self._control.renew_lease(self._lease, now=time.time(), seconds=LEASE_SECONDS)
                if renewed is None:
                    self.lost.set()
                    return
                self._control.write_status(self._status())
            except ControlError as failure:
                # A full disk or a lost mount may pass; the lease runs out by itself if it does not.
                self._log.error("the status could not be written: %s", failure)

    def end(self) -> None:
        """Writes the last status and lets the next one in."""
        self._over.set()
        self._changed.set()
        self._thread.join()
        self.publish()
        if not self.lost.is_set():
            self._control.release_lease(self._lease)

    def _beat(self) -> None:
        while not self._over.is_set() and not self.lost.is_set():
            self._changed.clear()
            self.publish()
            self._over.wait(_SHORTEST_SECONDS)
            self._changed.wait(BEAT_SECONDS)
