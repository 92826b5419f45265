"""Finds parts of a state, of its journal or of a saved plan that are not what FlareIaC writes. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from flareiac.config.registry import Registry
from flareiac.kernel.addresses import block_type, parse_address
from flareiac.kernel.articles import with_article
from flareiac.kernel.data import is_known
from flareiac.kernel.graph import Cycle, topological
from flareiac.model.damage import UNREADABLE, misshapen
from flareiac.model.intents import StoredMaintenance, StoredRequest, stored_intent
from flareiac.model.journal import Interrupted
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.results import Recorded

MISSHAPEN = (*UNREADABLE, AssertionError)
"""The errors that reading a part of another shape raises."""


def what_is_misshapen(snapshot: Snapshot, registry: Registry) -> str:
    """The first record of which a part is not what its provider once recorded; empty where all are."""
    for record in (*snapshot.resources.values(), *snapshot.dropped):
        try:
            _examine(record, registry)
        except MISSHAPEN as problem:
            return f"what it holds of {record.address} has the wrong shape ({misshapen(problem)})"
    return ""


def misshapen_intent(interrupted: Interrupted, registry: Registry) -> str:
    """The first open intent of which a part is not what was once planned or recorded; empty where all are."""
    for request in requests(interrupted):
        try:
            for record in _as_recorded(request):
                _examine(record, registry)
        except MISSHAPEN as problem:
            return f"what it holds of {request.address} has the wrong shape ({misshapen(problem)})"
    return ""


def requests(interrupted: Interrupted) -> Iterator[StoredRequest]:
    """Yields the stored requests of the open intents of an interrupted apply."""
    for intent in interrupted.open.values():
        match stored_intent(intent.operation):
            case StoredMaintenance() as stored:
                yield stored.request
            case StoredRequest() as stored:
                yield stored
            case None:
                pass


def _as_recorded(request: StoredRequest) -> Iterator[ResourceRecord]:
    """Yields the record that an operation was to make of its resource, and the one before it."""
    resolved = {address: reference.attributes for address, reference in request.references.items()}
    if request.planned is not None:
        yield replace(request.record, attributes=request.planned, resolved=resolved)
    if request.recorded is not None:
        identity = request.identity or {}
        yield replace(request.record, attributes=request.recorded, identity=identity, resolved=resolved)


def misshapen_plan(plan: Plan, registry: Registry) -> str:
    """The first part of a plan that no apply can follow; empty where there is none."""
    if why := _tangled(plan):
        return why
    worked_on = {operation.address for operation in plan.operations}
    for resource in plan.resources:
        if resource.address in worked_on:
            try:
                _examine_planned(resource, plan.references, registry)
            except MISSHAPEN as problem:
                return f"what it holds of {resource.address} has the wrong shape ({misshapen(problem)})"
    for address, reference in plan.references.items():
        try:
            if reference.type in registry.types:
                registry.types[reference.type].locating.home(reference.attributes)
        except MISSHAPEN as problem:
            return f"what it holds of {address} has the wrong shape ({misshapen(problem)})"
    return ""


def _tangled(plan: Plan) -> str:
    """Finds a fault in the graph of operations; empty where there is none."""
    addresses = Counter(resource.address for resource in plan.resources)
    if twice := [address for address, count in addresses.items() if count > 1]:
        return f"it holds {twice[0]} twice"
    edges: dict[str, list[str]] = {}
    for operation in plan.operations:
        if operation.id in edges:
            return f"it holds the operation {operation.id} twice"
        if operation.address not in addresses:
            return f"it holds the operation {operation.id}, and no resource of that address"
        edges[operation.id] = [edge.after for edge in operation.edges]
    try:
        topological(edges)
    except Cycle as cycle:
        return f"its operations wait for one another: {cycle}"
    return ""


def _examine_planned(resource: PlannedResource, references: References, registry: Registry) -> None:
    """Reads what an apply will read of a resource, as far as it is known before."""
    record = ResourceRecord(
        address=resource.address,
        type=resource.type,
        provider=resource.provider,
        attributes={},
        resolved=resource.resolved,
    )
    if resource.recorded is not None:
        _examine(replace(record, attributes=resource.recorded), registry)
    kind = registry.types[resource.type]
    for attributes in (resource.desired, resource.proposal.planned):
        if attributes is not None and is_known(attributes):
            own = {name: value for name, value in attributes.items() if name not in kind.computed}
            kind.recording.examine(Recorded(attributes=own))
    if resource.proposal.planned is not None:
        kind.relations.usages(resource.address, resource.proposal.planned, references)


def _examine(record: ResourceRecord, registry: Registry) -> None:
    """Reads what planners will read of a record: itself, what it was reached through, and its last user."""
    parsed = parse_address(record.address)
    if parsed is None or parsed.type != record.type:
        raise ValueError(f"{record.address!r} is not the address of {with_article(record.type)}")
    types = registry.types
    if record.type not in types:
        return
    if record.provider != registry.provider_of[record.type]:
        raise ValueError(f"the provider {record.provider!r:.60} has no {record.type}")
    types[record.type].recording.examine(record.recorded())
    reached = {
        address: Resolved(address=address, type=block_type(address), attributes=attributes)
        for address, attributes in record.resolved.items()
    }
    for address, resolved in reached.items():
        if resolved.type in types:
            types[resolved.type].relations.usages(address, resolved.attributes, reached)
            types[resolved.type].locating.home(resolved.attributes)
    types[record.type].relations.usages(record.address, record.attributes, reached)
    if record.user is not None:
        _examine(record.user, registry)
