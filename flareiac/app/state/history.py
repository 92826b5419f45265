"""The use cases of ``state history`` and ``state rollback``: earlier snapshots, and going back to one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from flareiac.app.state.single_operation import (
    DamagedState,
    locked_or_damaged,
    replace_damaged,
    still_protected,
    write_state,
)
from flareiac.app.workspace import Workspace, state_errors
from flareiac.kernel import codes
from flareiac.kernel.data import read_json
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.records import decode
from flareiac.model.events import Event
from flareiac.model.history import Difference, Earlier, difference
from flareiac.model.remark import Remark
from flareiac.model.snapshot import Snapshot
from flareiac.model.upgrades import AS_STORED
from flareiac.sdk.state import Damaged, Kept
from flareiac.state.cipher import PassphraseMissing
from flareiac.state.read import decode_state

WITHOUT_JOURNAL: Final = "snapshot"
"""The name of the snapshot that is in place, where it can be read and the journal after it cannot."""


def history(workspace: Workspace) -> tuple[Snapshot | Damaged, tuple[Earlier, ...]]:
    """The state as it is, or what is wrong with it, and what can be recorded again, newest first. Raises
    ``Failure``.
    """
    match workspace.load_or_damage():
        case Damaged() as problem:
            return problem, kept_of_damaged(workspace)
        case loaded:
            return loaded.snapshot, _kept(workspace)


def serial_after(kept: Sequence[Earlier]) -> int:
    """A serial for what replaces a damaged state: above that which it had, as far as that is known, so
    that plans that were made with it are stale.
    """
    return 2 + max((earlier.serial for earlier in kept if earlier.serial is not None), default=0)


def rollback(
    workspace: Workspace,
    wanted: str,
    *,
    approve: Callable[[Earlier, Difference | Damaged], bool],
    lock_timeout: float,
    emit: Callable[[Event], None],
) -> int | None:
    """Records what an earlier snapshot holds, under a new serial, which it returns; None where that was not
    approved. Raises ``Failure`` or ``LockHeld``.
    """
    with locked_or_damaged(workspace, "state rollback", lock_timeout, emit) as state:
        if isinstance(state, DamagedState):
            return _heal(state, wanted, approve)
        chosen = _chosen(workspace, wanted, _kept(workspace))
        before = _read(workspace, chosen.name)
        if before.lineage != state.snapshot.lineage:
            why = (
                f"{chosen.name} belongs to the state {before.lineage}, and this one is "
                f"{state.snapshot.lineage}: it was replaced as a whole since. Nothing was changed."
            )
            raise Failure(error(codes.NO_SUCH_HISTORY, why))
        if not approve(chosen, difference(state.snapshot, before)):
            return None
        serial = state.snapshot.serial + 1
        write_state(state, still_protected(before, state.snapshot), serial=serial)
    return serial


def _heal(
    state: DamagedState, wanted: str, approve: Callable[[Earlier, Difference | Damaged], bool]
) -> int | None:
    workspace = state.workspace
    kept = kept_of_damaged(workspace)
    chosen = _chosen(workspace, wanted, kept)
    before = _read(workspace, chosen.name)
    if not approve(chosen, state.problem):
        return None
    serial = serial_after(kept)
    replace_damaged(state, replace(before, serial=serial))
    return serial


def kept_of_damaged(workspace: Workspace) -> tuple[Earlier, ...]:
    """Returns the snapshots that can be recorded again where the state cannot be read: the one in place, if
    only the journal is damaged, and those before it. Raises ``Failure``.
    """
    with state_errors(workspace):
        return (*_in_place(workspace), *_kept(workspace))


def _in_place(workspace: Workspace) -> Iterator[Earlier]:
    with suppress(Damaged, PassphraseMissing):
        stored = workspace.store.read_snapshot()
        if stored is not None:
            there = decode_state(stored.content, WITHOUT_JOURNAL, str(workspace.root), AS_STORED)
            yield Earlier(
                name=WITHOUT_JOURNAL,
                written=None,
                size=len(stored.content),
                serial=there.serial,
                resources=len(there.resources),
            )


def _kept(workspace: Workspace) -> tuple[Earlier, ...]:
    with state_errors(workspace):
        return tuple(_with_figures(workspace, earlier) for earlier in workspace.store.history())


def _with_figures(workspace: Workspace, kept: Kept) -> Earlier:
    """Adds serial and number of resources; a snapshot that is damaged, or that no configured passphrase
    decrypts, is listed without them.
    """
    shown = Earlier(name=kept.name, written=kept.written, size=kept.size, serial=None, resources=None)
    try:
        document = read_json(workspace.store.read_history(kept.name))
        remark = document.get("remark")
        return replace(
            shown,
            serial=int(document["serial"]),
            resources=len(document["resources"]),
            remark="" if remark is None else decode(Remark, remark, lenient=True).text,
        )
    except PassphraseMissing:
        return replace(shown, encrypted=True)
    except (KeyError, ValueError, TypeError, Damaged):
        return shown


def _chosen(workspace: Workspace, wanted: str, kept: tuple[Earlier, ...]) -> Earlier:
    """By its name, or the newest with this serial. Raises ``Failure``."""
    named = [earlier for earlier in kept if wanted in (earlier.name, str(earlier.serial))]
    if named:
        return named[0]
    encrypted = [earlier for earlier in kept if earlier.encrypted]
    if encrypted and wanted.isdecimal():
        _refuse_encrypted(workspace, wanted, encrypted[0])
    raise Failure(_unknown(wanted, kept))


def _refuse_encrypted(workspace: Workspace, serial: str, encrypted: Earlier) -> None:
    """Raises ``PassphraseMissing``: the state with this serial may be among those that are encrypted."""
    try:
        _read(workspace, encrypted.name)
    except PassphraseMissing as problem:
        place = workspace.store.describe()
        where = f"No earlier state that can be read has the serial {serial}: another one in {place}"
        raise problem.at(where) from problem


def _unknown(wanted: str, kept: tuple[Earlier, ...]) -> Diagnostic:
    serials = ", ".join(str(earlier.serial) for earlier in kept if earlier.serial is not None)
    known = f"the serials {serials} are" if serials else "nothing is"
    why = f"No earlier state is called {wanted}: {known} kept. flareiac state history shows them. Nothing"
    return error(codes.NO_SUCH_HISTORY, f"{why} was changed.")


def _read(workspace: Workspace, name: str) -> Snapshot:
    try:
        with state_errors(workspace):
            if name == WITHOUT_JOURNAL and (stored := workspace.store.read_snapshot()) is not None:
                content = stored.content
            else:
                content = workspace.store.read_history(name)
            return decode_state(content, name, str(workspace.root), workspace.installed.registry.types)
    except KeyError as gone:
        why = f"{name} is no longer kept. flareiac state history shows what is. Nothing was changed."
        raise Failure(error(codes.NO_SUCH_HISTORY, why)) from gone
