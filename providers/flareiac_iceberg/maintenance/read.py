"""Gets what measuring needs from a catalog and its files. Touches the world, by reading only."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.locations import is_within
from flareiac.sdk.maintenance import MeasureRequest
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.file_access import read_file
from flareiac_iceberg.catalogs.metadata_files import load, load_entry
from flareiac_iceberg.catalogs.reader import tables_in
from flareiac_iceberg.catalogs.spec import CatalogSpec, spec_of
from flareiac_iceberg.catalogs.target import Target, target_of
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.locations import comparable
from flareiac_iceberg.format.manifests import unreadable
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.figures import Figures, known_figures
from flareiac_iceberg.maintenance.foreign_readers import positions
from flareiac_iceberg.maintenance.measure import Read, Table, is_fresh, measure
from flareiac_iceberg.maintenance.settings import settings_of
from flareiac_iceberg.maintenance.task_builder import ran_lately
from flareiac_iceberg.maintenance.unrecoverable import unrecoverable


def figures(
    request: MeasureRequest, listings: Listings, resolve: Callable[[str], str], root: Path
) -> Figures:
    """The figures of a table. Raises ``Failure``."""
    target = target_of(request.attributes, request.references)
    measured = _known(request) or _measured(request, target)
    found = replace(
        measured,
        place=resolve(comparable(measured.location)),
        readers=positions(request.attributes, target.catalog, root),
        under=None,
        unlisted=None,
        lost=(),
        looked=False,
    )
    settings = settings_of(request.attributes).get("orphan_removal")
    if settings is None or ran_lately("orphan_removal", settings, request.runs, int(time.time() * 1000)):
        return found
    beside = _beside(request, found, target, listings)
    return replace(beside, lost=_lost(request, found, target.catalog), looked=True)


def _known(request: MeasureRequest) -> Figures | None:
    """The figures of the last time, where nothing of what they are about has changed: then no file is looked
    at.
    """
    known, wanted, now = (
        known_figures(request.known),
        settings_of(request.attributes),
        identity_of(request.identity),
    )
    if known is None or not is_fresh(known, request.attributes):
        return None
    same = (known.uuid, known.metadata_location) == (now.uuid, now.metadata_location)
    return known if same and ("snapshot_expiry" not in wanted or known.history is not None) else None


def _measured(request: MeasureRequest, target: Target) -> Figures:
    location, metadata = _metadata(target, identity_of(request.identity).metadata_location)
    table = Table(metadata=metadata, metadata_location=location, attributes=request.attributes)
    return measure(table, reader_of(target.catalog))


def _beside(request: MeasureRequest, found: Figures, target: Target, listings: Listings) -> Figures:
    """Tables of its own catalog and of every other declared one; two blocks may mean one catalog."""
    own = (target.catalog.name, target.namespace, target.name), found.metadata_location
    declared = {
        spec_of(item.address, item.attributes): item.in_use
        for item in request.declared.values()
        if item.type == "catalog"
    }
    others = {catalog.place: catalog for catalog in declared if catalog.place != target.catalog.place}
    in_use = {catalog.place for catalog, used in declared.items() if used}
    try:
        under = listings.sharing(found.location, target.catalog, own)
        for catalog in others.values():
            try:
                names = listings.sharing(found.location, catalog, None)
            except NoCatalog:
                if catalog.place in in_use:
                    raise
                continue  # not made yet
            under += [f"{name} of {catalog.address}" for name in names]
    except Failure as failure:
        return replace(found, unlisted=failure.diagnostics[0].detail)
    return replace(found, under=tuple(under))


def _lost(request: MeasureRequest, found: Figures, catalog: CatalogSpec) -> tuple[str, ...]:
    """Only what has its metadata in this table's place is looked at: it is in reach of this catalog's
    keys.
    """
    own = comparable(found.location)
    inside = {
        name: identity
        for name, item in request.dropped.items()
        if is_within(comparable((identity := identity_of(item)).metadata_location), own)
    }
    return tuple(unrecoverable(inside, found.metadata_location, catalog))


def _metadata(target: Target, observed: str) -> tuple[str, Attributes]:
    """The file that was observed a moment ago; the catalog is asked only where that is gone, or is not ours
    to read.
    """
    if not target.catalog.is_server:
        try:
            return observed, load(observed, target.catalog)
        except Failure:
            pointer = tables_in(target.catalog, target.namespace).get(target.name)
            if pointer is None or pointer.location == observed:
                raise
            return load_entry(pointer, target.catalog)
    pointer = tables_in(target.catalog, target.namespace).get(target.name)
    return (
        load_entry(pointer, target.catalog)
        if pointer is not None
        else (observed, load(observed, target.catalog))
    )


def reader_of(catalog: CatalogSpec) -> Read:
    """Reads the files that a table's metadata names; trouble is a ``Failure``."""

    def read(location: str) -> bytes:
        try:
            return read_file(location, catalog)
        except OSError as trouble:
            raise Failure(unreadable(location, trouble.strerror or str(trouble))) from trouble

    return read
