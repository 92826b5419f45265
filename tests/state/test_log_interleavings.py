"""Two or three writers at one place, stopped before and after each of their requests while the others go on
and time passes: one of them wins, and what was acknowledged is there, once.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from flareiac.kernel.kill_points import Interrupted
from flareiac.sdk.state import Conflict, Lease, LockHeld, LockLost, StateStore, StateUnreachable
from tests.state.conformance import ignore_wait
from tests.state.fake_log import FakeLog, FakePlace, fake_store

LATER = (0.0, 29.0, 61.0, 4000.0)
"""Seconds that pass while a writer is stopped: within the lease, at its end, after it, after collecting."""


@dataclass(slots=True)
class Writer:
    """A command: it takes the lock, adds records, folds all there is into a snapshot, adds another one.

    ``acknowledged`` are the records whose writing returned.
    """

    name: str
    place: FakePlace
    rounds: int = 1
    acknowledged: list[bytes] = field(default_factory=list)
    requests: int = 0
    is_done: bool = False
    problem: BaseException | None = None
    loses: Callable[[], bool] = field(default=lambda: False)
    _may_go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _is_stopped: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def start(self) -> None:
        """Runs up to the first request."""
        threading.Thread(target=self._run, daemon=True).start()
        assert self._is_stopped.acquire(timeout=60)

    def step(self) -> None:
        """Lets one request (or the answer to one) through, and runs up to the next."""
        self._may_go.release()
        assert self._is_stopped.acquire(timeout=60)

    def finish(self) -> None:
        while not self.is_done:
            self.step()

    def _stop(self, _request: str, _number: int) -> None:
        self.requests += 1
        self._is_stopped.release()
        assert self._may_go.acquire(timeout=60)
        if self.loses():
            raise StateUnreachable("the connection was lost")

    def _run(self) -> None:
        log = FakeLog(self.place, before=self._stop, after=self._stop)
        try:
            for number in range(self.rounds):
                self._work(fake_store(log), number)
        except BaseException as problem:  # noqa: BLE001 - told by the test
            self.problem = problem
        finally:
            self.is_done = True
            self._is_stopped.release()

    def _work(self, store: StateStore, number: int) -> None:
        try:
            lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        except (LockHeld, StateUnreachable):
            return
        try:
            moment = store.read()
            items = _items(moment.snapshot.content) if moment.snapshot else []
            items += moment.journal.records
            for parts in ("a", "bc"):
                items += self._append(store, lease, [f"{self.name}{number}{part}".encode() for part in parts])
            revision = moment.snapshot.revision if moment.snapshot else None
            store.write_snapshot(b"\n".join(items), expect=revision, lease=lease)
            self._append(store, lease, [f"{self.name}{number}d".encode()])
        except (LockLost, Conflict, StateUnreachable, Interrupted):
            return
        finally:
            lease.release()

    def _append(self, store: StateStore, lease: Lease, records: list[bytes]) -> list[bytes]:
        store.append_journal(records, lease)
        self.acknowledged += records
        return records


def _items(content: bytes) -> list[bytes]:
    return content.split(b"\n") if content else []


def _check(place: FakePlace, writers: list[Writer]) -> None:
    for writer in writers:
        if writer.problem is not None:
            raise AssertionError(writer.name) from writer.problem
    place.now += 4000.0
    last = fake_store(FakeLog(place))
    last.lock("check", timeout=0, on_wait=ignore_wait).release()
    moment = last.read()
    found = [*(_items(moment.snapshot.content) if moment.snapshot else []), *moment.journal.records]
    assert len(found) == len(set(found)), found
    for writer in writers:
        mine = [record for record in found if record.startswith(writer.name.encode())]
        assert mine == sorted(mine)
        assert set(writer.acknowledged) <= set(mine), (writer.name, writer.acknowledged, found)


def _length_alone() -> int:
    writer = Writer(name="x", place=FakePlace())
    writer.start()
    writer.finish()
    return writer.requests


@pytest.mark.parametrize("later", LATER)
def test_a_writer_stopped_at_any_point_while_another_works_loses_nothing_acknowledged(later: float) -> None:
    for point in range(_length_alone() + 1):
        place = FakePlace()
        first = Writer(name="a", place=place)
        first.start()
        for _ in range(point):
            if not first.is_done:
                first.step()
        place.now += later
        others = [Writer(name=name, place=place) for name in "bc"]
        for other in others:
            other.start()
            other.finish()
            place.now += later
        first.finish()
        _check(place, [first, *others])
        if later > 60 or point == 0:
            assert len(others[0].acknowledged) == 4


@pytest.mark.parametrize("later", LATER)
def test_two_writers_stopped_at_any_two_points(later: float) -> None:
    for point in range(_length_alone()):
        for second_point in range(_length_alone()):
            place = FakePlace()
            first, second = Writer(name="a", place=place), Writer(name="b", place=place)
            first.start()
            for _ in range(point):
                if not first.is_done:
                    first.step()
            place.now += later
            second.start()
            for _ in range(second_point):
                if not second.is_done:
                    second.step()
            place.now += later
            first.finish()
            second.finish()
            _check(place, [first, second])


def _run_in_any_order(seed: int) -> None:
    choose = random.Random(seed)
    place = FakePlace()
    is_lossy = seed % 2 == 1
    writers = [Writer(name=name, place=place, rounds=3) for name in "abc"]
    for writer in writers:
        writer.loses = lambda: is_lossy and choose.random() < 0.05
        writer.start()
    while running := [writer for writer in writers if not writer.is_done]:
        choose.choice(running).step()
        if choose.random() < 0.2:
            place.now += choose.choice((1.0, 20.0, 40.0, 61.0, 700.0))
    _check(place, writers)


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_three_writers_in_any_order_with_lost_requests_and_answers(start: int) -> None:
    for seed in range(start, start + 50):
        _run_in_any_order(seed)


def test_the_runs_find_a_place_that_overwrites(monkeypatch: pytest.MonkeyPatch) -> None:
    class Careless(FakeLog):
        def append(self, number: int, content: bytes) -> float | None:
            with self.place.using:
                self.place.records.pop(number, None)
            return super().append(number, content)

    monkeypatch.setattr("tests.state.test_log_interleavings.FakeLog", Careless)
    found = 0
    for seed in range(40):
        try:
            _run_in_any_order(seed)
        except Exception:  # noqa: BLE001 - however it shows
            found += 1
    assert found > 0
