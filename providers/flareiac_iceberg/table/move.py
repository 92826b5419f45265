"""Renames: a table whose block names another namespace or name than the state, and what rules a rename out.
Pure.
"""

from collections.abc import Iterator
from typing import Final

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Recorded
from flareiac_iceberg import codes
from flareiac_iceberg.table.changes import MoveTable
from flareiac_iceberg.table.observed import ObservedTable

PLACE: Final = ("catalog", "namespace", "name")
_WITHOUT_RENAME: Final = ("glue",)
"""Catalogs without a rename: a table would be registered again and then removed, with two entries for one
table in between.
"""


def import_id(attributes: Attributes) -> str:
    """``CATALOG.NAMESPACE.NAME``: the catalog by its block's label."""
    catalog = attributes["catalog"]
    label = catalog.address.rpartition(".")[2] if isinstance(catalog, Reference) else str(catalog)
    return f"{label}.{attributes['namespace']}.{attributes['name']}"


def is_elsewhere(recorded: Recorded | None, desired: Attributes | None) -> bool:
    """Whether the block says another place than the one that is recorded."""
    return (
        recorded is not None
        and desired is not None
        and any(recorded.attributes[name] != desired[name] for name in PLACE)
    )


def move_of(recorded: Recorded | None, desired: Attributes, observed: ObservedTable) -> MoveTable | None:
    """The rename that is still to do."""
    if (
        recorded is None
        or not is_elsewhere(recorded, desired)
        or recorded.attributes["catalog"] != desired["catalog"]
    ):
        return None
    found = observed.facts.found_at
    old = ".".join(found) if found is not None else full_name(recorded.attributes)
    return None if old == full_name(desired) else MoveTable(old=old, new=full_name(desired))


def full_name(attributes: Attributes) -> str:
    """``NAMESPACE.NAME``."""
    return f"{attributes['namespace']}.{attributes['name']}"


def moved_already(recorded: Recorded | None, desired: Attributes, move: MoveTable | None) -> bool:
    """Whether the table is at its new place and only the state is behind."""
    return move is None and is_elsewhere(recorded, desired)


def move_blockers(
    request: PlanRequest, desired: Attributes, observed: ObservedTable, move: MoveTable | None
) -> Iterator[Blocker]:
    """At most one blocker: another catalog, one without rename, or a name in use."""
    recorded = request.recorded
    if recorded is None or not is_elsewhere(recorded, desired):
        return
    was, now = import_id(recorded.attributes), import_id(desired)
    stay = f"write the name of {was} again"
    if recorded.attributes["catalog"] != desired["catalog"]:
        yield blocker(
            codes.OTHER_CATALOG,
            f"{was} cannot become {now}: another catalog would have to register its files, and both would "
            "change them from then on.",
            (
                stay,
                (
                    f"to have a new, empty table and leave {was} alone: give the block another label; the "
                    "old one is forgotten"
                ),
            ),
        )
    elif move is not None and _kind(request, desired) in _WITHOUT_RENAME:
        yield blocker(
            codes.NO_RENAME,
            f"{was} cannot become {now}: a Glue catalog would have two entries for one table in between.",
            (
                stay,
                (
                    f"to have a new, empty table and leave {was} alone: give the block another label; the "
                    "old one is forgotten"
                ),
            ),
        )
    elif move is not None and observed.facts.taken:
        yield blocker(
            codes.NAME_TAKEN,
            f"{was} cannot become {now}: there is a table or view of that name, and FlareIaC does not "
            "overwrite it.",
            (stay, f"give the block a name that is free, or rename or drop {now} first"),
        )


def _kind(request: PlanRequest, desired: Attributes) -> str:
    catalog = desired["catalog"]
    resolved = request.references.get(catalog.address) if isinstance(catalog, Reference) else None
    return str(resolved.attributes.get("type")) if resolved is not None else ""
