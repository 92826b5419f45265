"""Asks the systems what is there: only what is needed, in parallel, each with a bound. Touches the world
through drivers.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial

from flareiac.kernel.diagnostics import Failure
from flareiac.planning.fan_out import Unanswered, answers, workers
from flareiac.planning.unanswered import no_answer
from flareiac.sdk.capabilities import Prefetching
from flareiac.sdk.driver import Driver
from flareiac.sdk.requests import Question, ReadRequest
from flareiac.sdk.results import Observation, Unreadable

TIMEOUT = 60.0
"""Seconds that one read may take."""


def observe(
    questions: Sequence[Question],
    driver: Callable[[str, str], Driver],
    *,
    parallelism: int,
    timeout: float = TIMEOUT,
) -> dict[str, Observation]:
    """Returns the observation of each resource, by address. A driver's failure or silence is ``Unreadable``,
    never missing.
    """
    observations: dict[str, Observation] = {}
    groups: dict[tuple[str, str], list[ReadRequest]] = {}
    for question in questions:
        groups.setdefault((question.provider, question.type), []).append(question.request)
    with workers("observe", parallelism) as pool:
        for (provider, kind), requests in groups.items():
            observations.update(_observe_group(requests, partial(driver, provider, kind), pool, timeout))
    return observations


def _observe_group(
    requests: Sequence[ReadRequest],
    open_driver: Callable[[], Driver],
    pool: ThreadPoolExecutor,
    timeout: float,
) -> Mapping[str, Observation]:
    complete: Mapping[str, Observation] = {}
    try:
        driver = open_driver()
        if isinstance(driver, Prefetching):
            complete = pool.submit(driver.prefetch, requests).result(timeout=timeout)
    except Failure as failure:
        return {request.address: Unreadable(diagnostic=failure.diagnostics[0]) for request in requests}
    except FutureTimeout:
        return {
            request.address: Unreadable(diagnostic=no_answer(request.address, timeout))
            for request in requests
        }
    open_requests = [request for request in requests if request.address not in complete]
    answered = answers(
        pool, {request.address: partial(driver.read, request) for request in open_requests}, timeout
    )
    return {
        **complete,
        **{
            address: Unreadable(diagnostic=answer.diagnostics[0])
            if isinstance(answer, Unanswered)
            else answer
            for address, answer in answered.items()
        },
    }
