"""All namespaces of a catalog. Reads only; imports pyiceberg when needed."""

from flareiac.kernel.diagnostics import Failure, error
from flareiac_iceberg.catalog.connection import Connections, trouble_told
from flareiac_iceberg.catalog.pointers import tables_in
from flareiac_iceberg.catalog.spec import CatalogSpec


def namespaces_in(connections: Connections, spec: CatalogSpec) -> list[str]:
    """Every namespace at any depth, its levels separated by dots. Raises ``Failure``, also where the catalog does not exist yet."""
    if tables_in(spec, "") is None:  # opening it would make it
        raise Failure(error("FII182", f"{spec.address} does not exist yet", f"There is nothing at {spec.database} to import from."))
    catalog = connections.get(spec)
    found: dict[str, None] = {}
    with trouble_told(spec):
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            for namespace in catalog.list_namespaces(waiting.pop()):
                if ".".join(namespace) not in found:
                    found[".".join(namespace)] = None
                    waiting.append(tuple(namespace))
    return sorted(found)
