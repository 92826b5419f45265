"""The use case of ``undrop``: what was deleted, and is still known to the state, is brought back, or is given
up.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from flareiac.app.state.single_operation import carry_out, locked_state
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.addresses import parse_address
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure, did_you_mean, error
from flareiac.model.events import Event
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import ResourceRecord, Snapshot, without_dropped
from flareiac.sdk.actions import Revive
from flareiac.sdk.capabilities import Undroppable
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ApplyRequest, ReadRequest
from flareiac.sdk.results import Missing, Unreadable
from flareiac.sdk.type_roles import Remains


def undrop(
    workspace: Workspace,
    wanted: str,
    *,
    lock_timeout: float,
    emit: Callable[[Event], None],
    progress: Callable[[str], None],
) -> tuple[str, ...]:
    """Brings back ``ADDRESS``, or ``ADDRESS@UUID`` for an earlier one; returns what there is to say. Raises
    ``Failure`` or ``LockHeld``.

    The intent is in the journal before any catalog is touched, so that the next apply finds out how an
    interrupted one ended.
    """
    with locked_state(workspace, "undrop", lock_timeout, emit) as state:
        snapshot = state.snapshot
        workspace.recover(snapshot)
        record = _chosen(workspace, snapshot, wanted)
        driver = _reviving(workspace, record)
        address = record.address
        then = recorded_references(snapshot, record)
        request = ApplyRequest(
            key=f"{snapshot.lineage}/{snapshot.serial}/undrop/{address}",
            address=address,
            action=Revive(
                recorded=record.recorded(),
                then={address: resolved.attributes for address, resolved in then.items()},
            ),
            references={**then, **_now(workspace, snapshot, then)},
            cancel=threading.Event(),
            progress=progress,
        )
        messages = carry_out(state, "undrop", record, request, driver.revive).messages
    others = [
        dropped for dropped in snapshot.dropped if dropped.address == address and not dropped.is_same(record)
    ]
    return (*messages, *(_other(other, _remains(workspace, other)) for other in others))


def give_up(workspace: Workspace, snapshot: Snapshot, wanted: str) -> tuple[Snapshot, str]:
    """The state without a dropped resource, and what there is to say. Raises ``Failure``."""
    known = snapshot.dropped_by_name()
    record = known.get(wanted) or next(
        (dropped for dropped in snapshot.dropped if dropped.exact_name == wanted), None
    )
    if record is None:
        raise Failure(_not_known(wanted, snapshot, known))
    left = _remains(workspace, record)
    trace = f"; {left.trace}" if left.trace else ""
    after = replace(snapshot, dropped=without_dropped(snapshot.dropped, record))
    return after, f"{wanted} is given up{trace}. {left.fate}".rstrip()


def _not_known(wanted: str, snapshot: Snapshot, known: Collection[str]) -> Diagnostic:
    hint = did_you_mean(wanted, {*snapshot.resources, *known})
    dropped = f" of dropped resources, it keeps {', '.join(known)};" if known else ""
    why = (
        f"The state holds no {wanted};{dropped} flareiac state list shows what it holds.{hint} Nothing was "
        "changed."
    )
    return error(codes.NOT_KNOWN_AS_DROPPED, why)


def _chosen(workspace: Workspace, snapshot: Snapshot, wanted: str) -> ResourceRecord:
    """Returns the dropped resource that the user means: the newest of that address that is gone, which is the
    recorded one if it is gone unnoticed. Raises ``Failure``.
    """
    address, uuid = _parts(wanted)
    here = snapshot.resources.get(address)
    gone = [record for record in snapshot.dropped if record.address == address]
    if here is not None:
        _reviving(workspace, here)
        if not _is_gone(workspace, snapshot, here):
            raise Failure(_there(address, gone))
        gone.append(here)
    chosen = [record for record in gone if not uuid or record.uuid == uuid]
    if not chosen:
        raise Failure(_unknown(wanted, [*snapshot.dropped, *gone], _keeper(snapshot, address)))
    return chosen[-1]


def _parts(wanted: str) -> tuple[str, str]:
    """The address and the uuid, or no text; an ``@`` in the key of an instance is a part of the address."""
    address, _, uuid = wanted.rpartition("@")
    return (wanted, "") if not address or "]" in uuid or '"' in uuid else (address, uuid)


def _reviving(workspace: Workspace, record: ResourceRecord) -> Undroppable:
    driver = workspace.driver(record.provider, record.type)
    if not isinstance(driver, Undroppable):
        why = f"{record.address} cannot be brought back: what is deleted of the type {record.type} is gone."
        raise Failure(error(codes.CANNOT_BE_REVIVED, why))
    return driver


def _is_gone(workspace: Workspace, snapshot: Snapshot, record: ResourceRecord) -> bool:
    asked = ReadRequest(
        address=record.address,
        desired=None,
        recorded=record.recorded(),
        references=recorded_references(snapshot, record),
    )
    match workspace.driver(record.provider, record.type).read(asked):
        case Unreadable(diagnostic=diagnostic):
            raise Failure(diagnostic)
        case observation:
            return isinstance(observation, Missing)


def _now(workspace: Workspace, snapshot: Snapshot, then: Mapping[str, Resolved]) -> dict[str, Resolved]:
    """The same as the configuration declares it by now: a catalog may have got another token since. One with
    errors tells nothing.
    """
    diagnostics = Diagnostics()
    try:
        declared = workspace.load_configuration(snapshot, diagnostics).desired.resources
    except Failure:
        return {}
    return (
        {}
        if diagnostics.has_errors
        else {address: declared[address].resolved() for address in then if address in declared}
    )


def _keeper(snapshot: Snapshot, address: str) -> str | None:
    """The address of the resource that keeps the last definition of one that has left the state."""
    return next(
        (
            keeper
            for keeper, resource in snapshot.resources.items()
            if resource.user is not None and resource.user.address == address
        ),
        None,
    )


def _unknown(wanted: str, gone: Sequence[ResourceRecord], keeper: str | None) -> Diagnostic:
    if keeper is not None:
        why = (
            f"{wanted} needs no undrop: {keeper} keeps its last definition and where it stood. Put its block "
            "back and apply: it goes on from there."
        )
        return error(codes.NOT_KNOWN_AS_DROPPED, why)
    same = (record.exact_name for record in gone if record.address == _parts(wanted)[0])
    names = list(dict.fromkeys([*(record.address for record in gone), *same]))
    address = parse_address(_parts(wanted)[0])
    purged = f" A purged {address.type} is gone for good." if address else ""
    return error(codes.NOT_KNOWN_AS_DROPPED, f"{_known_as(wanted, names)}{purged}")


def _known_as(wanted: str, known: Collection[str]) -> str:
    others = (
        f"what it keeps of dropped resources: {', '.join(known)}"
        if known
        else "it keeps nothing of dropped resources"
    )
    return f"The state has no dropped {wanted}; {others}.{did_you_mean(wanted, known)}"


def _there(address: str, gone: Sequence[ResourceRecord]) -> Diagnostic:
    way = (
        f" An earlier one is known: once {address} is dropped, flareiac undrop {gone[-1].exact_name} "
        "brings it back."
        if gone
        else ""
    )
    return error(
        codes.NOT_DROPPED,
        f"{address} is recorded in the state, and it exists. Nothing was changed.{way}",
        address=address,
    )


def _other(resource_record: ResourceRecord, left: Remains) -> str:
    """Describes another resource that had the address, for a user who meant that one."""
    return f"dropped earlier and still known: {resource_record.exact_name}" + (
        f", {left.trace}" if left.trace else ""
    )


def _remains(workspace: Workspace, record: ResourceRecord) -> Remains:
    kind = workspace.installed.registry.types.get(record.type)
    return kind.showing.remains(record.identity) if kind is not None else Remains()
