"""A table as its planner reads it: observed, with its identity and the facts of the moment. Pure."""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.results import Present, Recorded
from flareiac_iceberg.format.identity import TableIdentity, identity_of
from flareiac_iceberg.format.metadata import Manager
from flareiac_iceberg.format.spec import TableDefinition
from flareiac_iceberg.table.purge_check import Doomed


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """``as_recorded``: its metadata file is the recorded one and it is declared as it is recorded, so that
    nothing of it was read; ``location`` is then where it is recorded to be. ``gone``: snapshots that tags
    need and the table does not have. ``manager``: None where it was not read. ``found_at``: namespace and
    name under which it was found, where that is not the recorded place. ``taken``: whether another table has
    the name that it is to get. ``doomed``: of one that is to be purged, what that would delete.
    """

    as_recorded: bool = False
    location: str | None = None
    gone: frozenset[int] = frozenset()
    manager: Manager | None = None
    found_at: tuple[str, str] | None = None
    taken: bool = False
    doomed: Doomed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTable:
    """A table as the state has it."""

    definition: TableDefinition
    identity: TableIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTable(RecordedTable):
    """A table that is there. ``definition``: what only FlareIaC knows of is in it as recorded, or else
    declared.
    """

    facts: TableFacts


def recorded_table(recorded: Recorded) -> RecordedTable:
    """A table that is recorded."""
    return RecordedTable(
        definition=TableDefinition.of(recorded.attributes), identity=identity_of(recorded.identity)
    )


def observed_table(there: Present) -> ObservedTable:
    """A table that is there, as it was read."""
    return ObservedTable(
        definition=TableDefinition.of(there.attributes),
        identity=identity_of(there.identity),
        facts=there.facts if isinstance(there.facts, TableFacts) else TableFacts(),
    )


def is_another(recorded: RecordedTable, observed: ObservedTable) -> bool:
    """Returns True if another table than the recorded one has its name."""
    return recorded.identity.uuid != observed.identity.uuid
