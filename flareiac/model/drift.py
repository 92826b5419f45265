"""Differences from what the last apply recorded: the report of ``drift``."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from flareiac.kernel.data import ABSENT, Data, canonical, digest
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path, render_path
from flareiac.kernel.sources import Span
from flareiac.sdk.results import NOT_TRACED, Trace

_PASSING: Final = re.compile(r"(?<![\w\"#])\d[\d.,:TZ+-]*(?![\w\"])")
"""A number or a time that stands alone in a sentence: it may be another one in each run."""
_LENGTH: Final = 16


class DriftClass(StrEnum):
    """In what way a resource drifted."""

    CHANGED = "changed"
    """A declared attribute has another value."""
    MISSING = "missing"
    """The object is gone."""
    UNMANAGED = "unmanaged"
    """It holds something that is not declared; plan leaves that alone."""
    UNHEALTHY = "unhealthy"
    """It is there as declared and does not do its work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftFinding:
    """One difference of one resource. ``text`` says it in words. ``path`` is the attribute that differs; it
    is empty where the finding is about the whole resource, and ``old`` (recorded) and ``live`` are ABSENT.

    ``fingerprint`` is the same in each run, on each host, as long as the same thing is found: see
    ``fingerprint_of``.
    """

    address: str
    kind: DriftClass
    text: str
    fingerprint: str
    path: Path = ()
    old: Data = ABSENT
    live: Data = ABSENT
    sensitive: bool = False
    trace: Trace = NOT_TRACED
    declaring: Data = ABSENT
    """The value that would declare what no one declares, where it is known."""

    @property
    def attribute(self) -> str:
        """The attribute as a person writes it, empty for the whole resource."""
        return render_path(self.path)


def fingerprint_of(
    lineage: str, address: str, kind: DriftClass, path: Path, values: Sequence[Data], text: str
) -> str:
    """Returns 16 hexadecimal digits that tell one finding of a state from all others.

    ``values``: the recorded and the live value, which make another finding when they change. Without them the
    ``text`` counts, but for its numbers and times: a lag that grows stays one finding.
    """
    told = [canonical(value) for value in values] if values else [_PASSING.sub("#", text)]
    return digest([lineage, address, kind.value, list(path), told])[:_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftIgnore:
    """A ``drift_ignore`` block. ``address``: an address or a glob; ``attribute``: the same of an attribute,
    empty for everything about the resource.

    ``expires``: when it ends, in UTC seconds since 1970, None for never; ``until``: that as it is written.
    """

    address: str
    attribute: str
    reason: str
    expires: float | None = None
    until: str = ""
    span: Span | None = None

    def has_expired(self, now: float) -> bool:
        """Returns True if the rule counts no more at ``now``, in UTC seconds since 1970."""
        return self.expires is not None and now >= self.expires

    def __str__(self) -> str:
        return f"{self.address}, attribute {self.attribute}" if self.attribute else self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredFinding:
    """A finding, and the rule that names it."""

    finding: DriftFinding
    rule: DriftIgnore


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """All findings, by address. ``addresses`` are the resources that were looked at, ``unchecked`` counts
    those that could not be.
    """

    findings: tuple[DriftFinding, ...] = ()
    ignored: tuple[IgnoredFinding, ...] = ()
    addresses: tuple[str, ...] = ()
    unchecked: int = 0

    @property
    def checked(self) -> int:
        """The number of resources that were looked at."""
        return len(self.addresses)

    @property
    def drifted(self) -> bool:
        """Returns True if something that was declared is not as recorded; what is not declared is reported
        and is no drift.
        """
        return any(finding.kind is not DriftClass.UNMANAGED for finding in self.findings)

    def resources(self, kind: DriftClass) -> int:
        """Returns the number of resources with findings of a class."""
        return len({finding.address for finding in self.findings if finding.kind is kind})
