"""Sends the events of a driver to where OpenLineage collects them, from a thread of its own. Who puts an
event in never waits: a place that is slow, refuses or does not answer costs events, and nothing else.
"""

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from logging import Logger
from typing import Any, Final

from flareiac.kernel.data import write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import masked
from flareiac_spark_runtime.control import OpenLineageTarget
from flareiac_spark_runtime.driver.event_transport import Never, NotNow, Transport, transport_of

MOST: Final = 1000
"""Events that wait. One more takes the place of the oldest commit, or of the oldest event without one."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds between attempts at one event; they double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """``make`` gives the event when its turn has come, in the thread of the queue; it may ask Spark.
    ``is_commit``: others tell of the same run, too. ``job`` is counted with what is dropped.
    """

    job: str
    make: Callable[[], Mapping[str, Any]]
    is_commit: bool = False


class EventQueue:
    """For one driver. ``problem`` says why nothing can be sent at the moment. Safe from several threads."""

    def __init__(self, log: Logger) -> None:
        self.problem: str | None = None
        self._log = log
        self._changed = threading.Condition()
        self._waiting: deque[Pending] = deque()
        self._dropped = Counter[str]()
        self._target: OpenLineageTarget | None = None
        self._transport: Transport | None = None
        self._deadline: float | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_on(self) -> bool:
        return self._transport is not None

    @property
    def dropped(self) -> Mapping[str, int]:
        """Events that were not sent and are not kept, by job."""
        with self._changed:
            return dict(self._dropped)

    def aim(self, target: OpenLineageTarget | None) -> None:
        """From now on events go there; what waits goes there, too, or is left out where that is nowhere."""
        if target == self._target:
            return
        with self._changed:
            self._target, self.problem = target, None
            self._transport = None if target is None else transport_of(target)
            if target is None:
                self._waiting.clear()
            self._changed.notify_all()
        if target is not None and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="openlineage", daemon=True)
            self._thread.start()

    def put(self, pending: Pending) -> None:
        """Takes an event, and returns at once."""
        with self._changed:
            if self._transport is None:
                return
            if len(self._waiting) >= MOST:
                oldest = next((each for each in self._waiting if each.is_commit), self._waiting[0])
                self._waiting.remove(oldest)
                self._dropped[oldest.job] += 1
            self._waiting.append(pending)
            self._changed.notify_all()

    def end(self, seconds: float) -> None:
        """Sends what waits, for so long at most; the rest is dropped."""
        if self._thread is None:
            return
        with self._changed:
            self._deadline = time.monotonic() + seconds
            self._changed.notify_all()
        self._thread.join(seconds)
        with self._changed:
            left = len(self._waiting)
            self._dropped.update(each.job for each in self._waiting)
            self._waiting.clear()
            self._transport = None
        if left:
            self._log.warning("%s events of OpenLineage were not sent", left)

    def _run(self) -> None:
        while (pending := self._next()) is not None:
            try:
                line = write_json(_masked(pending.make()), ensure_ascii=False, compact=True)
            except Exception as failure:  # noqa: BLE001 - whatever an event cannot be made of, the jobs go on
                self._give_up(pending, masked(f"cannot make an event: {type(failure).__name__}: {failure}"))
            else:
                self._deliver(pending, line)

    def _next(self) -> Pending | None:
        """The oldest event, which keeps its place until it was sent; None at the end."""
        with self._changed:
            while not self._waiting and self._deadline is None:
                self._changed.wait()
            return self._waiting[0] if self._waiting and self._seconds_left() > 0 else None

    def _deliver(self, pending: Pending, line: str) -> None:
        pause = _FIRST_PAUSE
        while (transport := self._transport) is not None and self._is_first(pending):
            try:
                transport.send(line)
            except Never as refusal:
                self._give_up(pending, f"{refusal}")
            except NotNow as failure:
                self._say(f"{failure}")
                self._pause(pause, transport)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._done(pending)

    def _pause(self, seconds: float, transport: Transport) -> None:
        """Until the next attempt: it comes sooner at another place, and at the end."""
        with self._changed:
            if self._deadline is not None:
                seconds = min(seconds, self._seconds_left())
                self._changed.wait(max(seconds, 0.0))
                return
            self._changed.wait_for(
                lambda: self._deadline is not None or self._transport is not transport, seconds
            )

    def _seconds_left(self) -> float:
        return math.inf if self._deadline is None else self._deadline - time.monotonic()

    def _is_first(self, pending: Pending) -> bool:
        """False for one that was dropped for another, or left out, meanwhile; and at the end."""
        with self._changed:
            is_first = bool(self._waiting) and self._waiting[0] is pending
            return is_first and self._seconds_left() > 0

    def _done(self, pending: Pending) -> None:
        self._remove(pending)
        if self.problem is not None:
            self._log.info("events of OpenLineage are sent again")
            self.problem = None

    def _give_up(self, pending: Pending, why: str) -> None:
        if self._remove(pending):
            with self._changed:
                self._dropped[pending.job] += 1
        self._say(why)

    def _remove(self, pending: Pending) -> bool:
        with self._changed:
            if self._waiting and self._waiting[0] is pending:
                self._waiting.popleft()
                return True
            return False

    def _say(self, why: str) -> None:
        """Once for each reason, and not for each event."""
        if why != self.problem:
            self._log.warning("OpenLineage: %s; jobs go on, and events are dropped once %s wait", why, MOST)
        self.problem = why


def _masked(part: Any) -> Any:
    """An event without the secrets that this process has used."""
    match part:
        case str():
            return masked(part)
        case Mapping():
            return {masked(name): _masked(value) for name, value in part.items()}
        case list() | tuple():
            return [_masked(each) for each in part]
        case _:
            return part
