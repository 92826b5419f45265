"""Asks the systems what is there: only what is needed, in parallel, each with a bound. Touches the world through drivers."""

import os
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.capabilities import Prefetching
from flareiac.sdk.driver import Driver
from flareiac.sdk.requests import Question, ReadRequest
from flareiac.sdk.results import Observation, Unreadable

TIMEOUT = 60.0
"""Seconds that one read may take."""


def observe(
    questions: Sequence[Question], driver: Callable[[str, str], Driver], *, parallelism: int, timeout: float = TIMEOUT
) -> dict[str, Observation]:
    """What is there, by address. A driver's failure or silence is ``Unreadable``, never missing."""
    answers: dict[str, Observation] = {}
    groups: dict[tuple[str, str], list[ReadRequest]] = {}
    for question in questions:
        groups.setdefault((question.provider, question.type), []).append(question.request)
    pool = ThreadPoolExecutor(max_workers=max(1, parallelism), thread_name_prefix="observe")
    try:
        for (provider, kind), requests in groups.items():
            answers.update(_observe_group(requests, lambda p=provider, k=kind: driver(p, k), pool, timeout))  # type: ignore[misc]  # lambda defaults
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return answers


def _observe_group(
    requests: Sequence[ReadRequest], open_driver: Callable[[], Driver], pool: ThreadPoolExecutor, timeout: float
) -> Mapping[str, Observation]:
    try:
        driver = open_driver()
        if isinstance(driver, Prefetching):
            pool.submit(driver.prefetch, requests).result(timeout=timeout)
    except Failure as failure:
        return {request.address: Unreadable(diagnostic=failure.diagnostics[0]) for request in requests}
    except FutureTimeout:
        return {request.address: Unreadable(diagnostic=silence(request.address, timeout)) for request in requests}
    return dict(_read_all(requests, driver, pool, timeout))


def _read_all(
    requests: Iterable[ReadRequest], driver: Driver, pool: ThreadPoolExecutor, timeout: float
) -> Iterable[tuple[str, Observation]]:
    pending = [(request.address, pool.submit(driver.read, request)) for request in requests]
    for address, future in pending:
        try:
            yield address, future.result(timeout=timeout)
        except Failure as failure:
            yield address, Unreadable(diagnostic=failure.diagnostics[0].at(address=address))
        except FutureTimeout:
            yield address, Unreadable(diagnostic=silence(address, timeout))
        except Exception as bug:  # noqa: BLE001 - one resource that cannot be read must not hide what is known of the others
            yield address, Unreadable(diagnostic=breakdown(address, bug))


def breakdown(address: str, bug: Exception) -> Diagnostic:
    """What is said of a resource when its provider fails where it never should."""
    what = "".join(traceback.format_exception(bug)) if os.environ.get("FLAREIAC_DEBUG") else f"{type(bug).__name__}: {bug}"
    return error(
        codes.READING_FAILED,
        f"Reading {address} raised {what.strip()}. Either what the state holds of it was changed by hand (restore it from the history "
        "directory beside the snapshot), or this is a bug of the provider; please report it then together with the output under "
        "FLAREIAC_DEBUG=1.",
        address=address,
    )


def silence(address: str, timeout: float) -> Diagnostic:
    """What is said of a resource about which its system does not answer."""
    return error(
        codes.NO_ANSWER,
        f"The system that holds {address} did not answer within {timeout:.0f} seconds, so nothing is known about it. Check that it "
        "runs and can be reached (flareiac doctor), then run the command again.",
        address=address,
    )
