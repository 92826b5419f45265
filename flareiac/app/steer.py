"""The use cases of ``stop``, ``start`` and ``restart``: by hand, on the recorded definition, under the lock."""

import threading
from collections.abc import Callable

from flareiac.app.apply import locked
from flareiac.app.bench import Bench
from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.model.events import Event
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.provider import ApplyRequest, NotApplied, Steer, Steering
from flareiac.sdk.references import Resolved


def recorded(snapshot: Snapshot, address: str) -> ResourceRecord:
    """What the state holds of an address. Raises ``Failure`` when it holds nothing."""
    record = snapshot.resources.get(address)
    if record is None:
        hint = did_you_mean(address, snapshot.resources)
        raise Failure(error("FIX020", f"The state holds no {address}", f"flareiac state list shows what it holds.{hint}"))
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


def steer(
    bench: Bench, verb: Steer, address: str, *, lock_timeout: float, emit: Callable[[Event], None], progress: Callable[[str], None]
) -> tuple[str, ...]:
    """Stops, starts or restarts one resource; returns what there is to say. Raises ``Failure`` or ``LockHeld``."""
    with locked(bench, verb.value, lock_timeout, emit):
        loaded = bench.load_state()
        record = recorded(loaded.snapshot, address)
        driver = bench.driver(record.provider, record.type)
        if not isinstance(driver, Steering):
            raise Failure(error("FIX021", f"{address} does not run", f"Only what runs can be asked to {verb.value}: jobs."))
        request = ApplyRequest(
            key=digest([loaded.snapshot.lineage, loaded.snapshot.serial, verb.value, address]),
            address=address,
            action=verb.value,
            planned=record.attributes,
            recorded=record.recorded(),
            payload=None,
            references=references_of(loaded.snapshot, record),
            cancel=threading.Event(),
            progress=progress,
        )
        outcome = driver.steer(verb, request)
    if isinstance(outcome, NotApplied):
        raise Failure(*outcome.diagnostics)
    return outcome.messages
