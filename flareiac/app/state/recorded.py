"""Looks up the state's record of an address. Pure; the use case of ``state list``, and a part of many
others.
"""

from collections.abc import Mapping, Sequence

from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.make_plan import matches
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import Kind, ResourceType


def addresses(snapshot: Snapshot, patterns: Sequence[str]) -> list[str]:
    """The recorded addresses in order, those that match a pattern where there are patterns."""
    listed = sorted(snapshot.resources)
    return [
        address
        for address in listed
        if not patterns or any(matches(address, pattern) for pattern in patterns)
    ]


def recorded(snapshot: Snapshot, address: str) -> ResourceRecord:
    """Returns the state's record of an address. Raises ``Failure`` when there is none."""
    record = snapshot.resources.get(address)
    if record is None:
        connections = {each for resource in snapshot.resources.values() for each in resource.resolved}
        hint = (
            "A connection is recorded with each resource that uses it, and has no record of its own."
            if address in connections
            else "flareiac state list shows what it "
            f"holds.{did_you_mean(address, {*snapshot.resources, *connections})}"
        )
        raise Failure(error(codes.NOT_IN_STATE, f"The state does not hold {address}. {hint}"))
    return record


def connection_of(snapshot: Snapshot, address: str, types: Mapping[str, ResourceType]) -> Resolved | None:
    """A connection as it was recorded with what uses it; None for what is not one, or is not in use."""
    if address in snapshot.resources:
        return None
    kind = types.get(block_type(address))
    connections = [
        record.resolved[address] for record in snapshot.resources.values() if address in record.resolved
    ]
    if kind is None or kind.kind is not Kind.CONNECTION or not connections:
        return None
    return Resolved(address=address, type=kind.name, attributes=connections[-1])
