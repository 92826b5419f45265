"""The settings of orphan removal: durations in ms. Pure."""

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.maintenance.columns import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanRemoval:
    enabled: bool = True
    every: int = 7 * 86_400_000
    older_than: int = 3 * 86_400_000
    dry_run: bool = False
    prefix_mismatch: str = "error"


def canonical(given: Attributes, _around: Surroundings, _diagnostics: Diagnostics) -> OrphanRemoval:
    """The settings; the block says all of what is wrong with them."""
    return OrphanRemoval(**given)
