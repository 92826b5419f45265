"""The results of conditions that a configuration states about itself: validations of variables, pre- and
postconditions, and the assertions of ``check`` blocks.
"""

from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum

from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, UNSTORED


class Owning(StrEnum):
    """The kind of what a condition belongs to, in the words of Terraform's plan JSON."""

    RESOURCE = "resource"
    OUTPUT = "output_value"
    CHECK = "check"
    VARIABLE = "var"


class Moment(StrEnum):
    """The moment at which a condition must hold."""

    BEFORE = "precondition"
    AFTER = "postcondition"
    ALWAYS = "assert"
    GIVEN = "validation"


class Status(StrEnum):
    """The answer of a condition. ``UNKNOWN``: an apply decides it."""

    PASS = "pass"  # noqa: S105 - Terraform's word for it
    FAIL = "fail"
    ERROR = "error"
    UNKNOWN = "unknown"


GRAVEST_FIRST = (Status.ERROR, Status.FAIL, Status.UNKNOWN, Status.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionResult:
    """One condition of one instance. ``address`` is that of the instance, ``output.x``, ``check.x`` or
    ``var.x``; ``message`` is empty where it holds.
    """

    owning: Owning
    address: str
    moment: Moment
    status: Status
    message: str = field(default="", metadata=SPARSE)
    problem: Diagnostic | None = field(default=None, compare=False, metadata=UNSTORED)
    """The complaint where it does not hold or cannot be evaluated: a warning of a check, else an error."""


def left_to_apply(results: Iterable[ConditionResult]) -> tuple[ConditionResult, ...]:
    """Returns the conditions that only an apply can decide, but for those of checks, which block nothing."""
    return tuple(
        each for each in results if each.status is Status.UNKNOWN and each.owning is not Owning.CHECK
    )
