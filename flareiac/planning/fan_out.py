"""Asks many things at once, each with a bound on its time. Touches whatever the calls touch."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from typing import TypeVar

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.planning.unanswered import no_answer, provider_crashed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The reason why there is no answer about one address, as diagnostics."""

    diagnostics: tuple[Diagnostic, ...]


@contextmanager
def workers(purpose: str, parallelism: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for calls that may never return: what still runs at the end is left behind."""
    pool = ThreadPoolExecutor(max_workers=max(1, parallelism), thread_name_prefix=purpose)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def answers(
    pool: ThreadPoolExecutor, calls: Mapping[str, Callable[[], T]], timeout: float
) -> dict[str, T | Unanswered]:
    """Returns the result of each call, by the address that it is about. A call that fails does not hide the
    results of the others.
    """
    pending = {address: pool.submit(call) for address, call in calls.items()}
    results: dict[str, T | Unanswered] = {}
    for address, future in pending.items():
        try:
            results[address] = future.result(timeout=timeout)
        except Failure as failure:
            results[address] = Unanswered(
                tuple(diagnostic.at(address=address) for diagnostic in failure.diagnostics)
            )
        except FutureTimeout:
            results[address] = Unanswered((no_answer(address, timeout),))
        except Exception as bug:  # noqa: BLE001 - one resource that cannot be read must not hide what is known of the others
            results[address] = Unanswered((provider_crashed(address, bug),))
    return results
