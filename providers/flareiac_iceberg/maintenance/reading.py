"""Gets what measuring needs from a catalog and its files. Touches the world, by reading only."""

from collections.abc import Mapping
from pathlib import Path

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.maintenance import MeasureRequest
from flareiac_iceberg.catalog.files import read_file
from flareiac_iceberg.catalog.pointers import tables_in
from flareiac_iceberg.catalog.spec import CatalogSpec, RestCatalog
from flareiac_iceberg.maintenance.manifests import unreadable
from flareiac_iceberg.maintenance.measure import Read, Table, measure
from flareiac_iceberg.maintenance.settings import settings_of
from flareiac_iceberg.table.metadata import load, load_entry
from flareiac_iceberg.table.read import Target, target_of


def figures(request: MeasureRequest, root: Path) -> Attributes:
    """The figures of a table (see ``figures``). ``root`` is that of relative places. Raises ``Failure``."""
    target = target_of(request.attributes, request.references)
    location, metadata = _metadata(target, request.identity)
    others = _others(target) if "orphan_removal" in settings_of(request.attributes) else {}
    table = Table(metadata=metadata, metadata_location=location, attributes=request.attributes, others=others, known=request.known)
    return measure(table, reader_of(target.catalog)) | {"root": str(root)}


def _metadata(target: Target, identity: Attributes) -> tuple[str, Attributes]:
    """The file that was observed a moment ago; the catalog is asked only where that is gone, or is not ours to read."""
    observed = identity["metadata_location"]
    if not isinstance(target.catalog, RestCatalog):
        try:
            return observed, load(observed, target.catalog)
        except Failure:
            pointer = (tables_in(target.catalog, target.namespace) or {}).get(target.name)
            if pointer is None or pointer.location == observed:
                raise
            return load_entry(pointer, target.catalog)
    pointer = (tables_in(target.catalog, target.namespace) or {}).get(target.name)
    return load_entry(pointer, target.catalog) if pointer is not None else (observed, load(observed, target.catalog))


def _others(target: Target) -> Mapping[str, str]:
    """Where the other tables of the namespace have their metadata; a REST catalog tells that only one by one, so it is not asked."""
    if isinstance(target.catalog, RestCatalog):
        return {}
    entries = tables_in(target.catalog, target.namespace) or {}
    return {name: pointer.location for name, pointer in entries.items() if name != target.name and pointer.location}


def reader_of(catalog: CatalogSpec) -> Read:
    """Reads the files that a table's metadata names; trouble is a ``Failure``."""

    def read(location: str) -> bytes:
        try:
            return read_file(location, catalog)
        except OSError as trouble:
            raise Failure(unreadable(location, trouble.strerror or str(trouble))) from trouble

    return read
