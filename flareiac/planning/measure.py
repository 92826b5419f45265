"""Measures what maintenance decides by: in parallel, with a bound. Touches the world through drivers, by reading only."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass

from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, warning
from flareiac.planning.observe import breakdown, silence
from flareiac.sdk.driver import Driver
from flareiac.sdk.maintenance import MeasureRequest, Measuring

TIMEOUT = 300.0
"""Seconds that one measurement may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One resource to measure. ``provider`` and ``type`` say by whom."""

    provider: str
    type: str
    request: MeasureRequest


def measure(
    wanted: Sequence[Measurement], driver: Callable[[str, str], Driver], *, parallelism: int, timeout: float = TIMEOUT
) -> tuple[dict[str, Attributes], tuple[Diagnostic, ...]]:
    """The figures by address, and a warning for each resource about which there are none: nothing is due of it then."""
    figures: dict[str, Attributes] = {}
    troubles: list[Diagnostic] = []
    pool = ThreadPoolExecutor(max_workers=max(1, parallelism), thread_name_prefix="measure")
    try:
        pending = [(item.request.address, pool.submit(_measured, item, driver)) for item in wanted]
        for address, future in pending:
            try:
                figures[address] = future.result(timeout=timeout)
            except Failure as failure:
                troubles.extend(_unmeasured(address, item) for item in failure.diagnostics)
            except FutureTimeout:
                troubles.append(_unmeasured(address, silence(address, timeout)))
            except Exception as bug:  # noqa: BLE001 - one table that cannot be measured must not hide what is due of the others
                troubles.append(_unmeasured(address, breakdown(address, bug)))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return figures, tuple(troubles)


def _measured(item: Measurement, driver: Callable[[str, str], Driver]) -> Attributes:
    found = driver(item.provider, item.type)
    assert isinstance(found, Measuring), f"{item.type} has a maintainer, and its driver cannot measure"
    return found.measure(item.request)


def _unmeasured(address: str, cause: Diagnostic) -> Diagnostic:
    return warning(
        codes.MAINTENANCE_NOT_KNOWN,
        f"{cause.line} No maintenance of {address} is planned until this is put right.",
        address=address,
    )
