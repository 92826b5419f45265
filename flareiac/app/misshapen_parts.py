"""Finds parts of a state, or of its journal, that are not what was once recorded. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flareiac.kernel.addresses import block_type, parse_address
from flareiac.kernel.articles import with_article
from flareiac.model.damage import UNREADABLE, misshapen
from flareiac.model.intents import StoredMaintenance, StoredRequest, stored_intent
from flareiac.model.journal import Interrupted
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType

MISSHAPEN = (*UNREADABLE, AssertionError)
"""What reading a part of another shape raises."""


def what_is_misshapen(snapshot: Snapshot, types: Mapping[str, ResourceType]) -> str:
    """The first record of which a part is not what its provider once recorded; empty where all are."""
    for record in (*snapshot.resources.values(), *snapshot.dropped):
        try:
            _examine(record, types)
        except MISSHAPEN as problem:
            return f"what it holds of {record.address} has the wrong shape ({misshapen(problem)})"
    return ""


def misshapen_intent(interrupted: Interrupted, types: Mapping[str, ResourceType]) -> str:
    """The first open intent of which a part is not what was once planned or recorded; empty where all are."""
    for request in requests(interrupted):
        try:
            for record in _as_recorded(request):
                _examine(record, types)
        except MISSHAPEN as problem:
            return f"what it holds of {request.address} has the wrong shape ({misshapen(problem)})"
    return ""


def requests(interrupted: Interrupted) -> Iterator[StoredRequest]:
    """What the open intents of an interrupted apply asked of drivers."""
    for intent in interrupted.open.values():
        match stored_intent(intent.operation):
            case StoredMaintenance() as stored:
                yield stored.request
            case StoredRequest() as stored:
                yield stored
            case None:
                pass


def _as_recorded(request: StoredRequest) -> Iterator[ResourceRecord]:
    """What an operation was to make of its resource, and what was recorded before it."""
    resolved = {address: item.attributes for address, item in request.references.items()}
    if request.planned is not None:
        yield replace(request.record, attributes=request.planned, resolved=resolved)
    if request.recorded is not None:
        identity = request.identity or {}
        yield replace(request.record, attributes=request.recorded, identity=identity, resolved=resolved)


def _examine(record: ResourceRecord, types: Mapping[str, ResourceType]) -> None:
    """Reads what planners will read of a record: itself, what it was reached through, and its last user."""
    parsed = parse_address(record.address)
    if parsed is None or parsed.type != record.type:
        raise ValueError(f"{record.address!r} is not the address of {with_article(record.type)}")
    if record.type not in types:
        return
    types[record.type].examine(record.recorded())
    reached = {
        address: Resolved(address=address, type=block_type(address), attributes=attributes)
        for address, attributes in record.resolved.items()
    }
    for address, item in reached.items():
        if item.type in types:
            types[item.type].usages(address, item.attributes, reached)
            types[item.type].home(item.attributes)
    types[record.type].usages(record.address, record.attributes, reached)
    if record.user is not None:
        _examine(record.user, types)
