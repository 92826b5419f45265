"""From an operation of the plan to what its driver is asked. Pure."""

import threading
from collections.abc import Callable, Mapping

from flareiac.kernel.data import Attributes, references
from flareiac.model.plan import Operation, Plan, PlannedResource
from flareiac.model.references import connections_of, planned_references, recorded_connections
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.changes import Action
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Applied, NotApplied


def operation_key(lineage: str, time: float, operation_id: str) -> str:
    """The idempotency key of an operation: the same whenever the same plan is applied again."""
    return f"{lineage}/{int(time * 1000)}/{operation_id}"


def request_for(
    plan: Plan,
    resource: PlannedResource,
    operation: Operation,
    record: ResourceRecord | None,
    identities: Callable[[str], Attributes],
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> ApplyRequest:
    """What the driver is asked; references carry the identities that are recorded by now."""
    return ApplyRequest(
        key=operation_key(plan.lineage, plan.time, operation.id),
        address=resource.address,
        action=operation.verb.value,
        planned=resource.proposal.planned,
        recorded=record.recorded() if record else None,
        payload=resource.proposal.payload,
        references=references_of(plan, resource, identities),
        cancel=cancel,
        progress=progress,
        going=frozenset(item.address for item in plan.resources if item.action is Action.DELETE),
        stage=operation.stage,
    )


def references_of(
    plan: Plan, resource: PlannedResource, identities: Callable[[str], Attributes]
) -> dict[str, Resolved]:
    """Everything a planned resource refers to, directly or through others; what is gone from the
    configuration, as recorded with it.
    """
    start = (*resource.dependencies, *references(resource.proposal.planned), *references(resource.recorded))
    return {**recorded_connections(resource), **planned_references(plan, start, identities)}


def record_of(
    resource: PlannedResource | ResourceRecord,
    outcome: Applied | NotApplied,
    request: ApplyRequest,
    types: Mapping[str, ResourceType],
) -> ResourceRecord | None:
    """What is recorded of a resource after a driver's answer, or None when there is nothing to record."""
    if outcome.attributes is None:
        return None
    if isinstance(outcome, Applied):
        kept = connections_of(resource.dependencies, outcome.attributes, request.references, types)
    else:  # what is there may still be the former one, so that its connections are needed as well
        kept = {
            address: item.attributes
            for address, item in request.references.items()
            if types[item.type].kind is not Kind.MANAGED
        }
    return ResourceRecord(
        address=resource.address,
        type=resource.type,
        provider=resource.provider,
        attributes=outcome.attributes,
        identity=outcome.identity or {},
        dependencies=resource.dependencies,
        protected=resource.protected,
        schema_version=resource.schema_version,
        resolved=kept,
    )
