"""Group commit: work submitted by several threads runs as one batch. Pure but for what the work does."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from flareiac.kernel.lazy_dataclass import dataclass

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True, kw_only=True)
class _Waiting(Generic[T, R]):
    entry: T
    answer: R | BaseException | None = None
    is_done: bool = False


class GroupCommit(Generic[T, R]):
    """The first thread that comes does the work of all that wait by then, in the order in which they came;
    those that come meanwhile wait for the next round. Never two rounds at once.

    ``work``: an answer for each entry. An exception among the answers is raised in the thread that brought
    the entry; one that ``work`` raises is raised in all of them.
    """

    def __init__(self, work: Callable[[Sequence[T]], Sequence[R | BaseException]]) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._queue: list[_Waiting[T, R]] = []
        self._is_working = False

    def do(self, entry: T) -> R:
        """The answer for an entry, once it is there. Raises what the work raised for it."""
        mine: _Waiting[T, R] = _Waiting(entry=entry)
        with self._changed:
            self._queue.append(mine)
            self._changed.wait_for(lambda: mine.is_done or not self._is_working)
            is_leader = not mine.is_done
            if is_leader:
                self._is_working = True
                together, self._queue = self._queue, []
        if is_leader:
            self._lead(together)
        if isinstance(mine.answer, BaseException):
            raise mine.answer
        answer: R = mine.answer  # type: ignore[assignment]  # the work has answered, and None may be its answer
        return answer

    def _lead(self, together: Sequence[_Waiting[T, R]]) -> None:
        try:
            for waiting, answer in zip(
                together, self._work([waiting.entry for waiting in together]), strict=True
            ):
                waiting.answer = answer
        except BaseException as problem:  # noqa: BLE001 - each of the threads raises it
            for waiting in together:
                waiting.answer = problem
        finally:
            with self._changed:
                for waiting in together:
                    waiting.is_done = True
                self._is_working = False
                self._changed.notify_all()
