"""Complaints as records. A diagnostic has a stable code, a place, what is wrong, why, and what to do.

User-caused trouble is collected in a ``Diagnostics`` list and never raised; one run reports all problems it
can find.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import TypedDict, Unpack

from flareiac.kernel.codes import Code
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.records import UNSTORED
from flareiac.kernel.secret_masks import masked
from flareiac.kernel.sources import Source, Span, StoredSpan


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

    ``code`` and ``summary`` are the id and the title of a ``Code`` (``error`` and ``warning`` fill them);
    ``detail`` names what is wrong and says why and what to do; ``subject`` is what is wrong inside
    ``context`` (shown around it); ``values`` are the texts of the references involved, never sensitive ones.
    ``cancelled``: not wrong, but left unconfirmed because the user cancelled. ``hide_source``: the lines of
    the place hold a secret and are not shown. ``within``: the character offsets of what is wrong in the text
    that the attribute has. ``left_to_plan``: an error of the configuration that a plan says better where it
    blocks a change for it.
    """

    code: str
    severity: Severity = Severity.ERROR
    summary: str
    detail: str = ""
    address: str | None = None
    attribute: Path = ()
    subject: StoredSpan | None = None
    context: Span | None = field(default=None, metadata=UNSTORED)
    related: tuple[Related, ...] = field(default=(), metadata=UNSTORED)
    values: tuple[tuple[str, str], ...] = field(default=(), metadata=UNSTORED)
    cancelled: bool = field(default=False, metadata=UNSTORED)
    hide_source: bool = field(default=False, metadata=UNSTORED)
    within: tuple[int, int] | None = field(default=None, metadata=UNSTORED)
    left_to_plan: bool = field(default=False, metadata=UNSTORED)

    @property
    def line(self) -> str:
        """All of it as one paragraph, for what has no room for a box."""
        return f"{self.summary}: {self.detail}" if self.detail else f"{self.summary}."

    def at(self, *, subject: Span | None = None, address: str | None = None) -> "Diagnostic":
        """The same complaint with a place, where it had none."""
        return replace(self, subject=self.subject or subject, address=self.address or address)


class Place(TypedDict, total=False):
    """The place of a diagnostic, and what is shown with it: the fields of ``Diagnostic`` that its code does
    not give.
    """

    subject: Span | None
    context: Span | None
    address: str | None
    attribute: Path
    related: tuple[Related, ...]
    values: tuple[tuple[str, str], ...]
    cancelled: bool
    hide_source: bool
    within: tuple[int, int] | None
    left_to_plan: bool


def error(code: Code, detail: str = "", /, **place: Unpack[Place]) -> Diagnostic:
    """An error: its code, and a detail that says what is wrong, why, and what to do."""
    return Diagnostic(code=code.id, summary=code.title, detail=masked(detail), **place)


def warning(code: Code, detail: str = "", /, **place: Unpack[Place]) -> Diagnostic:
    """A warning: its code, and a detail that says what is wrong, why, and what to do."""
    return Diagnostic(
        code=code.id, severity=Severity.WARNING, summary=code.title, detail=masked(detail), **place
    )


@dataclass(slots=True)
class Diagnostics:
    """The complaints of one run, in their order; the same one is kept once. ``later``: those that are left to
    the plan.
    """

    items: list[Diagnostic] = field(default_factory=list)
    later: list[Diagnostic] = field(default_factory=list)
    _seen: set[Diagnostic] = field(default_factory=set)

    def add(self, diagnostic: Diagnostic) -> None:
        if diagnostic not in self._seen:
            self._seen.add(diagnostic)
            (self.later if diagnostic.left_to_plan else self.items).append(diagnostic)

    def take_later(self) -> None:
        """Moves the complaints that were left to the plan to the others: no plan says them."""
        self.items.extend(self.later)
        self.later.clear()

    def extend(self, items: "Iterable[Diagnostic]") -> None:
        for diagnostic in items:
            self.add(diagnostic)

    def error(self, code: Code, detail: str = "", /, **place: Unpack[Place]) -> None:
        self.add(error(code, detail, **place))

    def warning(self, code: Code, detail: str = "", /, **place: Unpack[Place]) -> None:
        self.add(warning(code, detail, **place))

    @property
    def has_errors(self) -> bool:
        return self.has_errors_since(0)

    def has_errors_since(self, before: int) -> bool:
        """Returns True if one of the complaints behind the first ``before`` is an error."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self.items[before:])

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Failure(Exception):
    """The world's trouble, already reported as diagnostics: raised by adapters, caught once where a command
    ends or a node fails. ``sources`` are the texts that the diagnostics point into, by name.
    """

    def __init__(self, *diagnostics: Diagnostic, sources: Mapping[str, Source] | None = None) -> None:
        super().__init__("; ".join(diagnostic.line for diagnostic in diagnostics))
        self.diagnostics = diagnostics
        self.sources: Mapping[str, Source] = sources or {}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` Did you mean "x"?`` for the nearest known name, or an empty text."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""
