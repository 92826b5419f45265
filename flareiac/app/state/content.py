"""The use cases of ``state pull`` and ``state push``: the whole state as a document."""

from collections.abc import Callable
from dataclasses import replace

from flareiac.app.misshapen_parts import what_is_misshapen
from flareiac.app.state.history import kept_of_damaged, serial_after
from flareiac.app.state.single_operation import (
    DamagedState,
    LockedState,
    locked_or_damaged,
    replace_damaged,
    still_protected,
    write_state,
)
from flareiac.app.state_place.seen import Expected
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.events import Event
from flareiac.model.snapshot import Snapshot, encode_snapshot
from flareiac.sdk.state import Damaged, WrittenByNewer
from flareiac.state.places import encode_state
from flareiac.state.read import Loaded, decode_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """The state as it is stored, unencrypted, with the journal replayed; empty where there is none.
    ``interrupted``: an apply has begun and not ended, so that some of what it did is not in it.
    """

    content: bytes
    interrupted: bool


def pull(workspace: Workspace) -> Pulled:
    """Reads the state. Raises ``Failure``."""
    loaded = workspace.load_state(even_moved=True)
    content = encode_state(loaded.snapshot, loaded.root) if _is_there(loaded) else b""
    return Pulled(content=content, interrupted=loaded.recovered.interrupted is not None)


def push(
    workspace: Workspace,
    content: bytes,
    name: str,
    *,
    force: bool,
    lock_timeout: float,
    emit: Callable[[Event], None],
) -> str:
    """Makes a document the state, unless it does not follow what is there; returns what there is to say.

    ``force``: it replaces what is there whatever that is. Raises ``Failure`` or ``LockHeld``.
    """
    pushed = _pushed(workspace, content, name)
    expected = Expected.ANY if force else Expected.SEEN_OR_GONE
    with locked_or_damaged(workspace, "state push", lock_timeout, emit, expected=expected) as state:
        if isinstance(state, DamagedState):
            return _healed(state, pushed, force=force)
        current = state.snapshot
        if _is_there(state.loaded):
            if not force and encode_snapshot(pushed) == encode_snapshot(current):
                return f"The state is the same already (serial {current.serial})."
            if (refused := _refusal(current, pushed)) is not None and not force:
                raise Failure(refused)
            return _written(state, pushed, followed=refused is None)
        write_state(state, still_protected(pushed, state.snapshot), serial=pushed.serial)
    return f"The state is what {name} holds (serial {pushed.serial})."


def _written(state: LockedState, pushed: Snapshot, *, followed: bool) -> str:
    """Every write raises the serial, so that plans that were made before it are stale."""
    serial = pushed.serial if followed else max(pushed.serial, state.snapshot.serial + 1)
    write_state(state, still_protected(pushed, state.snapshot), serial=serial)
    return (
        f"The state was replaced (serial {serial}). The one before is kept: flareiac state history shows it."
    )


def _healed(state: DamagedState, pushed: Snapshot, *, force: bool) -> str:
    if not force:
        why = (
            f"{state.problem}. It is unknown whether the file follows it. Nothing was changed. With -force "
            "it replaces the state that is here."
        )
        raise Failure(error(codes.CANNOT_BE_PUSHED, why))
    serial = max(pushed.serial, serial_after(kept_of_damaged(state.workspace)))
    replace_damaged(state, replace(pushed, serial=serial))
    return f"The state, which could not be read, was replaced (serial {serial})."


def _is_there(loaded: Loaded) -> bool:
    return loaded.revision is not None or loaded.recovered.entries > 0


def _pushed(workspace: Workspace, content: bytes, name: str) -> Snapshot:
    try:
        pushed = decode_state(content, name, str(workspace.root), workspace.installed.registry.types)
    except WrittenByNewer as newer:
        why = f"{newer.why}. Nothing was changed. {newer.way_out}"
        raise Failure(_not_a_state(name, why)) from newer
    except Damaged as problem:
        raise Failure(_not_a_state(name, f"{problem.why}. {_NO_STATE}")) from problem
    if why := what_is_misshapen(pushed, workspace.installed.registry):
        raise Failure(_not_a_state(name, f"{why}. {_NO_STATE}"))
    return pushed


_NO_STATE = (
    "Nothing was changed. Push what flareiac state pull has printed; where it was edited on purpose, remove "
    '"digest" from it and raise "serial".'
)


def _not_a_state(name: str, why: str) -> Diagnostic:
    return error(codes.NOT_A_STATE_FILE, f"{name}: {why}")


def _refusal(current: Snapshot, pushed: Snapshot) -> Diagnostic | None:
    """Returns the reason why a state does not follow the current one; None where it does."""
    if pushed.lineage != current.lineage:
        why = (
            f"It belongs to another state: its lineage is {pushed.lineage}, and the one here is "
            f"{current.lineage}. Push it where it comes from. With -force it replaces the state that is here."
        )
    elif pushed.serial < current.serial:
        why = (
            f"It is older: its serial is {pushed.serial}, and the state here has {current.serial}. Pull the "
            "state and edit that; or go back with flareiac state rollback. With -force it replaces the state "
            "that is here."
        )
    elif pushed.serial == current.serial:
        why = (
            f"It has the serial of the state here, {current.serial}, and another content. Raise "
            '"serial" in what you have edited.'
        )
    else:
        return None
    return error(codes.CANNOT_BE_PUSHED, f"{why} Nothing was changed.")
