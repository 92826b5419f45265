"""Computes drift: everything that a plan of exactly the recorded definitions would do, given what was
observed. Pure.

The configuration has no part in it: desired is what the last apply recorded. So nothing for which a plan
blocks, restarts or heals because of what it observed can be missing from the report of ``drift``, whether its
planner words it as drift or not.
"""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.addresses import block_type, parse_address
from flareiac.kernel.data import Data, references
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.model.desired import Desired, DesiredResource, Lifecycle
from flareiac.model.plan import PlannedResource
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.make_plan import Inputs, Maintenance, Options, make_plan
from flareiac.sdk.changes import Action, Origin, Proposal
from flareiac.sdk.resource_type import ResourceType


def drifted(inputs: Inputs) -> dict[str, tuple[str, ...]]:
    """Returns the differences from what was recorded, in words, of each resource for which a plan would do
    something about them; by address.
    """
    wanted = recorded_configuration(inputs.snapshot, inputs.types)
    options = Options(maintenance=Maintenance.EXCLUDE)
    made = make_plan(replace(inputs, desired=wanted, figures={}), options, Diagnostics())
    return {resource.address: texts for resource in made.resources if (texts := _texts(resource))}


def recorded_configuration(snapshot: Snapshot, types: Mapping[str, ResourceType]) -> Desired:
    """Builds the configuration that the last applies recorded, as if files said exactly this."""
    resources: dict[str, DesiredResource] = {}
    for record in snapshot.resources.values():
        for address, attributes in record.resolved.items() if record.type in types else ():
            resources.setdefault(
                address, _resource(address, attributes, record, types, tuple(references(attributes)))
            )
    for record in (resource for resource in snapshot.resources.values() if resource.type in types):
        found = _resource(record.address, record.attributes, record, types, record.dependencies)
        lifecycle = Lifecycle(prevent_destroy=record.protected)
        resources[record.address] = replace(found, lifecycle=lifecycle, owner=record.owner)
    return Desired(resources=resources)


def _resource(
    address: str,
    attributes: Data,
    record: ResourceRecord,
    types: Mapping[str, ResourceType],
    dependencies: tuple[str, ...],
) -> DesiredResource:
    parsed = parse_address(address)
    assert parsed is not None, f"the state holds {address}, which is not an address"
    return DesiredResource(
        address=parsed,
        provider=record.provider,
        kind=types[block_type(address)].kind,
        attributes=attributes,
        dependencies=dependencies,
    )


def _texts(planned_resource: PlannedResource) -> tuple[str, ...]:
    proposal = planned_resource.proposal
    if proposal.drift:
        return proposal.drift
    if proposal.blockers:
        return tuple(blocker.line for blocker in proposal.blockers)
    if proposal.action in (Action.NO_OP, Action.RECORD) or planned_resource.disturbances:
        return ()  # what only makes way for a change of something else has not drifted itself
    return _reasons(proposal)


def _reasons(proposal: Proposal) -> tuple[str, ...]:
    lines = (*proposal.reasons, *(step.text for step in proposal.steps))
    return lines or tuple(
        f"{change.path[0]} differs" for change in proposal.changes if change.origin is not Origin.DEFAULT
    )
