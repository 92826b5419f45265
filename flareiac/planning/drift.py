"""Computes drift: everything that a plan of exactly the recorded definitions would do, given what was
observed. Pure.

The configuration has no part in it: desired is what the last apply recorded. So nothing for which a plan
blocks, restarts or heals because of what it observed can be missing from the report of ``drift``, whether its
planner words it as drift or not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flareiac.kernel.addresses import block_type, parse_address
from flareiac.kernel.data import Data, references
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.paths import Path, render_path
from flareiac.model.desired import Desired, DesiredResource, Lifecycle
from flareiac.model.drift import DriftClass, DriftFinding, fingerprint_of
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.make_plan import Inputs, Maintenance, Options, make_plan
from flareiac.sdk.changes import Action, Origin, Proposal
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Missing, Present


def drift_findings(inputs: Inputs, made: Plan) -> tuple[DriftFinding, ...]:
    """Returns all differences from what was recorded, by address. ``made``: the plan of the configuration;
    what it knows of a recorded resource beyond the plan of the recorded definitions is drift, too.
    """
    wanted = recorded_configuration(inputs.snapshot, inputs.types)
    options = Options(maintenance=Maintenance.EXCLUDE)
    alone = make_plan(replace(inputs, desired=wanted, figures={}), options, Diagnostics())
    plans = {resource.address: resource for resource in alone.resources}
    findings: list[DriftFinding] = []
    for resource in sorted(made.resources, key=lambda planned: planned.address):
        if resource.recorded is None:
            continue
        again = plans.get(resource.address)
        if again is not None and _texts(again):
            findings.extend(_of_proposal(inputs, again))
        elif resource.proposal.drift:
            findings.extend(_of_proposal(inputs, resource))
        findings.extend(_unmanaged(inputs, resource.address))
        findings.extend(_unhealthy(inputs, resource.address))
    return tuple(findings)


def _of_proposal(inputs: Inputs, planned_resource: PlannedResource) -> Iterator[DriftFinding]:
    """Yields a finding for each attribute that drifted, and for each text about the resource as a whole."""
    address, proposal = planned_resource.address, planned_resource.proposal
    observed = inputs.observations.get(address)
    kind = DriftClass.MISSING if isinstance(observed, Missing) else DriftClass.CHANGED
    changes = [change for change in proposal.changes if change.has_drifted]
    texts, about_attributes = _texts(planned_resource), {change.drift for change in changes if change.drift}
    # A planner that has no sentence for each attribute says all in its texts
    shared = "" if about_attributes or not 0 < len(texts) <= len(changes) else "; ".join(texts)
    for text in () if shared else texts:
        if text not in about_attributes and (proposal.drift or proposal.blockers or not changes):
            yield finding_of(inputs, address, kind, text)
    for change in changes:
        values = (change.old, change.live)
        yield DriftFinding(
            address=address,
            kind=kind,
            text=change.drift or shared or f"{render_path(change.path)} was changed outside of FlareIaC",
            fingerprint=fingerprint_of(inputs.snapshot.lineage, address, kind, change.path, values, ""),
            path=change.path,
            old=change.old,
            live=change.live,
            sensitive=change.sensitive,
        )


def _unmanaged(inputs: Inputs, address: str) -> Iterator[DriftFinding]:
    observed = inputs.observations.get(address)
    for part in observed.unmanaged if isinstance(observed, Present) else ():
        finding = finding_of(inputs, address, DriftClass.UNMANAGED, part.text, part.path)
        yield replace(finding, declaring=part.value)


def _unhealthy(inputs: Inputs, address: str) -> Iterator[DriftFinding]:
    observed = inputs.observations.get(address)
    for text in observed.unhealthy if isinstance(observed, Present) else ():
        yield finding_of(inputs, address, DriftClass.UNHEALTHY, text)


def finding_of(inputs: Inputs, address: str, kind: DriftClass, text: str, path: Path = ()) -> DriftFinding:
    """Returns a finding without values, known again by its text, or by its path where it has one."""
    told = "" if path else text.replace(str(inputs.project.root), ".")
    fingerprint = fingerprint_of(inputs.snapshot.lineage, address, kind, path, (), told)
    return DriftFinding(address=address, kind=kind, text=text, fingerprint=fingerprint, path=path)


def recorded_configuration(snapshot: Snapshot, types: Mapping[str, ResourceType]) -> Desired:
    """Builds the configuration that the last applies recorded, as if files said exactly this."""
    resources: dict[str, DesiredResource] = {}
    for record in snapshot.resources.values():
        for address, attributes in record.resolved.items() if record.type in types else ():
            resources.setdefault(
                address, _resource(address, attributes, record, types, tuple(references(attributes)))
            )
    for record in (resource for resource in snapshot.resources.values() if resource.type in types):
        declared = _resource(record.address, record.attributes, record, types, record.dependencies)
        lifecycle = Lifecycle(prevent_destroy=record.protected)
        resources[record.address] = replace(declared, lifecycle=lifecycle, owner=record.owner)
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
