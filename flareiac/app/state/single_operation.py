"""An apply of one operation that no plan holds, such as a rollback: under the lock, with its intent in the
journal before anything is done.

An interrupted one is finished by the next apply; plans that were made before it are stale.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from flareiac.app.state.lock import locked
from flareiac.app.state_place.seen import Expected, note_seen
from flareiac.app.workspace import Workspace
from flareiac.applying.emergency_file import EmergencyFile, results_in_file
from flareiac.applying.state_writer import Recording
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.os_errors import first_step
from flareiac.model.events import Event
from flareiac.model.intents import stored_request
from flareiac.model.snapshot import ResourceRecord, Snapshot, with_names_in_use
from flareiac.sdk.actions import CustomAction, Revive
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, NotApplied, Outcome
from flareiac.sdk.state import Conflict, Damaged, Lease, LockLost
from flareiac.state.places import encode_state
from flareiac.state.read import Loaded

ActionT = TypeVar("ActionT", Revive, CustomAction)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedState:
    """The state while its lock is held, with no interrupted apply in its journal."""

    workspace: Workspace
    lease: Lease
    loaded: Loaded

    @property
    def snapshot(self) -> Snapshot:
        return self.loaded.snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedState:
    """The state while its lock is held, where what is stored cannot be understood."""

    workspace: Workspace
    lease: Lease
    problem: Damaged


@contextmanager
def locked_state(
    workspace: Workspace,
    command: str,
    timeout: float,
    emit: Callable[[Event], None],
) -> Iterator[LockedState]:
    """Holds the lock for a command that writes the state by itself. Raises ``LockHeld``, ``Failure``."""
    with locked(workspace, command, timeout, emit) as lease:
        yield _without_interrupted(workspace, lease, workspace.load_state())


@contextmanager
def locked_or_damaged(
    workspace: Workspace,
    command: str,
    timeout: float,
    emit: Callable[[Event], None],
    *,
    expected: Expected = Expected.SEEN,
) -> Iterator[LockedState | DamagedState]:
    """The same for a command that replaces the state, also a damaged one. Raises ``LockHeld``,
    ``Failure``.
    """
    with locked(workspace, command, timeout, emit) as lease:
        match workspace.load_or_damage(expected):
            case Damaged() as problem:
                yield DamagedState(workspace=workspace, lease=lease, problem=problem)
            case loaded:
                yield _without_interrupted(workspace, lease, loaded)


def _without_interrupted(workspace: Workspace, lease: Lease, loaded: Loaded) -> LockedState:
    """Raises ``Failure``."""
    if loaded.recovered.interrupted is not None:
        why = (
            "What it did is not known yet. Run flareiac apply first, which finds out, and then this command "
            "again."
        )
        raise Failure(error(codes.APPLY_INTERRUPTED, why))
    return LockedState(workspace=workspace, lease=lease, loaded=loaded)


def write_state(state: LockedState, after: Snapshot, *, serial: int | None = None) -> None:
    """Writes one snapshot, with the next serial unless one is given. Raises ``Failure``."""
    loaded = state.loaded
    following = replace(
        with_names_in_use(after), serial=state.snapshot.serial + 1 if serial is None else serial
    )
    reach("state.before-snapshot")
    with writing_state("Nothing was changed", state.workspace):
        state.workspace.store.write_snapshot(
            encode_state(following, loaded.root), expect=loaded.revision, lease=state.lease
        )
    reach("state.snapshot")
    note_seen(state.workspace.place, state.workspace.workspace, after.lineage)


def still_protected(after: Snapshot, now: Snapshot) -> Snapshot:
    """A whole state in place of another one: with the remark of this command, and without lifting the
    protection of the workspace.
    """
    applied = after.applied
    if now.applied is not None and now.applied.protected:
        applied = replace(now.applied if applied is None else applied, protected=True)
    return replace(after, remark=now.remark, applied=applied)


def replace_damaged(state: DamagedState, after: Snapshot) -> None:
    """Writes one snapshot in place of what cannot be read. Raises ``Failure``."""
    workspace = state.workspace
    reach("state.before-snapshot")
    with writing_state("Nothing was changed", workspace):
        workspace.store.replace_damaged(encode_state(after, str(workspace.root)), state.lease)
    reach("state.snapshot")
    note_seen(workspace.place, workspace.workspace, after.lineage)


def carry_out(
    state: LockedState,
    name: str,
    record: ResourceRecord,
    request: ApplyRequest[ActionT],
    work: Callable[[ApplyRequest[ActionT]], Outcome],
) -> Applied:
    """Journals the intent, does the work, records the result. Raises ``Failure`` where it was not done."""
    workspace, address, operation = state.workspace, record.address, f"{name}:{record.address}"
    recording = Recording(
        workspace.store,
        state.lease,
        state.loaded,
        str(uuid.uuid4()),
        clock=time.time,
        types=workspace.installed.registry.types,
    )
    with writing_state("Nothing was changed", workspace):
        workspace.store.check_writable(state.lease)
        recording.begin(f"{name} {address}")
        recording.arm(EmergencyFile(workspace.root, recording.apply_id, workspace.seal))
        recording.intend(operation, stored_request(request, record))
    outcome = work(request)
    with _writing_result(recording, workspace):
        if isinstance(outcome, NotApplied):
            recording.fail(operation, address, outcome.diagnostics[0].line, None)
        else:
            recording.succeed(
                operation, address, replace(record, attributes=outcome.attributes, identity=outcome.identity)
            )
        recording.finish(state.snapshot.outputs)
    if isinstance(outcome, NotApplied):
        raise Failure(*outcome.diagnostics)
    return outcome


@contextmanager
def _writing_result(recording: Recording, workspace: Workspace) -> Iterator[None]:
    """As ``writing_state``, for what has been done: the way out is the emergency file where there is one."""
    with writing_state("What was done is found out by the next apply", workspace):
        try:
            yield
        except (OSError, LockLost) as problem:
            if (file := recording.emergency_file) is None:
                raise
            raise Failure(results_in_file(file, problem)) from problem


@contextmanager
def writing_state(consequence: str, workspace: Workspace) -> Iterator[None]:
    """A state that cannot be written is a ``Failure`` that says what follows from it."""
    try:
        yield
    except (Conflict, LockLost) as problem:
        why = f"{problem}. {consequence}. Run the command again."
        raise Failure(error(codes.STATE_CHANGED_MEANWHILE, why)) from problem
    except OSError as failure:
        where = workspace.store.describe()
        why = f"{where}: {failure.strerror or failure}. {consequence}.{first_step(failure)}"
        raise Failure(error(codes.STATE_NOT_WRITTEN, why)) from failure
