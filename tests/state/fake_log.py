"""A numbered log in memory whose every request passes a hook: before it, a test may stop who asks, move the
clock of the place, or let the request or its answer be lost.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from flareiac_state.lease import Terms
from flareiac_state.lock_file import Clock
from flareiac_state.log_store import LogStore, StoreOptions
from flareiac_state.numbered_log import Newest

Hook = Callable[[str, int], None]


def no_hook(_request: str, _number: int) -> None:
    """Requests pass."""


@dataclass(slots=True)
class FakePlace:
    """The place itself: what it keeps, and its clock."""

    now: float = 1_000_000.0
    records: dict[int, tuple[bytes, float]] = field(default_factory=dict)
    beats: dict[int, float] = field(default_factory=dict)
    using: threading.Lock = field(default_factory=threading.Lock)


class FakeLog:
    """One client's way to the place (see ``NumberedLog``)."""

    def __init__(self, place: FakePlace, before: Hook = no_hook, after: Hook = no_hook) -> None:
        self.place, self.before, self.after = place, before, after
        self.requests: Counter[str] = Counter()

    def append(self, number: int, content: bytes) -> float | None:
        self._ask("append", number)
        with self.place.using:
            is_new = number not in self.place.records
            if is_new:
                self.place.records[number] = (content, self.place.now)
            now = self.place.now
        self.after("append", number)
        return now if is_new else None

    def newest(self) -> Newest | None:
        self._ask("newest", 0)
        with self.place.using:
            if not self.place.records:
                return None
            number = max(self.place.records)
            return Newest(number=number, written=self.place.records[number][1], now=self.place.now)

    def read(self, numbers: Sequence[int]) -> Mapping[int, bytes]:
        for number in numbers:
            self._ask("read", number)
        with self.place.using:
            return {
                number: self.place.records[number][0] for number in numbers if number in self.place.records
            }

    def name(self, number: int) -> str:
        return f"the record {number}"

    def collect(self, *, before: int, keep: Collection[int], age: float) -> None:
        self._ask("collect", before)
        with self.place.using:
            for number in [number for number in self.place.records if number < before]:
                if number not in keep and self.place.now - self.place.records[number][1] >= age:
                    del self.place.records[number]

    def beat(self, epoch: int) -> None:
        self._ask("beat", epoch)
        self.place.beats[epoch] = self.place.now

    def beaten(self, epoch: int) -> float | None:
        self._ask("beaten", epoch)
        return self.place.beats.get(epoch)

    def forget_beat(self, epoch: int) -> None:
        self._ask("forget_beat", epoch)
        self.place.beats.pop(epoch, None)

    def _ask(self, request: str, number: int) -> None:
        self.requests[request] += 1
        self.before(request, number)


def fake_store(
    log: FakeLog, *, uptime: Callable[[], float] | None = None, wall: float = 0.0, heartbeat: float = 3600.0
) -> LogStore:
    """A store whose host's clocks are the given ones: by default they stand still at the moment ``wall``,
    whatever time it is at the place. Its heart beats so rarely that no test meets it, unless told otherwise.
    """
    clock = Clock(wall=lambda: wall, uptime=uptime or (lambda: 0.0), sleep=lambda _seconds: None)
    terms = Terms(length=60.0, heartbeat=heartbeat)
    options = StoreOptions(
        where="fake", environment={"USER": "tester"}, prove=lambda: None, clock=clock, terms=terms
    )
    return LogStore(log, "default", options)
