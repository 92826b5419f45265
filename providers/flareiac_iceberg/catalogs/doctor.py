"""The check that a catalog and its warehouse can be used. Reads only."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.references import Resolved
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import NoCatalog, Registered
from flareiac_iceberg.catalogs.file_access import bucket_error, is_there
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.reader import everything_in, namespace_properties
from flareiac_iceberg.format.locations import local_path

_NOBODYS = "flareiac_doctor"
"""A namespace that is asked for: any sound answer will do."""
_REMOTE = 50
"""The number of files on object storage that one check asks for, one request each."""


def check_catalog(catalog: Resolved) -> Check:
    """One verdict for one declared catalog."""
    spec = spec_of(catalog.address, catalog.attributes)
    try:
        namespace_properties(spec, _NOBODYS)
        text = f"{spec.shown}: can be read"
    except NoCatalog:
        text = f"{spec.shown}: not made yet; the first apply makes it"
    except Failure as failure:
        diagnostic = failure.diagnostics[0]
        return Check(
            name=catalog.address, verdict=Verdict.FAIL, text=diagnostic.summary, fix=diagnostic.detail
        )
    return (
        _closed_folder(spec)
        or _closed_bucket(spec)
        or _lost_metadata(spec)
        or Check(name=catalog.address, verdict=Verdict.OK, text=text)
    )


def _lost_metadata(spec: CatalogSpec) -> Check | None:
    """Tables whose metadata file does not exist, as after a warehouse was deleted or is not mounted. A server
    answers for its own files.
    """
    try:
        registered = {} if spec.is_server else everything_in(spec)
        lost = [name for name, entry in _asked_for(registered) if not is_there(entry.metadata, spec)]
    except (Failure, OSError):
        return None  # plans report it, with the place
    if not lost:
        return None
    named = ", ".join(".".join(name[1:]) for name in lost[:3]) + (", ..." if len(lost) > 3 else "")
    return Check(
        name=spec.address,
        verdict=Verdict.FAIL,
        text=f"the metadata file of {len(lost)} of {len(registered)} tables does not exist: {named}",
        fix="Mount or restore the folder of the warehouse, then run flareiac plan.",
    )


def _asked_for(
    registered: Mapping[tuple[str, ...], Registered],
) -> Iterator[tuple[tuple[str, ...], Registered]]:
    """The tables in local folders, which cost nothing to look for, and some of those elsewhere."""
    remote = 0
    for name, entry in registered.items():
        remote += entry.metadata.startswith("s3")
        if local_path(entry.metadata) is not None or (entry.metadata.startswith("s3") and remote <= _REMOTE):
            yield name, entry


def _closed_folder(spec: CatalogSpec) -> Check | None:
    warehouse = None if spec.is_server else local_path(spec.warehouse)
    for folder in (spec.folder, warehouse):
        if folder is not None and (closed := _closed(folder)) is not None:
            fix = "Give write access to it, or name another place in the catalog."
            return Check(name=spec.address, verdict=Verdict.FAIL, text=f"{closed} cannot be written", fix=fix)
    return None


def _closed_bucket(spec: CatalogSpec) -> Check | None:
    if spec.is_server or not spec.warehouse.startswith("s3://"):
        return None
    try:
        why = bucket_error(spec.warehouse, spec.settings())
    except Failure as failure:
        reason = failure.diagnostics[0]
        return Check(name=spec.address, verdict=Verdict.FAIL, text=reason.summary, fix=reason.detail)
    if why is None:
        return None
    fix = (
        "Check the bucket's name, s3.endpoint, s3.region and the keys in properties (or those of AWS's "
        "own chain)."
    )
    return Check(
        name=spec.address,
        verdict=Verdict.FAIL,
        text=f"the warehouse {spec.warehouse} cannot be reached: {why}",
        fix=fix,
    )


def _closed(folder: Path) -> Path | None:
    """The nearest thing that exists on the way to a folder, if nothing can be made in it."""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    return None if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK) else existing
