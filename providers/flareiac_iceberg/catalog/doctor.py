"""Whether a catalog and its warehouse can be used. Reads only."""

import os
from pathlib import Path

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.provider import Check, Verdict
from flareiac.sdk.references import Resolved
from flareiac_iceberg.catalog.pointers import tables_in
from flareiac_iceberg.catalog.spec import local_path, spec_of


def check_catalog(catalog: Resolved) -> Check:
    """One verdict for one declared catalog."""
    spec = spec_of(catalog.address, catalog.attributes)
    try:
        there = tables_in(spec, "") is not None
    except Failure as failure:
        found = failure.diagnostics[0]
        return Check(name=catalog.address, verdict=Verdict.FAIL, text=found.summary, fix=found.detail)
    for folder in (spec.database.parent, local_path(spec.warehouse)):
        if folder is not None and (closed := _closed(folder)) is not None:
            fix = "Give write access to it, or name another place in the catalog."
            return Check(name=catalog.address, verdict=Verdict.FAIL, text=f"{closed} can not be written", fix=fix)
    text = "can be read" if there else "not made yet; the first apply makes it"
    return Check(name=catalog.address, verdict=Verdict.OK, text=f"{spec.database}: {text}")


def _closed(folder: Path) -> Path | None:
    """The nearest thing that exists on the way to a folder, if nothing can be made in it."""
    existing = next(item for item in (folder, *folder.parents) if item.exists())
    return None if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK) else existing
