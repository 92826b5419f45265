"""All namespaces of a catalog. Reads only."""

from flareiac.kernel.diagnostics import Failure, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import NoCatalog, unreadable


def namespaces_in(connections: Connections, spec: CatalogSpec) -> list[str]:
    """Every namespace at any depth, its levels separated by dots. Raises ``Failure``, also where the catalog
    does not exist yet.
    """
    try:
        return sorted(connections.get(spec).namespaces())
    except NoCatalog as absent:
        why = f"There is nothing at {spec.shown} to import from, where {spec.address} would be."
        raise Failure(error(codes.NO_CATALOG_YET, why)) from absent
    except Failure as failure:
        # What follows is about writing
        why = failure.diagnostics[0].detail.removeprefix(f"{spec.address}: ").partition(" (catalog ")[0]
        raise Failure(unreadable(spec, why)) from failure
