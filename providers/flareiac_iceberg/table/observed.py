"""A table as its planner reads it: observed, with its identity and the facts of the moment. Pure."""

from dataclasses import dataclass

from flareiac.kernel.data import Attributes
from flareiac.sdk.results import Present, Recorded
from flareiac_iceberg.format.identity import TableIdentity, identity_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """``gone``: snapshots that tags need and the table does not have. ``found_at``: namespace and name under
    which it was found, where that is not the recorded place. ``taken``: whether another table has the name
    that it is to get.
    """

    gone: frozenset[int] = frozenset()
    found_at: tuple[str, str] | None = None
    taken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTable:
    """A table that is there."""

    attributes: Attributes
    identity: TableIdentity
    facts: TableFacts


def observed_table(there: Present) -> ObservedTable:
    """A table that is there, as it was read."""
    facts = there.facts if isinstance(there.facts, TableFacts) else TableFacts()
    return ObservedTable(attributes=there.attributes, identity=identity_of(there.identity), facts=facts)


def is_another(recorded: Recorded, observed: ObservedTable) -> bool:
    """Whether another table than the recorded one has its name."""
    return identity_of(recorded.identity).uuid != observed.identity.uuid
