"""The use cases of ``stop``, ``start`` and ``restart``: by hand, on the recorded definition, under the
lock.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from flareiac.app.plan import Reading, questions, streamed_from
from flareiac.app.state.lock import locked
from flareiac.app.state.recorded import connection_of, recorded
from flareiac.app.state.single_operation import LockedState, write_state
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.desired import Desired
from flareiac.model.events import Event
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot, after_maintenance
from flareiac.planning.make_plan import Inputs
from flareiac.planning.started_by_hand import needed_by, refused_starts
from flareiac.sdk.actions import Control, RunCommand
from flareiac.sdk.capabilities import ConnectionControl, RunControl, Starting
from flareiac.sdk.requests import ApplyRequest, Question, ReadRequest
from flareiac.sdk.resource_type import Kind
from flareiac.sdk.results import NotApplied, Outcome, Present


def steer(
    workspace: Workspace,
    verb: RunCommand,
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
    with locked(workspace, verb.value, lock_timeout, emit) as lease:
        loaded = workspace.load_state()
        snapshot = loaded.snapshot
        if snapshot.remark is not None and loaded.revision is not None:
            _note_remark(LockedState(workspace=workspace, lease=lease, loaded=loaded))
            snapshot = workspace.load_state().snapshot
        connection = connection_of(snapshot, address, workspace.installed.registry.types)
        if connection is not None:
            session = workspace.session(workspace.installed.registry.provider_of[connection.type])
            if not isinstance(session, ConnectionControl):
                raise Failure(_does_not_run(verb, address))
            users = [
                resource.address for resource in snapshot.resources.values() if address in resource.resolved
            ]
            prove(workspace, snapshot, verb, users, by_name=False)
            return session.steer_connection(verb, connection, cancel, progress)
        outcome = _steered(workspace, snapshot, verb, address, progress, cancel)
    if isinstance(outcome, NotApplied):
        raise Failure(*outcome.diagnostics)
    return outcome.messages


def _note_remark(state: LockedState) -> None:
    """Keeps why somebody stops or starts something. Plans that were made before stay good. The journal of an
    interrupted apply is kept instead, which a new snapshot would end.
    """
    if state.loaded.recovered.interrupted is None:
        following = replace(state.snapshot, serial=state.snapshot.serial + 1)
        write_state(state, after_maintenance(state.snapshot, following))


def _steered(
    workspace: Workspace,
    snapshot: Snapshot,
    verb: RunCommand,
    address: str,
    progress: Callable[[str], None],
    cancel: threading.Event,
) -> Outcome:
    record = recorded(snapshot, address)
    driver = workspace.driver(record.provider, record.type)
    if not isinstance(driver, RunControl):
        raise Failure(_does_not_run(verb, address))
    prove(workspace, snapshot, verb, [address], by_name=True)
    request = ApplyRequest(
        key=digest([snapshot.lineage, snapshot.serial, verb.value, address]),
        address=address,
        action=Control(command=verb, recorded=record.recorded()),
        references=recorded_references(snapshot, record),
        cancel=cancel,
        progress=progress,
    )
    return driver.steer(request)


def prove(
    workspace: Workspace, snapshot: Snapshot, verb: RunCommand, addresses: Sequence[str], *, by_name: bool
) -> None:
    """A start by hand proves what a plan proves of the same definitions. Raises ``Failure`` with what would
    block the plan.
    """
    if verb is RunCommand.STOP:
        return
    types = workspace.installed.registry.types
    drivers = {
        address: workspace.driver(snapshot.resources[address].provider, snapshot.resources[address].type)
        for address in addresses
    }
    able = {address: driver for address, driver in drivers.items() if isinstance(driver, Starting)}
    if not able:
        return
    desired = _with_data(workspace, needed_by(snapshot, types, frozenset(able)))
    managed = [address for address in desired.resources if address in snapshot.resources]
    observations = workspace.observe(
        questions(desired, snapshot, managed, Reading(cheap=False, streamed=streamed_from(desired, types)))
    )
    starting = {
        address: attributes
        for address, driver in able.items()
        if (
            attributes := driver.starting(
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
        project=workspace.project,
        time=time.time(),
    )
    refused = refused_starts(inputs, starting) if starting else ()
    if refused:
        raise Failure(*refused)


def _with_data(workspace: Workspace, desired: Desired) -> Desired:
    """With what can be read as a stream of the tables of others, or why that is not known."""
    resources, unread = dict(desired.resources), dict(desired.unread)
    references = {address: resource.resolved() for address, resource in resources.items()}
    for address, resource in desired.resources.items():
        if resource.kind is Kind.DATA:
            asked = ReadRequest(
                address=address,
                desired=resource.attributes,
                recorded=None,
                references=references,
                cheap=False,
                history=True,
            )
            provider = workspace.installed.registry.provider_of[resource.address.type]
            match workspace.read_data(Question(provider=provider, type=resource.address.type, request=asked)):
                case Present(history=history):
                    resources[address] = replace(resource, history=history)
                case Diagnostic() as why:
                    unread[address] = why
    return replace(desired, resources=resources, unread=unread)


def _does_not_run(verb: RunCommand, address: str) -> Diagnostic:
    return error(
        codes.DOES_NOT_RUN,
        f"{address} cannot be asked to {verb.value}. Only what runs can, or runs something.",
    )
