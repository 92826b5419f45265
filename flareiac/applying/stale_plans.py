"""Checks that the world is still what a plan relied on: compares fingerprints, not everything. Pure; the
fresh observations are arguments.
"""

from collections.abc import Callable, Mapping

from flareiac.kernel.data import UNKNOWN, Data, canonical, to_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import render_path
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


def moved(
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
    found: list[StaleItem] = []
    touched = {operation.address for operation in plan.operations} - skip
    for resource in plan.resources:
        if resource.address not in touched:
            continue
        record = snapshot.resources.get(resource.address)
        if canonical(resource.recorded) != canonical(record.attributes if record else None):
            found.append(
                StaleItem(
                    address=resource.address,
                    what="recorded state",
                    planned="as planned",
                    now="changed by another apply",
                )
            )
            continue
        if resource.address in fresh:
            found.extend(
                compare(
                    resource.address,
                    resource.proposal.fingerprint,
                    _fresh_fingerprint(
                        resource, snapshot, fresh, types, project, references, resumed=resumed
                    ),
                )
            )
    return tuple(found)


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
    planner = types[resource.type].planner
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
    before, after = to_json(_known_beside(before, after)), to_json(_known_beside(after, before))
    if canonical(before) == canonical(after):
        return []
    # Only for a stale plan: finding the places inside two values costs more than knowing that they differ.
    from deepdiff import DeepDiff

    found = DeepDiff(before, after, view="tree", threshold_to_diff_deeper=0)
    places = [item for kind in found.values() for item in kind]
    if not places:  # inside of lists deepdiff compares as Python does, for which False is 0
        return [StaleItem(address=address, what="state", planned=_text(before), now=_text(after))]
    return [
        StaleItem(
            address=address,
            what=render_path(tuple(place.path(output_format="list"))) or "state",
            planned=_text(place.t1),
            now=_text(place.t2),
        )
        for place in sorted(places, key=lambda place: str(place.path()))
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


def _text(value: object) -> str:
    from deepdiff.helper import notpresent

    return "(absent)" if value is notpresent else canonical(value)
