"""Gets what measuring needs from a catalog and its files. Touches the world, by reading only."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.maintenance import MeasureRequest
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import read_file
from flareiac_iceberg.catalogs.metadata_files import load, load_entry
from flareiac_iceberg.catalogs.reader import table_in
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.locations import comparable
from flareiac_iceberg.format.manifests import unreadable
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.contents import Read, Table
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_iceberg.maintenance.foreign_readers import positions
from flareiac_iceberg.maintenance.measure import is_fresh, known_figures, measure
from flareiac_iceberg.maintenance.registry import declared
from flareiac_iceberg.maintenance.same_table import other_entries
from flareiac_iceberg.maintenance.task_builder import ran_lately


def figures(
    request: MeasureRequest, listings: Listings, resolve: Callable[[str], str], root: Path
) -> Figures:
    """The figures of a table. Raises ``Failure``."""
    target = target_of(request.attributes, request.references)
    measured = _known(request) or _measured(request, target)
    table_figures = replace(
        measured,
        place=resolve(comparable(measured.location)),
        readers=positions(request.attributes, target.catalog, root),
    )
    now = int(time.time() * 1000)
    beside = {
        kind.name: encode(kind.look(request, table_figures, target, listings))
        if not ran_lately(kind.name, settings, request.runs.get(kind.name), now)
        else None
        for kind, settings in declared(request.attributes)
        if kind.look is not None
    }
    return _with_entries(
        replace(table_figures, kinds={**table_figures.kinds, **beside}), request, target, listings
    )


def _with_entries(
    table_figures: Figures, request: MeasureRequest, target: Target, listings: Listings
) -> Figures:
    if not any(kind.deletes_shared for kind, _settings in declared(request.attributes)):
        return table_figures
    try:
        entries = other_entries(
            target,
            table_figures.uuid,
            table_figures.metadata_location,
            request.declared,
            request.in_use,
            listings,
        )
    except Failure as failure:
        return replace(table_figures, entries=(), entries_unknown=failure.diagnostics[0].detail)
    return replace(table_figures, entries=tuple(entries), entries_unknown="")


def _known(request: MeasureRequest) -> Figures | None:
    """The figures of the last time, where nothing of what they are about has changed: then no file is looked
    at.
    """
    known, now = known_figures(request.known), identity_of(request.identity)
    if known is None or not is_fresh(known, request.attributes):
        return None
    same = (known.uuid, known.metadata_location) == (now.uuid, now.metadata_location)
    return known if same else None


def _measured(request: MeasureRequest, target: Target) -> Figures:
    location, metadata = _metadata(target, identity_of(request.identity).metadata_location)
    table = Table(metadata=metadata, metadata_location=location, attributes=request.attributes)
    return measure(table, reader_of(target.catalog))


def _metadata(target: Target, observed: str) -> tuple[str, Attributes]:
    """The file that was observed a moment ago; the catalog is asked only where that is gone, or is not ours
    to read.
    """
    if not target.catalog.is_server:
        try:
            return observed, load(observed, target.catalog)
        except Failure:
            pointer = table_in(target.catalog, target.namespace, target.name)
            if pointer is None or pointer.location == observed:
                raise
            return load_entry(pointer, target.catalog)
    pointer = table_in(target.catalog, target.namespace, target.name)
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
        except OSError as error:
            raise Failure(unreadable(location, error.strerror or str(error))) from error

    return read
