"""Renames: a table whose block names another namespace or name than the state, and what rules a rename out.
Pure.
"""

from collections.abc import Iterator

from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.references import References
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.format.spec import TableDefinition
from flareiac_iceberg.table.changes import MoveTable
from flareiac_iceberg.table.observed import ObservedTable, RecordedTable


def is_elsewhere(recorded: RecordedTable | None, desired: TableDefinition) -> bool:
    """Returns True if the block names another place than the recorded one."""
    return recorded is not None and recorded.definition.place != desired.place


def move_of(
    recorded: RecordedTable | None, desired: TableDefinition, observed: ObservedTable
) -> MoveTable | None:
    """The rename that is still to do."""
    if recorded is None or recorded.definition.catalog != desired.catalog:
        return None
    earlier_name = observed.facts.found_at
    old = ".".join(earlier_name) if earlier_name is not None else recorded.definition.full_name
    return None if old == desired.full_name else MoveTable(old=old, new=desired.full_name)


def move_blockers(
    recorded: RecordedTable | None,
    desired: TableDefinition,
    observed: ObservedTable,
    references: References,
) -> Iterator[Blocker]:
    """At most one blocker: another catalog, one without rename, or a name in use."""
    if recorded is None or not is_elsewhere(recorded, desired):
        return
    was, now = recorded.definition.import_id, desired.import_id
    stay = f"write the name of {was} again"
    to_do = move_of(recorded, desired, observed) is not None
    if recorded.definition.catalog != desired.catalog:
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
    elif to_do and _without_rename(desired, references):
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
    elif to_do and observed.facts.taken:
        yield blocker(
            codes.NAME_TAKEN,
            f"{was} cannot become {now}: there is a table or view of that name, and FlareIaC does not "
            "overwrite it.",
            (stay, f"give the block a name that is free, or rename or drop {now} first"),
        )


def _without_rename(desired: TableDefinition, references: References) -> bool:
    catalog = references.get(desired.catalog.address)
    return catalog is not None and not spec_of(catalog.address, catalog.attributes).can_rename
