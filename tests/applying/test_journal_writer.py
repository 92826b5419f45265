"""Laws of the journal of an apply with many threads: what was acknowledged is there once and in order,
whatever the state and the emergency file refuse; what waits at the same time costs one request.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flareiac.applying.emergency_file import EmergencyFile, waiting_files
from flareiac.applying.journal_writer import JournalWriter
from flareiac.model.emergency import EmergencyHeader, decode_emergency
from flareiac.sdk.state import Lease, LockLost
from tests.state.conformance import ignore_wait
from tests.state.memory_store import MemoryLease, MemoryStore

_BEFORE = (b"an earlier apply", b"was interrupted")
_THREADS, _STEPS = 6, 4


class Store(MemoryStore):
    """Its calls from ``fails_at`` on fail; of the records of the first of them, the first ``arriving`` share
    gets there. ``before`` is called before every call.
    """

    def __init__(
        self, fails_at: int = 0, arriving: float = 0.0, before: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__()
        self.place.journal += _BEFORE
        self.fails_at, self.arriving, self.before, self.calls = fails_at, arriving, before, 0
        self.lease = self.lock("apply", timeout=0, on_wait=ignore_wait)

    def append_journal(self, records: Sequence[bytes], lease: Lease) -> None:
        self.calls += 1
        self.before()
        if self.calls == self.fails_at:
            super().append_journal(records[: round(self.arriving * len(records))], lease)
            raise OSError(5, "Input/output error")
        super().append_journal(records, lease)


class FailingFile(EmergencyFile):
    """Refuses some of the writes."""

    def __init__(self, root: Path, choose: random.Random) -> None:
        super().__init__(root, "x", bytes)
        self._choose = choose

    def append(self, header: EmergencyHeader, records: Sequence[bytes]) -> None:
        if self._choose.random() < 0.3:
            raise OSError(28, "No space left on device")
        super().append(header, records)


def writer_of(
    store: Store, file: EmergencyFile | None = None, lease: MemoryLease | None = None
) -> JournalWriter:
    writer = JournalWriter(store, lease or store.lease, written=len(_BEFORE))
    if file is not None:
        writer.arm(file, lineage="l", serial=3, apply_id="x")
    return writer


def whole_journal(store: Store, root: Path) -> list[bytes]:
    """Journal and emergency file together, as ``state recover`` brings them."""
    known = list(store.place.journal)
    assert known[: len(_BEFORE)] == [*_BEFORE]
    for file in waiting_files(root):
        rescued = decode_emergency((root / file).read_bytes(), file, bytes)
        assert not rescued.torn
        behind = known[rescued.header.after :]
        common = min(len(behind), len(rescued.records))
        assert tuple(behind[:common]) == rescued.records[:common]
        known += rescued.records[common:]
    return known[len(_BEFORE) :]


@dataclass(slots=True)
class Outcome:
    """The records of a thread of operations that were acknowledged, and those that were refused."""

    acknowledged: list[bytes] = field(default_factory=list)
    refused: list[bytes] = field(default_factory=list)


def operations(writer: JournalWriter, name: int) -> Outcome:
    """Intents and results one after another, as an apply writes them: without an intent, no result."""
    outcome, choose = Outcome(), random.Random(name)
    for step in range(_STEPS):
        intent, result = (b"%d %d %b" % (name, step, kind) for kind in (b"intent", b"result"))
        try:
            writer.append_intent(intent, intent + b" not begun")
        except (OSError, LockLost):
            outcome.refused.append(intent)
            return outcome
        outcome.acknowledged.append(intent)
        time.sleep(choose.choice([0.0, 0.003]))
        try:
            writer.append(result)
        except (OSError, LockLost):
            continue
        outcome.acknowledged.append(result)
    return outcome


def all_operations(writer: JournalWriter) -> list[Outcome]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(lambda name: operations(writer, name), range(_THREADS)))


def check(found: Sequence[bytes], outcomes: Sequence[Outcome], *, is_rescued: bool) -> None:
    assert len(found) == len(set(found)), found
    for outcome in outcomes:
        assert [record for record in found if record in outcome.acknowledged] == outcome.acknowledged
        for intent in outcome.refused:
            if is_rescued and intent in found:
                assert intent + b" not begun" in found[found.index(intent) :]
    ended = {record.removesuffix(b" not begun") for record in found if record.endswith(b" not begun")}
    assert ended <= {intent for outcome in outcomes for intent in outcome.refused}


def test_every_record_of_many_threads_is_there_once_and_in_order(tmp_path: Path) -> None:
    store = Store()
    outcomes = all_operations(writer_of(store))
    found = whole_journal(store, tmp_path)
    check(found, outcomes, is_rescued=False)
    assert len(found) == _THREADS * _STEPS * 2
    assert not any(outcome.refused for outcome in outcomes)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_fails_no_acknowledged_record_is_lost_or_doubled(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    # While a call lasts, others come to wait.
    store = Store(
        fails_at=choose.randint(1, 8),
        arriving=choose.choice([0.0, 0.5, 1.0]),
        before=lambda: time.sleep(0.001),
    )
    file = FailingFile(tmp_path, choose) if seed % 2 else EmergencyFile(tmp_path, "x", bytes)
    writer = writer_of(store, file)
    outcomes = all_operations(writer)
    assert isinstance(writer.failure, OSError)
    assert store.calls == store.fails_at
    check(whole_journal(store, tmp_path), outcomes, is_rescued=writer.emergency_file is not None)
    if not seed % 2:
        # Only intents are refused: of each operation that was begun, the end is known.
        kinds = [record.split()[-1] for outcome in outcomes for record in outcome.acknowledged]
        assert kinds.count(b"intent") == kinds.count(b"result")


@pytest.mark.parametrize("seed", range(10))
def test_a_lost_lock_ends_writing_to_the_state(tmp_path: Path, seed: int) -> None:
    calls = 1 + seed % 5
    store = Store(before=lambda: _lose(store, calls))
    writer = writer_of(store, EmergencyFile(tmp_path, "x", bytes))
    outcomes = all_operations(writer)
    assert isinstance(writer.failure, LockLost)
    check(whole_journal(store, tmp_path), outcomes, is_rescued=writer.emergency_file is not None)


def _lose(store: Store, calls: int) -> None:
    time.sleep(0.001)
    if store.calls == calls:
        store.release_lock(store.lease.info.id)


def held_up(
    store: Store, act: Callable[[JournalWriter, int], object], count: int
) -> list[BaseException | None]:
    """Has this many threads wait while the first call is under way; what each of them raised."""
    is_asked, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        is_asked.set()
        assert may_go.wait(60)

    store.before = hold
    writer = writer_of(store)
    with ThreadPoolExecutor(count + 1) as pool:
        running = [pool.submit(act, writer, 0)]
        assert is_asked.wait(60)
        running += [pool.submit(act, writer, number) for number in range(1, count + 1)]
        while len(writer._together._queue) < count:
            pass
        may_go.set()
        return [future.exception(60) for future in running]


def test_records_that_wait_at_the_same_time_cost_one_request(tmp_path: Path) -> None:
    store = Store()
    problems = held_up(store, lambda writer, number: writer.append(b"%d" % number), 19)
    assert problems == [None] * 20
    assert store.calls == 2
    assert sorted(whole_journal(store, tmp_path), key=int) == [b"%d" % number for number in range(20)]


def test_before_the_apply_has_begun_a_failure_is_told_to_all_that_wait(tmp_path: Path) -> None:
    store = Store(fails_at=2)
    problems = held_up(store, lambda writer, number: writer.append(b"%d" % number), 5)
    assert [type(problem) for problem in problems] == [type(None), *[OSError] * 5]
    assert whole_journal(store, tmp_path) == [b"0"]


def test_after_a_bug_of_the_store_no_thread_waits_for_ever(tmp_path: Path) -> None:
    store = Store(before=lambda: 1 // 0)
    writer = writer_of(store, EmergencyFile(tmp_path, "x", bytes))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            writer.append(b"one")
    store.before = lambda: None
    writer.append(b"two")
    assert whole_journal(store, tmp_path) == [b"two"]
