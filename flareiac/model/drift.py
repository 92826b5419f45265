"""Differences from what the last apply recorded: the report of ``drift``."""

from enum import StrEnum

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import AttributeChange


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
class DriftEntry:
    """One finding about one resource. ``texts`` say it in words; ``changes`` hold the values of what
    changed.
    """

    address: str
    kind: DriftClass
    texts: tuple[str, ...] = ()
    changes: tuple[AttributeChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """Everything found, by address. ``checked`` counts the resources that were looked at, ``unchecked`` those
    that could not be.
    """

    entries: tuple[DriftEntry, ...] = ()
    checked: int = 0
    unchecked: int = 0

    @property
    def drifted(self) -> bool:
        """Returns True if something that was declared is not as recorded; what is not declared is reported
        and is no drift.
        """
        return any(entry.kind is not DriftClass.UNMANAGED for entry in self.entries)
