"""The use case of ``undrop``: what was deleted, and is still known to the state, is brought back and recorded again."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from flareiac.app.apply import locked
from flareiac.app.bench import Bench
from flareiac.app.steer import references_of
from flareiac.applying.recording import Loaded, Recording
from flareiac.applying.requests import encode_request
from flareiac.kernel.diagnostics import Diagnostic, Failure, did_you_mean, error
from flareiac.model.events import Event
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.provider import Applied, ApplyRequest, NotApplied, Reviving
from flareiac.sdk.state import Lease


def undrop(
    bench: Bench, address: str, *, lock_timeout: float, emit: Callable[[Event], None], progress: Callable[[str], None]
) -> tuple[str, ...]:
    """Brings it back; returns what there is to say. Raises ``Failure`` or ``LockHeld``.

    The intent is in the journal before any catalog is touched, so that the next apply finds out how an interrupted one ended.
    """
    with locked(bench, "undrop", lock_timeout, emit) as lease:
        loaded = bench.load_state()
        if loaded.recovered.interrupted is not None:
            raise Failure(_interrupted())
        record = _dropped(loaded.snapshot, address)
        driver = bench.driver(record.provider, record.type)
        if not isinstance(driver, Reviving):
            raise Failure(error("FIX060", f"{address} can not be brought back", f"What is deleted of the kind {record.type} is gone."))
        request = ApplyRequest(
            key=f"{loaded.snapshot.lineage}/{loaded.snapshot.serial}/undrop/{address}",
            address=address,
            action="revive",
            planned=record.attributes,
            recorded=record.recorded(),
            payload=None,
            references=references_of(loaded.snapshot, record),
            cancel=threading.Event(),
            progress=progress,
        )
        return _carry_out(bench, lease, loaded, record, driver, request).messages


def _dropped(snapshot: Snapshot, address: str) -> ResourceRecord:
    if address in snapshot.resources:
        raise Failure(_there(address, snapshot.dropped.get(address)))
    if address not in snapshot.dropped:
        known = ", ".join(snapshot.dropped) or "nothing"
        hint = did_you_mean(address, snapshot.dropped)
        why = f"The state keeps what a destroyed resource needs to come back, and has: {known}.{hint} A purged table is gone for good."
        raise Failure(error("FIX061", f"Nothing that was dropped is known as {address}", why))
    return snapshot.dropped[address]


def _there(address: str, dropped: ResourceRecord | None) -> Diagnostic:
    location = dropped.identity.get("metadata_location") if dropped else None
    old = f" An earlier one of this address was dropped; its last metadata file is {location}." if location else ""
    return error(
        "FIX062",
        f"{address} is not dropped",
        f"It is recorded in the state.{old} If it is gone all the same, flareiac plan says so; nothing was changed.",
        address=address,
    )


def _carry_out(bench: Bench, lease: Lease, loaded: Loaded, record: ResourceRecord, driver: Reviving, request: ApplyRequest) -> Applied:
    """An apply of one operation: the intent, the work, the result. Plans that were made before are stale then."""
    recording = Recording(bench.store, lease, loaded, str(uuid.uuid4()), clock=time.time)
    operation = f"undrop:{record.address}"
    with _unwritten("Nothing was changed; make room or restore access first."):
        bench.store.check_writable(lease)
        recording.begin(f"undrop {record.address}")
        recording.intend(operation, encode_request(request, record))
    outcome = driver.revive(request)
    with _unwritten("Whether it is back is found out by the next apply; make room or restore access first."):
        if isinstance(outcome, NotApplied):
            recording.fail(operation, record.address, outcome.diagnostics[0].summary, None)
        else:
            recording.succeed(operation, record.address, replace(record, attributes=outcome.attributes, identity=outcome.identity))
        recording.finish(loaded.snapshot.outputs)
    if isinstance(outcome, NotApplied):
        raise Failure(*outcome.diagnostics)
    return outcome


@contextmanager
def _unwritten(consequence: str) -> Iterator[None]:
    try:
        yield
    except OSError as trouble:
        raise Failure(error("FIX063", "The undrop could not be recorded", f"{trouble.strerror or trouble}. {consequence}")) from trouble


def _interrupted() -> Diagnostic:
    return error(
        "FIX064",
        "The last apply was interrupted",
        "What it did is not known yet. Run flareiac apply first, which finds out, and then this command again.",
    )
