"""Whether a catalog and its warehouse can be used. Reads only."""

import os
from pathlib import Path

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.references import Resolved
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.file_access import bucket_trouble
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.reader import namespace_properties
from flareiac_iceberg.format.locations import local_path

_NOBODYS = "flareiac_doctor"
"""A namespace that is asked for: any sound answer will do."""


def check_catalog(catalog: Resolved) -> Check:
    """One verdict for one declared catalog."""
    spec = spec_of(catalog.address, catalog.attributes)
    try:
        namespace_properties(spec, _NOBODYS)
        text = f"{spec.shown}: can be read"
    except NoCatalog:
        text = f"{spec.shown}: not made yet; the first apply makes it"
    except Failure as failure:
        found = failure.diagnostics[0]
        return Check(name=catalog.address, verdict=Verdict.FAIL, text=found.summary, fix=found.detail)
    return (
        _closed_folder(spec)
        or _closed_bucket(spec)
        or Check(name=catalog.address, verdict=Verdict.OK, text=text)
    )


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
        why = bucket_trouble(spec.warehouse, spec.settings())
    except Failure as failure:
        why = failure.diagnostics[0].line
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
    existing = next(item for item in (folder, *folder.parents) if item.exists())
    return None if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK) else existing
