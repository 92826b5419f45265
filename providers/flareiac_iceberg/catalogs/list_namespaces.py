"""All namespaces of a catalog. Reads only; imports pyiceberg when needed."""

from flareiac.kernel.diagnostics import Failure, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.reader import tables_in, unreadable
from flareiac_iceberg.catalogs.spec import CatalogSpec, SqliteCatalog
from flareiac_iceberg.catalogs.writer import Connections, trouble_told


def namespaces_in(connections: Connections, spec: CatalogSpec) -> list[str]:
    """Every namespace at any depth, its levels separated by dots. Raises ``Failure``, also where the catalog does not exist yet."""
    if isinstance(spec, SqliteCatalog) and tables_in(spec, "") is None:  # opening it would make it
        raise Failure(error(codes.NO_CATALOG_YET, f"There is nothing at {spec.shown} to import from, where {spec.address} would be."))
    try:
        return sorted(_listed(connections, spec))
    except Failure as failure:
        why = failure.diagnostics[0].detail.removeprefix(f"{spec.address}: ").partition(" (catalog ")[0]  # what follows is about writing
        raise Failure(unreadable(spec, why)) from failure


def _listed(connections: Connections, spec: CatalogSpec) -> set[str]:
    catalog = connections.get(spec)
    from pyiceberg.exceptions import NoSuchNamespaceError

    found: set[str] = set()
    waiting: list[tuple[str, ...]] = [()]
    with trouble_told(spec):
        while waiting:
            try:
                children = catalog.list_namespaces(waiting.pop())
            except NoSuchNamespaceError:  # dropped meanwhile
                continue
            new = [tuple(item) for item in children if ".".join(item) not in found]
            found.update(".".join(item) for item in new)
            waiting += new
    return found
