"""Polls desired.json. The interval depends on the cost of a look: nearly nothing at a local file, a request
at object storage.
"""

import threading
import time

from flareiac_spark_runtime.control import ControlDirectory
from flareiac_spark_runtime.control.control_files import Glance


class Lookout:
    """For the one loop of a driver."""

    def __init__(self, control: ControlDirectory) -> None:
        self._control = control
        self._seen: Glance | None = None
        self._next = 0.0

    def look(self) -> Glance | None:
        """The state that was seen now, or a moment ago; None where nothing could be seen."""
        if time.monotonic() >= self._next:
            self._seen = self._control.glance()
            self._next = time.monotonic() + self._control.rhythm.look
        return self._seen

    def pause(self, wake: threading.Event) -> bool:
        """Until there may be something to do. A wish waits less than a tick where looks cost nothing.

        Whether it was woken.
        """
        rhythm = self._control.rhythm
        until = time.monotonic() + rhythm.tick
        while not wake.wait(rhythm.glance) and time.monotonic() < until and not self._is_new():
            pass
        woken = wake.is_set()
        wake.clear()
        return woken

    def _is_new(self) -> bool:
        if self._control.rhythm.look:
            return False
        return self._control.stamp("desired.json") != (self._seen.desired if self._seen else None)
