"""The use cases of ``state mv`` and ``state rm``: what is recorded gets another address, or is forgotten. The
resources themselves stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from flareiac.app.state.recorded import addresses, recorded
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
    workspace: Workspace,
    old: str,
    new: str,
    *,
    dry_run: bool,
    lock_timeout: float,
    emit: Callable[[Event], None],
) -> list[str]:
    """Records ``old`` as ``new``, or all that a glob names; returns what there is to say. ``dry_run``: says
    what it would do. Raises ``Failure`` or ``LockHeld``.
    """
    with locked_state(workspace, "state mv", lock_timeout, emit) as state:
        snapshot = state.snapshot
        moves = _moves(snapshot, old, new)
        for before, after in moves.items():
            _check_move(snapshot, before, after, moves)
        if not dry_run:
            types = workspace.installed.registry.types
            write_state(state, moved(snapshot, moves, workspace.driver, types))
    becomes = "would be recorded" if dry_run else "is recorded"
    said = [f"{before} {becomes} as {after}." for before, after in moves.items()]
    if not dry_run:
        said[-1] += f" {_next_plan(next(iter(moves.values())), len(moves))}"
    return said


def _moves(snapshot: Snapshot, old: str, new: str) -> dict[str, str]:
    """The new addresses by the old ones. A ``*`` stands for the same text in both. Raises ``Failure``."""
    if "*" not in old and "*" not in new:
        before = str(_address(old))
        recorded(snapshot, before)
        return {before: str(_address(new))}
    if (old.count("*"), new.count("*")) != (1, 1):
        why = (
            f"A glob moves to a glob, and both have one * that stands for the same text: {old} and {new} do "
            "not. Nothing was changed."
        )
        raise Failure(error(codes.INVALID_ADDRESS, why))
    head, tail = old.split("*")
    named = {
        address: address[len(head) : len(address) - len(tail)]
        for address in sorted(snapshot.resources)
        if address.startswith(head) and address.endswith(tail) and len(address) >= len(head + tail)
    }
    if not named:
        why = f"The state holds nothing that {old} names. flareiac state list shows what it holds."
        raise Failure(error(codes.NOT_IN_STATE, why))
    return {address: str(_address(new.replace("*", part))) for address, part in named.items()}


def _check_move(snapshot: Snapshot, old: str, new: str, moves: Mapping[str, str]) -> None:
    """Raises ``Failure`` where a resource cannot get an address."""
    before, after = _address(old), _address(new)
    if before.type != after.type:
        is_now, would_be = with_article(before.type), with_article(after.type)
        why = f"{old} is {is_now} and {new} would be {would_be}. Nothing was changed."
        raise Failure(error(codes.CANNOT_BE_MOVED, why))
    if new in snapshot.resources and (new == old or new not in moves):
        why = f"The state holds {new} already. Nothing was changed."
        raise Failure(error(codes.CANNOT_BE_MOVED, why))


def remove(
    workspace: Workspace,
    wanted: Sequence[str],
    *,
    dry_run: bool,
    lock_timeout: float,
    emit: Callable[[Event], None],
) -> list[str]:
    """Forgets recorded resources, or gives up dropped ones; returns what there is to say. ``dry_run``: says
    what it would do. Raises ``Failure`` or ``LockHeld``.
    """
    with locked_state(workspace, "state rm", lock_timeout, emit) as state:
        named = _named(state.snapshot, wanted)
        records = [
            state.snapshot.resources[address] for address in named if address in state.snapshot.resources
        ]
        after, said = state.snapshot, []
        for address in named:
            if address not in state.snapshot.resources:
                after, line = give_up(workspace, after, address)
                said.append(line)
        _refuse_dependents(after, frozenset(record.address for record in records))
        for record in records:
            after = _without(after, record, workspace.installed.registry.types)
            said.append(f"{record.address} is no longer in the state. {_stays(record)}")
        if dry_run:
            return [f"{address} would leave the state." for address in named]
        _detach(workspace, records)
        write_state(state, after)
    return said


def _named(snapshot: Snapshot, wanted: Sequence[str]) -> list[str]:
    """The recorded addresses that are named: each itself, all of a block or module, or by a glob. What names
    none may have been dropped. Raises ``Failure`` for a glob that names none.
    """
    named: dict[str, None] = {}
    for each in wanted:
        several = [each] if each in snapshot.resources else addresses(snapshot, [each])
        if not several and "*" in each:
            why = f"The state holds nothing that {each} names. flareiac state list shows what it holds."
            raise Failure(error(codes.NOT_IN_STATE, why))
        named.update(dict.fromkeys(several or [each]))
    return list(named)


def _address(text: str) -> Address:
    address = parse_address(text)
    if address is None:
        why = (
            f"{text!r} is no address of a resource: TYPE.NAME, or module.NAME.TYPE.NAME, with its key in "
            "brackets where it has one. Nothing was changed."
        )
        raise Failure(error(codes.INVALID_ADDRESS, why))
    return address


def _next_plan(new: str, number: int) -> str:
    if number > 1:
        return "Rename their blocks and run flareiac plan, which shows what differs."
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
