"""What the state holds of an address. Pure; the use case of ``state list``, and a part of many others."""

from collections.abc import Sequence

from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.make_plan import matches
from flareiac.sdk.references import Resolved


def addresses(snapshot: Snapshot, patterns: Sequence[str]) -> list[str]:
    """The recorded addresses in order, those that match a pattern where there are patterns."""
    listed = sorted(snapshot.resources)
    return [address for address in listed if not patterns or any(matches(address, item) for item in patterns)]


def recorded(snapshot: Snapshot, address: str) -> ResourceRecord:
    """What the state holds of an address. Raises ``Failure`` when it holds nothing."""
    record = snapshot.resources.get(address)
    if record is None:
        hint = did_you_mean(address, {*snapshot.resources, *(each for item in snapshot.resources.values() for each in item.resolved)})
        raise Failure(error(codes.NOT_IN_STATE, f"The state does not hold {address}. flareiac state list shows what it holds.{hint}"))
    return record


def references_of(snapshot: Snapshot, record: ResourceRecord) -> dict[str, Resolved]:
    """What a recorded resource refers to, as recorded."""
    found = {
        address: Resolved(address=address, type=block_type(address), attributes=attributes)
        for address, attributes in record.resolved.items()
    }
    stack = list(record.dependencies)
    while stack:
        address = stack.pop()
        other = snapshot.resources.get(address)
        if other is not None and address not in found:
            found[address] = Resolved(address=address, type=other.type, attributes=other.attributes, identity=other.identity)
            for each, attributes in other.resolved.items():
                found.setdefault(each, Resolved(address=each, type=block_type(each), attributes=attributes))
            stack.extend(other.dependencies)
    return found
