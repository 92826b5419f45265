"""Asks Spark about several jobs at a time, in threads. Pure, but for what is asked."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def at_once(ask: Callable[[T], R], jobs: Iterable[T]) -> list[R]:
    """The answers in the order of the jobs. Analysis runs in the driver alone, so that more threads than its
    cores gain nothing. Raises what the first job raises that has no answer.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(ask, jobs))
