"""From an operation of the plan to what its driver is asked. Pure."""

import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.data import references as references_in
from flareiac.model.plan import Operation, Plan, PlannedResource, Verb
from flareiac.model.references import connections_of, is_kept, planned_references, recorded_connections
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.actions import Adopt, Change, Create, Delete, Update
from flareiac.sdk.changes import Action, Proposal
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Applied, NotApplied, Recorded

ActionT = TypeVar("ActionT")


def operation_key(lineage: str, time: float, operation_id: str) -> str:
    """The idempotency key of an operation: the same whenever the same plan is applied again."""
    return f"{lineage}/{int(time * 1000)}/{operation_id}"


def request_for(
    plan: Plan,
    resource: PlannedResource,
    operation: Operation,
    action: ActionT,
    identities: Callable[[str], Attributes],
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> ApplyRequest[ActionT]:
    """Builds the request to the driver; references carry the identities that are recorded by now."""
    return ApplyRequest(
        key=operation_key(plan.lineage, plan.time, operation.id),
        address=resource.address,
        action=action,
        references=references_of(plan, resource, identities),
        cancel=cancel,
        progress=progress,
    )


def change_of(proposal: Proposal, verb: Verb, recorded: Recorded | None, notes: Mapping[str, Data]) -> Change:
    """The proposed change of a resource, with what the stages before it noted."""
    planned, payload = proposal.planned, proposal.payload
    assert planned is not None, "a change has planned attributes: the contract of planners says so"
    match verb:
        case Verb.CREATE:
            return Create(planned=planned, recorded=recorded, payload=payload, notes=notes)
        case Verb.ADOPT:
            return Adopt(planned=planned, payload=payload, notes=notes)
        case _:
            assert recorded is not None, "only what is recorded is updated: the contract of planners says so"
            return Update(planned=planned, recorded=recorded, payload=payload, notes=notes)


def deletion_of(plan: Plan, resource: PlannedResource, record: ResourceRecord) -> Delete:
    """The planned deletion of a recorded resource."""
    going = frozenset(planned.address for planned in plan.resources if planned.action is Action.DELETE)
    return Delete(recorded=record.recorded(), payload=resource.proposal.payload, going=going)


def references_of(
    plan: Plan, resource: PlannedResource, identities: Callable[[str], Attributes]
) -> dict[str, Resolved]:
    """Everything a planned resource refers to, directly or through others; what is gone from the
    configuration, as recorded with it.
    """
    named = (*references_in(resource.proposal.planned), *references_in(resource.recorded))
    start = (*resource.dependencies, *named)
    return {**recorded_connections(resource), **planned_references(plan, start, identities)}


def record_of(
    resource: PlannedResource | ResourceRecord,
    outcome: Applied | NotApplied,
    references: References,
    types: Mapping[str, ResourceType],
) -> ResourceRecord | None:
    """Builds the record of a resource after a driver's answer; None when there is nothing to record."""
    if outcome.attributes is None:
        return None
    if isinstance(outcome, Applied):
        kept = connections_of(resource.dependencies, outcome.attributes, references, types)
    else:  # what is there may still be the former one, so that its connections are needed as well
        kept = {
            address: reference.attributes
            for address, reference in references.items()
            if is_kept(types[reference.type])
        }
    return ResourceRecord(
        address=resource.address,
        type=resource.type,
        provider=resource.provider,
        attributes=outcome.attributes,
        identity=outcome.identity or {},
        dependencies=resource.dependencies,
        protected=resource.protected,
        owner=resource.owner,
        schema_version=resource.schema_version,
        resolved=kept,
    )
