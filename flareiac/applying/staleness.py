"""Whether the world is still what a plan relied on: compares fingerprints, not everything. Pure; the fresh observations are arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flareiac.kernel.data import canonical, from_json, to_json
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.provider import Observation, PlanRequest, Project, Resolved, ResourceType


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
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
) -> tuple[Moved, ...]:
    """What moved of the resources that the plan touches, but for those in ``skip`` (whose operations have begun)."""
    found: list[Moved] = []
    touched = {operation.address for operation in plan.operations} - skip
    for resource in plan.resources:
        if resource.address not in touched:
            continue
        record = snapshot.resources.get(resource.address)
        if canonical(resource.recorded) != canonical(record.attributes if record else None):
            found.append(Moved(address=resource.address, what="recorded state", planned="as planned", now="changed by another apply"))
            continue
        if resource.address in fresh:
            found.extend(_compare(resource, _fresh_fingerprint(resource, snapshot, fresh, types, project, references)))
    return tuple(found)


def _fresh_fingerprint(
    resource: PlannedResource,
    snapshot: Snapshot,
    fresh: Mapping[str, Observation],
    types: Mapping[str, ResourceType],
    project: Project,
    references: Callable[[PlannedResource], Mapping[str, Resolved]],
) -> object:
    """The fingerprint that the same question would get now. Only the fingerprint of the answer is looked at: nothing is planned again."""
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
        importing=resource.import_id is not None,
        destroy_object=resource.destroy_object,
        replace=resource.replace,
        protected=resource.protected,
        disturbances=resource.disturbances,
    )
    return planner.plan(request).fingerprint


def _compare(resource: PlannedResource, now: object) -> list[Moved]:
    before, after = to_json(resource.proposal.fingerprint), to_json(from_json(to_json(now)))
    if canonical(before) == canonical(after):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            Moved(address=resource.address, what=name, planned=canonical(before.get(name)), now=canonical(after.get(name)))
            for name in sorted({*before, *after})
            if canonical(before.get(name)) != canonical(after.get(name))
        ]
    return [Moved(address=resource.address, what="state", planned=canonical(before), now=canonical(after))]
