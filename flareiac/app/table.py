"""The use cases of ``table snapshots`` and ``table rollback``: earlier states of a recorded thing, and the
way back to one.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from flareiac.app.recorded import recorded
from flareiac.app.single_operation import carry_out, locked_state
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.events import Event
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.planning.claims import recorded_claims
from flareiac.sdk.capabilities import Inspecting, Rollbackable
from flareiac.sdk.changes import Relation
from flareiac.sdk.driver import Driver
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Outcome

_RESTING = ("stopped", "completed")


def snapshots(workspace: Workspace, address: str) -> Sequence[Attributes]:
    """The states that there are, newest first, as ``Rollbackable.history`` tells them. Raises ``Failure``."""
    snapshot = workspace.load_state().snapshot
    record = recorded(snapshot, address)
    return _restoring(workspace.driver(record.provider, record.type), address).history(
        address, record.recorded(), recorded_references(snapshot, record)
    )


def rollback(
    workspace: Workspace,
    address: str,
    to: int | None,
    *,
    approve: Callable[[Sequence[str]], bool],
    lock_timeout: float,
    emit: Callable[[Event], None],
    progress: Callable[[str], None],
) -> tuple[str, ...] | None:
    """Sets a table back and records it; returns what there is to say. Raises ``Failure`` or ``LockHeld``.

    ``approve`` is asked with what would happen, unless nothing would; None: it was declined and nothing was
    done. The intent is in the journal before the table is touched, so that the next apply finds out how a
    rollback ended that was interrupted.
    """
    with locked_state(workspace, "table rollback", lock_timeout, emit) as state:
        snapshot = state.snapshot
        workspace.recover(snapshot)
        record = recorded(snapshot, address)
        driver = _restoring(workspace.driver(record.provider, record.type), address)
        users = dict(_users(workspace, snapshot, address))
        _refuse_running(workspace, snapshot, address, users)
        question = ApplyRequest(
            key=f"{snapshot.lineage}/{snapshot.serial}/rollback/{address}",
            address=address,
            action="rollback",
            planned=record.attributes,
            recorded=record.recorded(),
            payload={"to": to, "known": list(_known(snapshot, address))},
            references=recorded_references(snapshot, record),
            cancel=threading.Event(),
            progress=progress,
        )
        way = driver.way_back(question)
        if way.there:
            return way.texts
        if not approve((*way.texts, *_consequences(users))):
            return None
        outcome = carry_out(
            state,
            "rollback",
            record,
            replace(question, payload=way.payload),
            lambda request: _restored(driver, request),
        )
    return (*outcome.messages, *_consequences(users))


def _restored(driver: Rollbackable, request: ApplyRequest) -> Outcome:
    try:
        return driver.restore(request)
    except Failure as failure:
        raise Failure(*failure.diagnostics, _unknown(request.address)) from failure


def _restoring(driver: Driver, address: str) -> Rollbackable:
    if not isinstance(driver, Rollbackable):
        raise Failure(
            error(
                codes.KEEPS_NO_EARLIER_STATES,
                f"{address} cannot be rolled back. Only tables can: write the address of a table.",
            )
        )
    return driver


def _users(workspace: Workspace, snapshot: Snapshot, address: str) -> Iterator[tuple[str, Relation]]:
    """Who writes it or streams from it, as recorded; who does both writes."""
    types = workspace.installed.registry.types
    for relation in (Relation.STREAMS_FROM, Relation.WRITES):
        for holder, record in snapshot.resources.items():
            if record.type in types:
                claims = recorded_claims(holder, record, types, recorded_references(snapshot, record))
                yield from (
                    (holder, relation)
                    for claim in claims
                    if claim.subject == address and claim.relation is relation
                )


def _refuse_running(
    workspace: Workspace, snapshot: Snapshot, address: str, users: Mapping[str, Relation]
) -> None:
    found: list[Diagnostic] = []
    for holder, relation in sorted(users.items()):
        record = snapshot.resources[holder]
        driver = workspace.driver(record.provider, record.type)
        if isinstance(driver, Inspecting):
            phase = driver.inspect(holder, record.recorded(), recorded_references(snapshot, record))["phase"]
            if phase not in _RESTING:
                found.append(_running(address, holder, relation, phase))
    if found:
        raise Failure(*found)


def _running(address: str, holder: str, relation: Relation, phase: str) -> Diagnostic:
    why = (
        "What it writes meanwhile would be lost or stand beside the old rows."
        if relation is Relation.WRITES
        else "It reads on from snapshots that the table would no longer have, and could not go on."
    )
    return error(
        codes.TABLE_IN_USE,
        f"{holder} {relation} {address} and has not stopped ({phase}). {why} Nothing was changed. Stop it "
        f"first: flareiac stop {holder}, or stopped = true in its block and an apply.",
        address=holder,
    )


def _known(snapshot: Snapshot, address: str) -> Iterator[Attributes]:
    """What was recorded before the table was emptied, by the command that emptied it."""
    for holder, record in sorted(snapshot.resources.items()):
        rebuilds = record.identity.get("rebuilds")
        for output, item in (rebuilds or {}).items():
            if str(item.get("table")) == address:
                yield {
                    "snapshot_id": item.get("snapshot_id"),
                    "branch": item.get("branch"),
                    "why": f"{holder}, output {output}, generation {item.get('generation')}",
                }


def _consequences(users: Mapping[str, Relation]) -> Iterator[str]:
    for holder, relation in sorted(users.items()):
        if relation is Relation.WRITES:
            yield (
                f"{holder} goes on where its checkpoint stands when it starts: what it wrote after that "
                "snapshot it does not write again, unless its checkpoint gets a new generation"
            )
        else:
            yield (
                f"{holder} cannot start if it has read later snapshots than that one: Spark does not find "
                "its place then. Its checkpoint needs a new generation"
            )


def _unknown(address: str) -> Diagnostic:
    return error(
        codes.ROLLBACK_NOT_CONFIRMED,
        f"The catalog was asked to roll {address} back, did not confirm it and cannot be read. Run flareiac "
        "apply once it answers, which finds out.",
        address=address,
    )
