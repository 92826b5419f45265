"""The use cases of ``table snapshots`` and ``table rollback``: earlier states of a recorded thing, and the way back to one."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence

from flareiac.app.apply import locked
from flareiac.app.bench import Bench
from flareiac.app.steer import recorded, references_of
from flareiac.applying.recording import Loaded, Recording
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.events import Event
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.claims import recorded_claims
from flareiac.sdk.changes import Relation
from flareiac.sdk.provider import Applied, ApplyRequest, Driver, Inspecting, NotApplied, Restoring
from flareiac.sdk.state import Lease

_RESTING = ("stopped", "completed")


def snapshots(bench: Bench, address: str) -> Sequence[Attributes]:
    """The states that there are, newest first, as ``Restoring.history`` tells them. Raises ``Failure``."""
    snapshot = bench.load_state().snapshot
    record = recorded(snapshot, address)
    return _restoring(bench.driver(record.provider, record.type), address).history(
        address, record.recorded(), references_of(snapshot, record)
    )


def rollback(
    bench: Bench,
    address: str,
    to: int | None,
    *,
    lock_timeout: float,
    emit: Callable[[Event], None],
    progress: Callable[[str], None],
) -> tuple[str, ...]:
    """Sets a table back and records it; returns what there is to say. Raises ``Failure`` or ``LockHeld``."""
    with locked(bench, "table rollback", lock_timeout, emit) as lease:
        loaded = bench.load_state()
        if loaded.recovered.interrupted is not None:
            raise Failure(_interrupted())
        record = recorded(loaded.snapshot, address)
        driver = _restoring(bench.driver(record.provider, record.type), address)
        users = dict(_users(bench, loaded.snapshot, address))
        _refuse_running(bench, loaded.snapshot, address, users)
        request = ApplyRequest(
            key=f"{loaded.snapshot.lineage}/{loaded.snapshot.serial}/rollback/{address}",
            address=address,
            action="rollback",
            planned=record.attributes,
            recorded=record.recorded(),
            payload={"to": to, "known": list(_known(loaded.snapshot, address))},
            references=references_of(loaded.snapshot, record),
            cancel=threading.Event(),
            progress=progress,
        )
        outcome = driver.restore(request)
        if isinstance(outcome, NotApplied):
            raise Failure(*outcome.diagnostics)
        _record(bench, lease, loaded, record, outcome)
    changed = outcome.identity.get("snapshot_id") != record.identity.get("snapshot_id")
    return (*outcome.messages, *(_consequences(users) if changed else ()))


def _restoring(driver: Driver, address: str) -> Restoring:
    if not isinstance(driver, Restoring):
        raise Failure(error("FIX024", f"{address} keeps no earlier states", "Only tables do: write the address of a table."))
    return driver


def _users(bench: Bench, snapshot: Snapshot, address: str) -> Iterator[tuple[str, Relation]]:
    """Who writes it or streams from it, as recorded; who does both writes."""
    types = bench.installed.registry.types
    for relation in (Relation.STREAMS_FROM, Relation.WRITES):
        for holder, record in snapshot.resources.items():
            if record.type in types:
                claims = recorded_claims(holder, record, types, references_of(snapshot, record))
                yield from ((holder, relation) for claim in claims if claim.subject == address and claim.relation is relation)


def _refuse_running(bench: Bench, snapshot: Snapshot, address: str, users: Mapping[str, Relation]) -> None:
    found: list[Diagnostic] = []
    for holder, relation in sorted(users.items()):
        record = snapshot.resources[holder]
        driver = bench.driver(record.provider, record.type)
        if isinstance(driver, Inspecting):
            phase = driver.inspect(holder, record.recorded(), references_of(snapshot, record))["phase"]
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
        "FIX025",
        f"{holder} {relation} {address} and has not stopped ({phase})",
        f"{why} Nothing was changed. Stop it first: flareiac stop {holder}, or stopped = true in its block and an apply.",
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


def _record(bench: Bench, lease: Lease, loaded: Loaded, record: ResourceRecord, outcome: Applied) -> None:
    """The table's new identity, as an apply of one operation; plans that were made before are stale then."""
    recording = Recording(bench.store, lease, loaded, str(uuid.uuid4()), clock=time.time)
    after = ResourceRecord(
        address=record.address,
        type=record.type,
        provider=record.provider,
        attributes=record.attributes,
        identity=outcome.identity,
        dependencies=record.dependencies,
        protected=record.protected,
        schema_version=record.schema_version,
        resolved=record.resolved,
    )
    try:
        recording.begin(f"rollback {record.address}")
        recording.succeed(f"rollback:{record.address}", record.address, after)
        recording.finish(loaded.snapshot.outputs)
    except OSError as trouble:
        why = f"{trouble.strerror or trouble}. The table is at the earlier snapshot all the same; make room or restore access, then plan."
        raise Failure(error("FIX026", "The rollback could not be recorded", why)) from trouble


def _consequences(users: Mapping[str, Relation]) -> Iterator[str]:
    for holder, relation in sorted(users.items()):
        if relation is Relation.WRITES:
            yield (
                f"{holder} goes on where its checkpoint stands when it starts: what it wrote after that snapshot it does not write again, "
                "unless its checkpoint gets a new generation"
            )
        else:
            yield (
                f"{holder} can not start if it has read later snapshots than that one: Spark does not find its place then. Its checkpoint "
                "needs a new generation"
            )


def _interrupted() -> Diagnostic:
    return error(
        "FIX027",
        "The last apply was interrupted",
        "What it did to the table is not known yet. Run flareiac apply first, which finds out, and then this command again.",
    )
