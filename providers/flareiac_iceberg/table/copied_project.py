"""Detects a table of this project's catalog whose files are in another copy of the project. Pure.

A local catalog names files by absolute paths. When a project folder is copied or moved, its catalog comes
along and still names the files in the folder that it was copied from: what is written, maintained or purged
here would be done to that project's tables.
"""

from pathlib import PurePosixPath

from flareiac.kernel.data import Reference
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.requests import PlanRequest
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.format.locations import absolute_location, plain_text
from flareiac_iceberg.table.observed import ObservedTable


def in_another_copy(request: PlanRequest, catalog: Reference, observed: ObservedTable) -> tuple[Blocker, ...]:
    """A blocker where the table lies in a warehouse like this project's, below another root."""
    warehouse = _warehouse(request, catalog)
    location = plain_text(observed.identity.location or "")
    root = str(request.project.root)
    if (
        warehouse is None
        or not warehouse.startswith(f"{root}/")
        or f"{location}/".startswith(f"{warehouse}/")
    ):
        return ()
    inside = PurePosixPath(warehouse).relative_to(root)
    copy, found, _rest = f"{location}/".partition(f"/{inside}/")
    if not found:
        return ()
    return (
        blocker(
            codes.IN_ANOTHER_COPY,
            f"The files are in {copy or '/'}: the catalog names {location}, outside of this project's own "
            f"warehouse ({inside}). The project was copied or moved, and its catalog came along. Whatever "
            "is done to the table here is done to the files there.",
            (
                f"run flareiac in {copy or '/'}",
                (
                    "to start a copy with tables of its own: remove its catalog, its state and its "
                    "checkpoints (.flareiac), then plan again"
                ),
                (
                    f'to use these tables from here on: warehouse = "{copy}/{inside}" in the catalog block, '
                    "if no other project runs on them"
                ),
            ),
        ),
    )


def _warehouse(request: PlanRequest, reference: Reference) -> str | None:
    """The absolute local warehouse of the table's catalog; None for one that is elsewhere or not known."""
    catalog = request.references.get(reference.address)
    declared = spec_of(catalog.address, catalog.attributes).warehouse if catalog is not None else ""
    text = plain_text(absolute_location(declared, request.project.root) or "") if declared else ""
    return text.rstrip("/") if text.startswith("/") else None
