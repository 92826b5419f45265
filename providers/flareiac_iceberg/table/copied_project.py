"""Detects a table of this project's catalog whose files are in another copy of the project. Pure.

A local catalog names files by absolute paths. When a project folder is copied or moved, its catalog comes
along and still names the files in the folder that it was copied from: what is written, maintained or purged
here would be done to that project's tables.
"""

from functools import lru_cache
from pathlib import Path, PurePosixPath

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.requests import PlanRequest
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.format.locations import absolute_location, plain_text
from flareiac_iceberg.table.observed import ObservedTable


def in_another_copy(request: PlanRequest, catalog: Reference, observed: ObservedTable) -> tuple[Blocker, ...]:
    """A blocker where the table lies in a warehouse like this project's, below another root."""
    resolved, location = request.references.get(catalog.address), observed.identity.location
    attributes = resolved.attributes if resolved is not None else None
    other = other_copy(location, catalog.address, attributes, request.project.root)
    if other is None:
        return ()
    copy, inside = other
    location = plain_text(location or "")
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


def other_copy(
    location: str | None, address: str, catalog: Attributes | None, root: Path
) -> tuple[str, str] | None:
    """The root of the other copy of the project in which a table lies, and the warehouse below it; None where
    it lies in none. ``catalog``: the attributes of its catalog, None where that is not known.
    """
    declared = spec_of(address, catalog).warehouse if catalog is not None else ""
    inside = _inside(declared, root) if declared else None
    lies = plain_text(location or "")
    if inside is None or f"{lies}/".startswith(f"{root}/{inside}/"):
        return None
    copy, separator, _rest = f"{lies}/".partition(f"/{inside}/")
    return (copy, inside) if separator else None


@lru_cache(maxsize=16)
def _inside(warehouse: str, root: Path) -> str | None:
    """A local warehouse below the root module, relative to it; None for one that is elsewhere."""
    place = plain_text(absolute_location(warehouse, root) or "").rstrip("/")
    return str(PurePosixPath(place).relative_to(root)) if place.startswith(f"{root}/") else None
