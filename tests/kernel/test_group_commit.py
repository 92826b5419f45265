import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from flareiac.kernel.group_commit import GroupCommit


def test_each_item_is_done_once_in_order_and_its_own_thread_gets_its_answer() -> None:
    rounds: list[Sequence[int]] = []

    def work(items: Sequence[int]) -> Sequence[int | BaseException]:
        rounds.append(items)
        return [ValueError(str(item)) if item % 10 == 9 else 2 * item for item in items]

    together = GroupCommit(work)

    def one(item: int) -> object:
        try:
            return together.do(item)
        except ValueError as problem:
            return str(problem)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one, range(500)))
    assert answers == [str(item) if item % 10 == 9 else 2 * item for item in range(500)]
    assert sorted(item for items in rounds for item in items) == list(range(500))


def test_what_comes_during_a_round_is_the_next_one() -> None:
    begun, go_on = threading.Event(), threading.Event()
    rounds: list[Sequence[int]] = []

    def work(items: Sequence[int]) -> Sequence[None]:
        rounds.append(items)
        begun.set()
        assert go_on.wait(60)
        return [None] * len(items)

    together = GroupCommit(work)
    threads = [threading.Thread(target=together.do, args=(0,))]
    threads[0].start()
    assert begun.wait(60)
    for number in (1, 2, 3):
        threads.append(threading.Thread(target=together.do, args=(number,)))
        threads[-1].start()
        while len(together._queue) < number:
            go_on.wait(0.01)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert rounds == [[0], [1, 2, 3]]


def test_what_the_work_raises_is_raised_in_every_thread_and_the_next_round_works() -> None:
    calls: list[Sequence[int]] = []

    def work(items: Sequence[int]) -> Sequence[int]:
        calls.append(items)
        if len(calls) == 1:
            raise OSError("the disk is full")
        return items

    together = GroupCommit(work)
    with pytest.raises(OSError, match="full"):
        together.do(1)
    assert together.do(2) == 2
