"""The use cases of ``table snapshots`` and ``table rollback``: earlier states of a recorded thing, and the way back to one."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from flareiac.app.bench import Bench
from flareiac.app.lock import locked
from flareiac.app.recorded import recorded
from flareiac.applying.recording import Loaded, Recording
from flareiac.applying.requests import stored_request
from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.events import Event
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.claims import recorded_claims
from flareiac.sdk.capabilities import Inspecting, Restoring
from flareiac.sdk.changes import Relation
from flareiac.sdk.driver import Driver
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, NotApplied
from flareiac.sdk.state import Lease

_RESTING = ("stopped", "completed")


def snapshots(bench: Bench, address: str) -> Sequence[Attributes]:
    """The states that there are, newest first, as ``Restoring.history`` tells them. Raises ``Failure``."""
    snapshot = bench.load_state().snapshot
    record = recorded(snapshot, address)
    return _restoring(bench.driver(record.provider, record.type), address).history(
        address, record.recorded(), recorded_references(snapshot, record)
    )


def rollback(
    bench: Bench,
    address: str,
    to: int | None,
    *,
    approve: Callable[[Sequence[str]], bool],
    lock_timeout: float,
    emit: Callable[[Event], None],
    progress: Callable[[str], None],
) -> tuple[str, ...] | None:
    """Sets a table back and records it; returns what there is to say. Raises ``Failure`` or ``LockHeld``.

    ``approve`` is asked with what would happen, unless nothing would; None: it was declined and nothing was done. The intent is in the
    journal before the table is touched, so that the next apply finds out how a rollback ended that was interrupted.
    """
    with locked(bench, "table rollback", lock_timeout, emit) as lease:
        loaded = bench.load_state()
        if loaded.recovered.interrupted is not None:
            raise Failure(_interrupted())
        bench.recover(loaded.snapshot)
        record = recorded(loaded.snapshot, address)
        driver = _restoring(bench.driver(record.provider, record.type), address)
        users = dict(_users(bench, loaded.snapshot, address))
        _refuse_running(bench, loaded.snapshot, address, users)
        question = ApplyRequest(
            key=f"{loaded.snapshot.lineage}/{loaded.snapshot.serial}/rollback/{address}",
            address=address,
            action="rollback",
            planned=record.attributes,
            recorded=record.recorded(),
            payload={"to": to, "known": list(_known(loaded.snapshot, address))},
            references=recorded_references(loaded.snapshot, record),
            cancel=threading.Event(),
            progress=progress,
        )
        way = driver.way_back(question)
        if way.there:
            return way.texts
        if not approve((*way.texts, *_consequences(users))):
            return None
        outcome = _carry_out(bench, lease, loaded, record, driver, replace(question, payload=way.payload))
    return (*outcome.messages, *_consequences(users))


def _restoring(driver: Driver, address: str) -> Restoring:
    if not isinstance(driver, Restoring):
        raise Failure(
            error(codes.KEEPS_NO_EARLIER_STATES, f"{address} cannot be rolled back. Only tables can: write the address of a table.")
        )
    return driver


def _users(bench: Bench, snapshot: Snapshot, address: str) -> Iterator[tuple[str, Relation]]:
    """Who writes it or streams from it, as recorded; who does both writes."""
    types = bench.installed.registry.types
    for relation in (Relation.STREAMS_FROM, Relation.WRITES):
        for holder, record in snapshot.resources.items():
            if record.type in types:
                claims = recorded_claims(holder, record, types, recorded_references(snapshot, record))
                yield from ((holder, relation) for claim in claims if claim.subject == address and claim.relation is relation)


def _refuse_running(bench: Bench, snapshot: Snapshot, address: str, users: Mapping[str, Relation]) -> None:
    found: list[Diagnostic] = []
    for holder, relation in sorted(users.items()):
        record = snapshot.resources[holder]
        driver = bench.driver(record.provider, record.type)
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
        f"{holder} {relation} {address} and has not stopped ({phase}). {why} Nothing was changed. Stop it first: flareiac stop "
        f"{holder}, or stopped = true in its block and an apply.",
        address=holder,
    )


def _known(snapshot: Snapshot, address: str) -> Iterator[Attributes]:
    """What was recorded before the table was emptied, by whoever had it emptied."""
    for holder, record in sorted(snapshot.resources.items()):
        rebuilds = record.identity.get("rebuilds")
        for output, item in (rebuilds or {}).items():
            if str(item.get("table")) == address:
                yield {
                    "snapshot_id": item.get("snapshot_id"),
                    "branch": item.get("branch"),
                    "why": f"{holder}, output {output}, generation {item.get('generation')}",
                }


def _carry_out(bench: Bench, lease: Lease, loaded: Loaded, record: ResourceRecord, driver: Restoring, request: ApplyRequest) -> Applied:
    """An apply of one operation: the intent, the commit, the result. Plans that were made before are stale then."""
    recording = Recording(bench.store, lease, loaded, str(uuid.uuid4()), clock=time.time, types=bench.installed.registry.types)
    operation = f"rollback:{record.address}"
    with _unwritten("Nothing was changed; make room or restore access first."):
        bench.store.check_writable(lease)
        recording.begin(f"rollback {record.address}")
        recording.intend(operation, stored_request(request, record))
    try:
        outcome = driver.restore(request)
    except Failure as failure:
        raise Failure(*failure.diagnostics, _unknown(record.address)) from failure
    with _unwritten("What was done to the table is found out by the next apply; make room or restore access first."):
        if isinstance(outcome, NotApplied):
            recording.fail(operation, record.address, outcome.diagnostics[0].line, None)
        else:
            recording.succeed(operation, record.address, replace(record, identity=outcome.identity))
        recording.finish(loaded.snapshot.outputs)
    if isinstance(outcome, NotApplied):
        raise Failure(*outcome.diagnostics)
    return outcome


@contextmanager
def _unwritten(consequence: str) -> Iterator[None]:
    try:
        yield
    except OSError as trouble:
        why = f"{trouble.strerror or trouble}. {consequence}"
        raise Failure(error(codes.STATE_NOT_WRITTEN, why)) from trouble


def _consequences(users: Mapping[str, Relation]) -> Iterator[str]:
    for holder, relation in sorted(users.items()):
        if relation is Relation.WRITES:
            yield (
                f"{holder} goes on where its checkpoint stands when it starts: what it wrote after that snapshot it does not write again, "
                "unless its checkpoint gets a new generation"
            )
        else:
            yield (
                f"{holder} cannot start if it has read later snapshots than that one: Spark does not find its place then. Its checkpoint "
                "needs a new generation"
            )


def _unknown(address: str) -> Diagnostic:
    return error(
        codes.ROLLBACK_NOT_CONFIRMED,
        f"The catalog was asked to roll {address} back, did not confirm it and cannot be read. Run flareiac apply once it answers, "
        "which finds out.",
        address=address,
    )


def _interrupted() -> Diagnostic:
    return error(
        codes.APPLY_INTERRUPTED,
        "What it did to the table is not known yet. Run flareiac apply first, which finds out, and then this command again.",
    )
