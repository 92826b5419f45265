"""Checks that the world is still what a plan relied on: compares fingerprints, not everything. Pure; the
fresh observations are arguments.
"""

from collections.abc import Callable, Mapping

from flareiac.kernel.data import UNKNOWN, Attributes, Data, canonical
from flareiac.kernel.document_differences import document_differences
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleItem:
    """One thing that is no longer what the plan relied on."""

    address: str
    what: str
    planned: str
    now: str


def moved_since(
    plan: Plan,
    snapshot: Snapshot,
    fresh: Mapping[str, Observation],
    types: Mapping[str, ResourceType],
    project: Project,
    references: Callable[[PlannedResource], Mapping[str, Resolved]],
    skip: frozenset[str] = frozenset(),
    *,
    resumed: bool = False,
) -> tuple[StaleItem, ...]:
    """Returns what moved of the resources that the plan touches, except those in ``skip`` (whose operations
    have begun). ``resumed``: an apply of this plan is continued.
    """
    stale: list[StaleItem] = []
    touched = {operation.address for operation in plan.operations} - skip
    for resource in plan.resources:
        if resource.address not in touched:
            continue
        record = snapshot.resources.get(resource.address)
        if canonical(resource.recorded) != canonical(record.attributes if record else None):
            stale.extend(_recorded_otherwise(resource, record.attributes if record else None))
            continue
        if resource.address in fresh:
            stale.extend(
                compare(
                    resource.address,
                    resource.proposal.fingerprint,
                    _fresh_fingerprint(
                        resource, snapshot, fresh, types, project, references, resumed=resumed
                    ),
                )
            )
    return tuple(stale)


def _recorded_otherwise(resource: PlannedResource, now: Attributes | None) -> list[StaleItem]:
    """The recorded attributes that another apply has changed: their places alone, since a value may be
    sensitive.
    """
    whole = resource.recorded is None or now is None
    places = [] if whole else [each.place for each in document_differences(resource.recorded, now)]
    return [
        StaleItem(
            address=resource.address,
            what=f"recorded {place}" if place else "recorded state",
            planned="as planned",
            now="changed by another apply",
        )
        for place in places or [""]
    ]


def _fresh_fingerprint(
    resource: PlannedResource,
    snapshot: Snapshot,
    fresh: Mapping[str, Observation],
    types: Mapping[str, ResourceType],
    project: Project,
    references: Callable[[PlannedResource], Mapping[str, Resolved]],
    *,
    resumed: bool,
) -> Data:
    """The fingerprint of the plan's request as the world is now. Nothing is planned again."""
    planner = types[resource.type].planning.planner
    assert planner is not None, f"{resource.type} is in a plan and has no planner"
    record = snapshot.resources.get(resource.address)
    request = PlanRequest(
        address=resource.address,
        desired=resource.desired,
        recorded=record.recorded() if record else None,
        observed=fresh[resource.address],
        references=references(resource),
        project=project,
        importing=record is None and resource.import_id is not None,
        import_id=resource.import_id,
        destroy_object=resource.destroy_object,
        replace=resource.replace,
        resumed=resumed,
        protected=resource.protected,
        disturbances=resource.disturbances,
    )
    return planner().fingerprint(request)


def compare(address: str, before: Data, after: Data) -> list[StaleItem]:
    """Every place at which two fingerprints differ, in order of path; what one of them does not know is not
    compared.
    """
    return [
        StaleItem(address=address, what=each.place or "state", planned=each.before, now=each.after)
        for each in document_differences(_known_beside(before, after), _known_beside(after, before))
    ]


def _known_beside(value: Data, other: Data) -> Data:
    """A fingerprint without the places that it, or the other one, does not know."""
    if not isinstance(value, dict) or not isinstance(other, dict):
        return value
    return {
        name: _known_beside(part, other.get(name))
        for name, part in value.items()
        if part is not UNKNOWN and other.get(name) is not UNKNOWN
    }
