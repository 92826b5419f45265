"""The use cases of ``workspace``: the states that one place keeps apart. Touches the place and
``.flareiac/workspace``.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from flareiac.app.protection import refuse_deletion
from flareiac.app.state.lock import locked
from flareiac.app.state_place.backend_record import read_record, write_record
from flareiac.app.state_place.seen import no_such_workspace
from flareiac.app.state_place.selection import DEFAULT, VARIABLE, Selection, checked_name, choose, selection
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.events import Event
from flareiac.model.snapshot import new_snapshot
from flareiac.sdk.state import Conflict
from flareiac.state.places import encode_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspaces:
    """All workspaces, sorted, and the one at work; ``exists``: whether that one was ever made."""

    names: Sequence[str]
    selected: Selection

    @property
    def exists(self) -> bool:
        return self.selected.name in self.names


def workspaces(workspace: Workspace) -> Workspaces:
    """The workspaces of a project. Raises ``Failure``."""
    names = sorted({DEFAULT, *workspace.workspaces()})
    return Workspaces(names=names, selected=selection(workspace.root, os.environ))


def make(workspace: Workspace, name: str, *, timeout: float, emit: Callable[[Event], None]) -> None:
    """Makes a workspace with an empty state. Raises ``Failure`` where it exists, or ``LockHeld``."""
    checked_name(name)
    made = Workspace(root=workspace.root, workspace=name)
    if name in workspaces(workspace).names:
        raise _exists(name)
    with locked(made, "workspace new", timeout, emit, new=True) as lease:
        try:
            content = encode_state(new_snapshot(), str(workspace.root))
            made.store.write_snapshot(content, expect=None, lease=lease)
        except Conflict as problem:
            raise _exists(name) from problem
    _forget(workspace.root, name)


def select(workspace: Workspace, name: str) -> None:
    """Makes a workspace the one to work in. Raises ``Failure`` where there is none of that name."""
    checked_name(name)
    _refuse_variable(name)
    if name not in workspaces(workspace).names:
        raise no_such_workspace(workspace.place, name)
    choose(workspace.root, name)


def delete(workspace: Workspace, name: str, *, force: bool) -> int:
    """Deletes a workspace with its history; returns how many resources it still recorded. Raises ``Failure``
    where it is in use, or ``LockHeld``.
    """
    checked_name(name)
    known = workspaces(workspace)
    if name == DEFAULT:
        raise _kept("The workspace default is always there. flareiac destroy empties it.")
    if name == known.selected.name:
        other = f"Unset {VARIABLE}" if known.selected.by_variable else "Run flareiac workspace select default"
        raise _kept(f"{name} is the workspace at work. {other} first.")
    if name not in known.names:
        raise no_such_workspace(workspace.place, name)
    doomed = Workspace(root=workspace.root, workspace=name)
    snapshot = doomed.load_state(even_moved=True).snapshot if not force or _readable(doomed) else None
    refuse_deletion(workspace.root, name, snapshot)
    count = 0 if snapshot is None else len(snapshot.resources)
    if count and not force:
        raise _kept(
            f"{name} still manages {count} {'resource' if count == 1 else 'resources'}, which nothing would "
            f"know of any more. Run {VARIABLE}={name} flareiac destroy first; -force deletes the state alone "
            "and leaves them as they are."
        )
    workspace.delete_state(name)
    _forget(workspace.root, name)
    return count


def _readable(doomed: Workspace) -> bool:
    """Returns True if a state can be read; a damaged one is deleted only by force."""
    try:
        doomed.load_state(even_moved=True)
    except Failure:
        return False
    return True


def _forget(root: Path, name: str) -> None:
    """A workspace that was deleted, or made again, is not missed."""
    record = read_record(root)
    if record is not None and name in record.lineages:
        left = {key: value for key, value in record.lineages.items() if key != name}
        with suppress(OSError):
            write_record(root, replace(record, lineages=left))


def _refuse_variable(name: str) -> None:
    named = os.environ.get(VARIABLE)
    if named:
        raise Failure(
            error(
                codes.WORKSPACE_BY_VARIABLE,
                f"{VARIABLE}={named} wins over what is selected, so selecting {name} would have no effect. "
                "Unset it first.",
            )
        )


def _exists(name: str) -> Failure:
    why = f"There is a workspace {name} already. To work in it: flareiac workspace select {name}."
    return Failure(error(codes.WORKSPACE_EXISTS, why))


def _kept(why: str) -> Failure:
    return Failure(error(codes.WORKSPACE_KEPT, why))
