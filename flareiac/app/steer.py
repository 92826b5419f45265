"""The use cases of ``stop``, ``start`` and ``restart``: by hand, on the recorded definition, under the lock."""

import threading
from collections.abc import Callable, Sequence

from flareiac.app.apply import locked
from flareiac.app.bench import Bench
from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, did_you_mean, error
from flareiac.model.events import Event
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.provider import ApplyRequest, Kind, NotApplied, Outcome, Steer, Steering, SteeringConnections
from flareiac.sdk.references import Resolved


def recorded(snapshot: Snapshot, address: str) -> ResourceRecord:
    """What the state holds of an address. Raises ``Failure`` when it holds nothing."""
    record = snapshot.resources.get(address)
    if record is None:
        hint = did_you_mean(address, {*snapshot.resources, *(each for item in snapshot.resources.values() for each in item.resolved)})
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
    bench: Bench,
    verb: Steer,
    address: str,
    *,
    lock_timeout: float,
    emit: Callable[[Event], None],
    progress: Callable[[str], None],
    cancel: threading.Event,
) -> Sequence[str]:
    """Stops, starts or restarts one resource, or what a connection runs; returns what there is to say. Raises ``Failure``, ``LockHeld``."""
    with locked(bench, verb.value, lock_timeout, emit):
        snapshot = bench.load_state().snapshot
        connection = _connection(bench, snapshot, address)
        if connection is not None:
            session = bench.session(bench.installed.registry.provider_of[connection.type])
            if not isinstance(session, SteeringConnections):
                raise Failure(_does_not_run(verb, address))
            return session.steer_connection(verb, connection, cancel, progress)
        outcome = _steered(bench, snapshot, verb, address, progress, cancel)
    if isinstance(outcome, NotApplied):
        raise Failure(*outcome.diagnostics)
    return outcome.messages


def _steered(
    bench: Bench, snapshot: Snapshot, verb: Steer, address: str, progress: Callable[[str], None], cancel: threading.Event
) -> Outcome:
    record = recorded(snapshot, address)
    driver = bench.driver(record.provider, record.type)
    if not isinstance(driver, Steering):
        raise Failure(_does_not_run(verb, address))
    request = ApplyRequest(
        key=digest([snapshot.lineage, snapshot.serial, verb.value, address]),
        address=address,
        action=verb.value,
        planned=record.attributes,
        recorded=record.recorded(),
        payload=None,
        references=references_of(snapshot, record),
        cancel=cancel,
        progress=progress,
    )
    return driver.steer(verb, request)


def _connection(bench: Bench, snapshot: Snapshot, address: str) -> Resolved | None:
    """A connection as it was recorded with what uses it; None for what is not one, or is not in use."""
    if address in snapshot.resources:
        return None
    kind = bench.installed.registry.types.get(block_type(address))
    found = [record.resolved[address] for record in snapshot.resources.values() if address in record.resolved]
    if kind is None or kind.kind is not Kind.CONNECTION or not found:
        return None
    return Resolved(address=address, type=kind.name, attributes=found[-1])


def _does_not_run(verb: Steer, address: str) -> Diagnostic:
    return error("FIX021", f"{address} does not run", f"Only what runs can be asked to {verb.value}: jobs, and engines that jobs use.")
