"""Tables about which the planner has nothing to say: declared, recorded and found alike. Pure."""

from flareiac.sdk.changes import Relation
from flareiac.sdk.requests import Unchanged
from flareiac_iceberg.format.spec import TableOutline
from flareiac_iceberg.maintenance.schema import NAMES
from flareiac_iceberg.table.copied_project import other_copy
from flareiac_iceberg.table.observed import TableFacts

_DECIDED_EACH_TIME = ("renamed", "branch", "tag", *NAMES)
"""The attributes that depend on more than the declaration: snapshots that expire, thresholds, who else uses
the table.
"""


def is_settled(unchanged: Unchanged) -> bool:
    """Returns True if the planner certainly proposes nothing (see ``ResourceType``). A table that a job
    writes is compared with its recorded writers, and one in another copy of the project is blocked, so that
    both are planned.
    """
    attributes, facts = unchanged.recorded.attributes, unchanged.observed.facts
    if not isinstance(facts, TableFacts) or not facts.as_recorded:
        return False
    if any(attributes.get(name) for name in _DECIDED_EACH_TIME):
        return False
    if any(usage.relation is Relation.WRITES for usage in unchanged.usages):
        return False
    catalog = TableOutline.of(attributes).catalog.address
    known = unchanged.connections.get(catalog)
    return known is not None and other_copy(facts.location, catalog, known, unchanged.project.root) is None
