"""Complaints as records. A diagnostic has a stable code, a place, what is wrong, why, and what to do.

User-caused trouble is collected in a ``Diagnostics`` list and never raised; one run reports all problems it can find.
"""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from flareiac.kernel.paths import Path
from flareiac.kernel.sources import Span


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A second place that helps to understand the first one."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One complaint.

    ``code`` is stable (``FI`` and a group letter and three digits, see the reference); ``summary`` is one line without a full stop;
    ``detail`` says why and what to do; ``subject`` is what is wrong inside ``context`` (shown around it); ``values`` are the texts
    of the references involved, never sensitive ones. ``cancelled``: not wrong, but left unconfirmed because the user cancelled.
    ``hide_source``: the lines of the place hold a secret and are not shown.
    """

    code: str
    severity: Severity = Severity.ERROR
    summary: str
    detail: str = ""
    subject: Span | None = None
    context: Span | None = None
    address: str | None = None
    attribute: Path = ()
    related: tuple[Related, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    cancelled: bool = False
    hide_source: bool = False

    def at(self, *, subject: Span | None = None, address: str | None = None) -> "Diagnostic":
        """The same complaint with a place, where it had none."""
        return replace(self, subject=self.subject or subject, address=self.address or address)


def error(
    code: str, summary: str, detail: str = "", *, subject: Span | None = None, address: str | None = None, attribute: Path = ()
) -> Diagnostic:
    """An error record."""
    return Diagnostic(code=code, summary=summary, detail=detail, subject=subject, address=address, attribute=attribute)


def warning(
    code: str, summary: str, detail: str = "", *, subject: Span | None = None, address: str | None = None, attribute: Path = ()
) -> Diagnostic:
    """A warning record."""
    return Diagnostic(
        code=code, severity=Severity.WARNING, summary=summary, detail=detail, subject=subject, address=address, attribute=attribute
    )


@dataclass(slots=True)
class Diagnostics:
    """What one run complains of, in the order found; the same complaint is kept once."""

    items: list[Diagnostic] = field(default_factory=list)
    _seen: set[Diagnostic] = field(default_factory=set)

    def add(self, item: Diagnostic) -> None:
        if item not in self._seen:
            self._seen.add(item)
            self.items.append(item)

    def extend(self, items: "Iterable[Diagnostic]") -> None:
        for item in items:
            self.add(item)

    def error(
        self, code: str, summary: str, detail: str = "", *, subject: Span | None = None, address: str | None = None, attribute: Path = ()
    ) -> None:
        self.add(error(code, summary, detail, subject=subject, address=address, attribute=attribute))

    def warning(
        self, code: str, summary: str, detail: str = "", *, subject: Span | None = None, address: str | None = None, attribute: Path = ()
    ) -> None:
        self.add(warning(code, summary, detail, subject=subject, address=address, attribute=attribute))

    @property
    def has_errors(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.items)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Failure(Exception):
    """The world's trouble, already told as diagnostics: raised by adapters, caught once where a command ends or a node fails."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(item.summary for item in diagnostics))
        self.diagnostics = diagnostics


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` Did you mean "x"?`` for the nearest known name, or an empty text."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""
