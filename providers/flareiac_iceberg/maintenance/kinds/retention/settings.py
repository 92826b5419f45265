"""The settings of retention: durations in ms. Pure."""

from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.maintenance.columns import Need, Surroundings, fitting

TIMES: Final = ("timestamptz", "timestamp_ntz", "date")
"""Types that say how old a row is."""
_NEED: Final = Need(where=("retention", "column"), to="show how old a row is", types=TIMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    column: str
    keep: int
    enabled: bool = True
    every: int | None = None


def canonical(given: Attributes, around: Surroundings, diagnostics: Diagnostics) -> Retention:
    """The settings; reports a column that says nothing of the age of a row."""
    settings = Retention(**{"column": "", "keep": 1, **given})
    if settings.column:
        fitting(settings.column, _NEED, around, diagnostics)
    return settings
