"""Signals that set an event."""

import queue
import threading
from collections.abc import Callable
from types import FrameType


class SignalRelay:
    """A signal handler whose work is done by a thread of its own.

    A handler interrupts the main thread anywhere, amid a wait for an event too. ``Event.set`` would then wait
    without end for a lock that the interrupted wait holds; ``queue.SimpleQueue.put`` is made to be called
    there.
    """

    def __init__(self, act: Callable[[], None]) -> None:
        self._act, self._taken = act, queue.SimpleQueue[int]()
        threading.Thread(target=self._relay, name="signals", daemon=True).start()

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self._taken.put(number)

    def close(self) -> None:
        """Ends the thread. Signals that come later are not acted on."""
        self._taken.put(0)

    def _relay(self) -> None:
        while self._taken.get():
            self._act()
