"""The use cases of ``stop``, ``start`` and ``restart``: by hand, on the recorded definition, under the
lock.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from flareiac.app.bench import Bench
from flareiac.app.lock import locked
from flareiac.app.plan import questions, streamed_from
from flareiac.app.recorded import recorded
from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.desired import Desired
from flareiac.model.events import Event
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.planning.make_plan import Inputs
from flareiac.planning.started_by_hand import needed_by, refused_starts
from flareiac.sdk.capabilities import Starting, Steer, Steering, SteeringConnections
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ApplyRequest, Question, ReadRequest
from flareiac.sdk.resource_type import Kind
from flareiac.sdk.results import NotApplied, Outcome, Present


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
    """Stops, starts or restarts one resource, or what a connection runs; returns what there is to say. Raises
    ``Failure``, ``LockHeld``.
    """
    with locked(bench, verb.value, lock_timeout, emit):
        snapshot = bench.load_state().snapshot
        connection = _connection(bench, snapshot, address)
        if connection is not None:
            session = bench.session(bench.installed.registry.provider_of[connection.type])
            if not isinstance(session, SteeringConnections):
                raise Failure(_does_not_run(verb, address))
            users = [item.address for item in snapshot.resources.values() if address in item.resolved]
            prove(bench, snapshot, verb, users, by_name=False)
            return session.steer_connection(verb, connection, cancel, progress)
        outcome = _steered(bench, snapshot, verb, address, progress, cancel)
    if isinstance(outcome, NotApplied):
        raise Failure(*outcome.diagnostics)
    return outcome.messages


def _steered(
    bench: Bench,
    snapshot: Snapshot,
    verb: Steer,
    address: str,
    progress: Callable[[str], None],
    cancel: threading.Event,
) -> Outcome:
    record = recorded(snapshot, address)
    driver = bench.driver(record.provider, record.type)
    if not isinstance(driver, Steering):
        raise Failure(_does_not_run(verb, address))
    prove(bench, snapshot, verb, [address], by_name=True)
    request = ApplyRequest(
        key=digest([snapshot.lineage, snapshot.serial, verb.value, address]),
        address=address,
        action=verb.value,
        planned=record.attributes,
        recorded=record.recorded(),
        payload=None,
        references=recorded_references(snapshot, record),
        cancel=cancel,
        progress=progress,
    )
    return driver.steer(verb, request)


def prove(bench: Bench, snapshot: Snapshot, verb: Steer, addresses: Sequence[str], *, by_name: bool) -> None:
    """A start by hand proves what a plan proves of the same definitions. Raises ``Failure`` with what would
    block the plan.
    """
    if verb is Steer.STOP:
        return
    types = bench.installed.registry.types
    drivers = {
        address: bench.driver(snapshot.resources[address].provider, snapshot.resources[address].type)
        for address in addresses
    }
    able = {address: driver for address, driver in drivers.items() if isinstance(driver, Starting)}
    if not able:
        return
    desired = _with_data(bench, needed_by(snapshot, types, frozenset(able)))
    managed = [address for address in desired.resources if address in snapshot.resources]
    observations = bench.observe(
        questions(desired, snapshot, managed, streamed_from(desired, types), cheap=False)
    )
    starting = {
        address: found
        for address, driver in able.items()
        if (
            found := driver.starting(
                snapshot.resources[address].recorded(), observations[address], by_name=by_name
            )
        )
        is not None
    }
    inputs = Inputs(
        desired=desired,
        snapshot=snapshot,
        observations=observations,
        types=types,
        project=bench.project,
        time=time.time(),
    )
    refused = refused_starts(inputs, starting) if starting else ()
    if refused:
        raise Failure(*refused)


def _with_data(bench: Bench, desired: Desired) -> Desired:
    """With what can be read as a stream of the tables of others, or why that is not known."""
    resources, unread = dict(desired.resources), dict(desired.unread)
    references = {address: item.resolved() for address, item in resources.items()}
    for address, item in desired.resources.items():
        if item.kind is Kind.DATA:
            asked = ReadRequest(
                address=address,
                desired=item.attributes,
                recorded=None,
                references=references,
                cheap=False,
                history=True,
            )
            provider = bench.installed.registry.provider_of[item.address.type]
            match bench.read_data(Question(provider=provider, type=item.address.type, request=asked)):
                case Present(history=history):
                    resources[address] = replace(item, history=history)
                case Diagnostic() as why:
                    unread[address] = why
    return replace(desired, resources=resources, unread=unread)


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
    return error(
        codes.DOES_NOT_RUN,
        f"{address} cannot be asked to {verb.value}. Only what runs can: jobs, and engines that jobs use.",
    )
