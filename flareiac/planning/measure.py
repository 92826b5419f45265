"""Measures what maintenance decides by: in parallel, with a bound. Touches the world through drivers, by
reading only.
"""

from collections.abc import Callable, Sequence
from functools import partial

from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.planning.fan_out import Unanswered, answers, workers
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
    wanted: Sequence[Measurement],
    driver: Callable[[str, str], Driver],
    *,
    parallelism: int,
    timeout: float = TIMEOUT,
) -> tuple[dict[str, Attributes], tuple[Diagnostic, ...]]:
    """The figures by address, and a warning for each resource about which there are none: nothing is due of
    it then.
    """
    with workers("measure", parallelism) as pool:
        answered = answers(
            pool,
            {measurement.request.address: partial(_measured, measurement, driver) for measurement in wanted},
            timeout,
        )
    figures = {address: answer for address, answer in answered.items() if not isinstance(answer, Unanswered)}
    missing = {
        address: answer.diagnostics for address, answer in answered.items() if isinstance(answer, Unanswered)
    }
    return figures, tuple(
        _unmeasured(address, diagnostic)
        for address, diagnostics in missing.items()
        for diagnostic in diagnostics
    )


def _measured(measurement: Measurement, driver: Callable[[str, str], Driver]) -> Attributes:
    measuring = driver(measurement.provider, measurement.type)
    assert isinstance(measuring, Measuring), (
        f"{measurement.type} has a maintainer, and its driver cannot measure"
    )
    return measuring.measure(measurement.request)


def _unmeasured(address: str, cause: Diagnostic) -> Diagnostic:
    return warning(
        codes.MAINTENANCE_NOT_KNOWN,
        f"{cause.line} No maintenance of {address} is planned until this is put right.",
        address=address,
    )
