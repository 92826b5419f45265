"""Looks for other tables with files in the place of a table, in all declared catalogs. Touches the world by
reading only.
"""

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.locations import is_within
from flareiac.sdk.maintenance import MeasureRequest
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.locations import comparable
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_iceberg.maintenance.kinds.orphan_removal.unrecoverable import unrecoverable
from flareiac_iceberg.maintenance.same_table import entry_of, in_all_catalogs


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """``under``: other tables that catalogs know with files below the location or around it; ``unlisted``:
    why they do not tell. ``lost``: those of the dropped with files below the location whose metadata is gone,
    so that nothing brings them back.
    """

    under: tuple[str, ...] | None = None
    unlisted: str | None = None
    lost: tuple[str, ...] = ()


def look(request: MeasureRequest, figures: Figures, target: Target, listings: Listings) -> Beside:
    """The other tables whose files lie in the same place, by the catalogs and by dropped tables."""
    lost = _lost(request, figures, target.catalog)
    try:
        return Beside(under=tuple(_under(request, figures, target, listings)), lost=lost)
    except Failure as failure:
        return Beside(unlisted=failure.diagnostics[0].detail, lost=lost)


def _under(request: MeasureRequest, figures: Figures, target: Target, listings: Listings) -> list[str]:
    """Tables of its own catalog and of every other declared one. Raises ``Failure``."""
    entry = entry_of(target, figures.metadata_location)
    return in_all_catalogs(
        target.catalog,
        request.declared,
        request.in_use,
        lambda catalog, own: listings.sharing(figures.location, catalog, entry if own else None),
    )


def _lost(request: MeasureRequest, figures: Figures, catalog: CatalogSpec) -> tuple[str, ...]:
    """Only what has its metadata in this table's place is looked at: it is in reach of this catalog's
    keys.
    """
    own = comparable(figures.location)
    inside = {
        name: identity
        for name, recorded in request.dropped.items()
        if is_within(comparable((identity := identity_of(recorded)).metadata_location), own)
    }
    return tuple(unrecoverable(inside, figures.metadata_location, catalog))
