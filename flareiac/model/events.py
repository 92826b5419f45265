"""Events while a plan is applied, as records that renderers turn into lines."""

from collections.abc import Sequence
from typing import TypeAlias

from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """An operation's side effects begin."""

    operation: Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressed:
    """A running operation has something to say."""

    operation: Operation
    message: str
    elapsed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """An operation succeeded. ``resumed``: an earlier, interrupted apply had done it."""

    operation: Operation
    elapsed: float
    messages: tuple[str, ...] = ()
    resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An operation failed."""

    operation: Operation
    elapsed: float
    diagnostics: tuple[Diagnostic, ...]


def is_cancelled(diagnostics: Sequence[Diagnostic]) -> bool:
    """Returns True where nothing but the user's own cancelling kept an operation from its end."""
    return bool(diagnostics) and all(diagnostic.cancelled for diagnostic in diagnostics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An operation was not started, because one that it waits for failed or the apply was cancelled."""

    operation: Operation
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something about the apply as a whole."""

    message: str


Event: TypeAlias = Started | Progressed | Completed | Failed | Skipped | Note
