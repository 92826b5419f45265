"""From an operation of the plan to what its driver is asked. Pure."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import Attributes, Data, from_json, references, to_json
from flareiac.model.plan import Operation, Plan, PlannedResource, Verb
from flareiac.model.references import connections_of, reached
from flareiac.model.shape import check
from flareiac.model.snapshot import ResourceRecord, decode_record, encode_record
from flareiac.sdk.changes import Action
from flareiac.sdk.maintenance import decode_work
from flareiac.sdk.provider import Applied, ApplyRequest, Kind, NotApplied, ResourceType
from flareiac.sdk.references import Resolved


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
    """What the driver is told; references carry the identities that are recorded by now."""
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
    )


def references_of(plan: Plan, resource: PlannedResource, identities: Callable[[str], Attributes]) -> dict[str, Resolved]:
    """Everything a planned resource refers to, directly or through others; what is gone from the configuration, as recorded with it."""
    found = {
        address: Resolved(address=address, type=block_type(address), attributes=attributes)
        for address, attributes in resource.resolved.items()
    }
    start = (*resource.dependencies, *references(resource.proposal.planned), *references(resource.recorded))
    for address in reached(start, plan.references):
        found[address] = replace(plan.references[address], identity=identities(address))
    return found


def record_of(
    resource: PlannedResource | ResourceRecord, outcome: Applied | NotApplied, request: ApplyRequest, types: Mapping[str, ResourceType]
) -> ResourceRecord | None:
    """What is recorded of a resource after a driver's answer, or None when there is nothing to record."""
    if outcome.attributes is None:
        return None
    if isinstance(outcome, Applied):
        kept = connections_of(resource.dependencies, outcome.attributes, request.references, types)
    else:  # what is there may still be the former one, so that its connections are needed as well
        kept = {address: item.attributes for address, item in request.references.items() if types[item.type].kind is not Kind.MANAGED}
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


def encode_request(request: ApplyRequest, resource: PlannedResource | ResourceRecord) -> Data:
    """An intent's data: enough to settle the operation when the plan is gone."""
    return {
        "key": request.key,
        "address": request.address,
        "action": request.action,
        "planned": to_json(request.planned),
        "recorded": None if request.recorded is None else to_json(request.recorded.attributes),
        "identity": None if request.recorded is None else to_json(request.recorded.identity),
        "payload": to_json(request.payload),
        "references": {
            address: {"type": item.type, "attributes": to_json(item.attributes), "identity": to_json(item.identity)}
            for address, item in request.references.items()
        },
        "record": encode_record(
            ResourceRecord(
                address=resource.address,
                type=resource.type,
                provider=resource.provider,
                attributes={},
                dependencies=resource.dependencies,
                protected=resource.protected,
                schema_version=resource.schema_version,
            )
        ),
    }


def check_intent(data: Data) -> None:
    """Whether an intent can be settled by. Raises what decoding raises (``model.damage.UNREADABLE``) where it is not as it was written."""
    if not isinstance(data["address"], str):
        raise TypeError(f"unexpected {data['address']!r}")
    if data["action"] != Verb.MAINTAIN:
        asked = data
    elif "work" in data:
        decode_work(data["work"])
        asked = data["request"]
    else:
        return
    request, _blank = decode_request(asked, threading.Event(), lambda _text: None)
    check(request, ApplyRequest)


def decode_request(data: Data, cancel: threading.Event, progress: Callable[[str], None]) -> tuple[ApplyRequest, ResourceRecord]:
    """The inverse of ``encode_request``: the request, and the record to fill with the outcome."""
    blank = decode_record(data["record"])
    recorded = None
    if data["recorded"] is not None:
        recorded = replace(blank, attributes=from_json(data["recorded"]), identity=from_json(data["identity"])).recorded()
    request = ApplyRequest(
        key=data["key"],
        address=data["address"],
        action=data["action"],
        planned=from_json(data["planned"]),
        recorded=recorded,
        payload=from_json(data["payload"]),
        references={
            address: Resolved(
                address=address, type=item["type"], attributes=from_json(item["attributes"]), identity=from_json(item["identity"])
            )
            for address, item in data["references"].items()
        },
        cancel=cancel,
        progress=progress,
    )
    return request, blank
