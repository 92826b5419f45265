"""The contract of freshness: when data last came into a table or a topic, and how far readers are behind."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import References
from flareiac.sdk.results import Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshnessRequest:
    """Asks for the freshness of one recorded resource. ``groups``: the names of readers whose lag is asked
    for.
    """

    address: str
    recorded: Recorded
    references: References
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLag:
    """The distance of a reader from the end, in records. ``lag`` None: not known, for the reason ``why``.
    ``lost``: records that were deleted before the reader came to them.
    """

    group: str
    lag: int | None
    lost: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """``newest_ms``: when the newest data came, in ms since 1970, by the clock of its writer. ``is_older``:
    it is known only that the newest data is older than that. ``newest_ms`` None: ``is_empty``, or it is not
    known, for the reason ``why``.
    """

    newest_ms: int | None
    is_older: bool = False
    is_empty: bool = False
    why: str = ""
    lags: Sequence[GroupLag] = ()


@runtime_checkable
class ReportsFreshness(Protocol):
    """A driver whose resources receive data."""

    def freshness(self, request: FreshnessRequest) -> Freshness:
        """Returns when data came last, and how far the groups are behind. Raises ``Failure``."""
        ...
