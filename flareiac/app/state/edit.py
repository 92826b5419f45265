"""The use cases of ``state mv`` and ``state rm``: what is recorded gets another address, or is forgotten. The
resources themselves stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from flareiac.app.state.recorded import recorded
from flareiac.app.state.single_operation import locked_state, write_state
from flareiac.app.state.undrop import give_up
from flareiac.app.workspace import Workspace
from flareiac.applying.moves import moved
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, parse_address
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Failure, error
from flareiac.model.events import Event
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.capabilities import Detachable
from flareiac.sdk.resource_type import ResourceType


def move(
    workspace: Workspace, old: str, new: str, *, lock_timeout: float, emit: Callable[[Event], None]
) -> str:
    """Records ``old`` as ``new``; returns what there is to say. Raises ``Failure`` or ``LockHeld``."""
    before, after = _address(old), _address(new)
    if before.type != after.type:
        is_now, would_be = with_article(before.type), with_article(after.type)
        why = f"{old} is {is_now} and {new} would be {would_be}. Nothing was changed."
        raise Failure(error(codes.CANNOT_BE_MOVED, why))
    with locked_state(workspace, "state mv", lock_timeout, emit) as state:
        snapshot = state.snapshot
        recorded(snapshot, str(before))
        if str(after) in snapshot.resources:
            why = f"The state holds {new} already. Nothing was changed."
            raise Failure(error(codes.CANNOT_BE_MOVED, why))
        types = workspace.installed.registry.types
        write_state(state, moved(snapshot, {str(before): str(after)}, workspace.driver, types))
    return f"{old} is recorded as {new}. {_next_plan(new)}"


def remove(
    workspace: Workspace, wanted: Sequence[str], *, lock_timeout: float, emit: Callable[[Event], None]
) -> list[str]:
    """Forgets recorded resources, or gives up dropped ones; returns what there is to say. Raises ``Failure``
    or ``LockHeld``.
    """
    with locked_state(workspace, "state rm", lock_timeout, emit) as state:
        addresses = list(dict.fromkeys(wanted))
        records = [
            state.snapshot.resources[address] for address in addresses if address in state.snapshot.resources
        ]
        after, said = state.snapshot, []
        for address in addresses:
            if address not in state.snapshot.resources:
                after, line = give_up(workspace, after, address)
                said.append(line)
        _refuse_dependents(after, frozenset(record.address for record in records))
        for record in records:
            after = _without(after, record, workspace.installed.registry.types)
            said.append(f"{record.address} is no longer in the state. {_stays(record)}")
        _detach(workspace, records)
        write_state(state, after)
    return said


def _address(text: str) -> Address:
    address = parse_address(text)
    if address is None:
        why = (
            f"{text!r} is no address of a resource: TYPE.NAME, or module.NAME.TYPE.NAME, with its key in "
            "brackets where it has one. Nothing was changed."
        )
        raise Failure(error(codes.INVALID_ADDRESS, why))
    return address


def _next_plan(new: str) -> str:
    return f"Rename its block (or write a block for {new}) and run flareiac plan, which shows what differs."


def _stays(record: ResourceRecord) -> str:
    return (
        f"It stays as it is. While its block is there, the next plan finds it and does not own it: remove "
        f"the block, or import {record.address} again."
    )


def _refuse_dependents(snapshot: Snapshot, removed: frozenset[str]) -> None:
    """Raises ``Failure`` where others that stay in the state refer to what is removed."""
    for record in snapshot.resources.values():
        needed = sorted(removed.intersection(record.dependencies))
        if needed and record.address not in removed:
            why = (
                f"{record.address} refers to {', '.join(needed)}, and is in the state. Nothing was changed. "
                f"Name {record.address} too, or apply a configuration without it first."
            )
            raise Failure(error(codes.STILL_REFERRED_TO, why))


def _without(snapshot: Snapshot, record: ResourceRecord, types: Mapping[str, ResourceType]) -> Snapshot:
    """The state without a resource; the one that goes on holding for it remembers it."""
    resources = {
        address: resource for address, resource in snapshot.resources.items() if address != record.address
    }
    kind = types.get(record.type)
    keeper = resources.get(kind.recording.kept_by(record.attributes) or "") if kind is not None else None
    if keeper is not None:
        resources[keeper.address] = replace(keeper, user=record)
    return replace(snapshot, resources=resources)


def _detach(workspace: Workspace, records: Sequence[ResourceRecord]) -> None:
    """Has what runs under the addresses of records forget them. Raises ``Failure`` where one is at work."""
    drivers = [(record, workspace.driver(record.provider, record.type)) for record in records]
    able = [(record, driver) for record, driver in drivers if isinstance(driver, Detachable)]
    for record, driver in able:
        if (reason := driver.at_work(record.address, record.recorded())) is not None:
            why = (
                f"{record.address} cannot leave the state while it works: {reason}. Nothing was changed. "
                f"Run flareiac stop {record.address} first, and then this command again."
            )
            raise Failure(error(codes.STILL_AT_WORK, why, address=record.address))
    for record, driver in able:
        driver.detach(record.address, record.recorded())
