"""The known facts of a table or namespace that does not exist: the existence of its catalog. Pure."""

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.requests import PlanRequest, ReadRequest
from flareiac.sdk.results import Missing, Unreadable
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import NoCatalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Facts of what was looked for and is not there. ``catalog``: whether its catalog is."""

    catalog: bool


def without_catalog(request: ReadRequest, catalog: CatalogSpec, absent: NoCatalog) -> Missing | Unreadable:
    """A catalog that something is recorded in is gone, and nothing is known of what was in it. Another one is
    not made yet.
    """
    if request.recorded is not None or catalog.address in request.in_use:
        return Unreadable(diagnostic=absent.diagnostics[0].at(address=request.address))
    return Missing(reason=f"there is no catalog {catalog.shown} yet", facts=Absence(catalog=False))


def absence(what: str, request: PlanRequest) -> Data:
    """The fingerprint of a table or namespace (``what``) that is not there.

    To create it makes a catalog that is not there, too, so that must not be there later either; but for the
    one that the plan itself made before.
    """
    match request.observed:
        case Missing(facts=Absence(catalog=False)):
            return {what: "absent", "without_catalog": True}
        case Missing(facts=Absence()) if not request.resumed:
            return {what: "absent"}
        case _:  # not looked for, or perhaps made meanwhile by the plan itself
            return {what: "absent", "without_catalog": UNKNOWN}
