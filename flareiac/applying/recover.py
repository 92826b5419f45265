"""Finds out how the operations of an interrupted apply ended, by reading. Touches the world through drivers
that can recover.

An apply records what it finds. A plan, which holds no lock and writes nothing, goes on from what an apply
will record.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from flareiac.applying.maintain import judge_interrupted
from flareiac.applying.ports import Ports
from flareiac.applying.requests import record_of
from flareiac.applying.state_writer import Recording
from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Severity
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.events import Note
from flareiac.model.intents import StoredMaintenance, StoredRequest, stored_intent
from flareiac.model.journal import Interrupted, Records, Result
from flareiac.model.plan import Verb
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.capabilities import Foreseeing, Recoverable
from flareiac.sdk.driver import Driver
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Applied, Outcome


def recover(interrupted: Interrupted, recording: Recording, ports: Ports) -> frozenset[str]:
    """Gives every open intent a result: what is there is recorded; what left no trace is as if it had never
    been asked.

    Returns the ids of the operations that had been done. Raises ``Failure`` where that cannot be found out
    now; they stay open.
    """
    done: set[str] = set()
    for operation_id, intent in list(interrupted.open.items()):
        stored = stored_intent(intent.operation)
        if not isinstance(stored, StoredRequest):
            if _settle_maintenance(operation_id, intent.operation, recording, ports):
                done.add(operation_id)
            continue
        address, verb = stored.address, stored.action
        if verb == Verb.STAGE:
            recording.fail(operation_id, address, "interrupted; it is performed again", None)
            continue
        request, asked = stored.request(), ports.driver(stored.record.provider, stored.record.type)
        outcome = asked.settle(request) if request and isinstance(asked, Recoverable) else None
        record = _record(outcome, stored, ports.types)
        if isinstance(outcome, Applied) and record is not None:
            done.add(operation_id)
            deleted = verb == Verb.DELETE
            kept_of = record if not deleted or outcome.revivable else None
            recording.succeed(operation_id, address, kept_of, forgotten=deleted)
            ports.emit(Note(message=f"{address}: the interrupted apply had done this ({verb}); recorded."))
        else:
            recording.fail(operation_id, address, "interrupted before it took effect", record)
            ports.emit(Note(message=f"{address}: the interrupted apply had not done this ({verb})."))
    return frozenset(done)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """``snapshot``: what will be recorded; ``done``: which operations (address and verb) had been carried
    out.
    """

    snapshot: Snapshot
    done: tuple[tuple[str, str], ...] = ()


def foresee(
    interrupted: Interrupted,
    snapshot: Snapshot,
    driver: Callable[[str, str], Driver],
    types: Mapping[str, ResourceType],
) -> Foreseen:
    """Returns what an apply will record before it begins: its serial comes after that. Raises ``Failure``
    where that cannot be found out.
    """
    records = Records(resources=dict(snapshot.resources), dropped=snapshot.dropped)
    done: list[tuple[str, str]] = []
    for operation_id, intent in interrupted.open.items():
        stored = stored_intent(intent.operation)
        if not isinstance(stored, StoredRequest) or stored.action == Verb.STAGE:
            continue
        request, asked = stored.request(), driver(stored.record.provider, stored.record.type)
        outcome = asked.foresee(request) if request and isinstance(asked, Foreseeing) else None
        record = _record(outcome, stored, types)
        if record is None or outcome is None:
            continue
        deleted = isinstance(outcome, Applied) and stored.action == Verb.DELETE
        kept = record if not isinstance(outcome, Applied) or not deleted or outcome.revivable else None
        records.take(
            Result(
                apply=interrupted.begun.apply,
                id=operation_id,
                address=stored.address,
                record=kept,
                forgotten=deleted,
            )
        )
        if isinstance(outcome, Applied):
            done.append((stored.address, stored.action))
    return Foreseen(
        snapshot=replace(
            snapshot, serial=snapshot.serial + 1, resources=records.resources, dropped=records.dropped
        ),
        done=tuple(done),
    )


def _record(
    outcome: Outcome | None, stored: StoredRequest, types: Mapping[str, ResourceType]
) -> ResourceRecord | None:
    return None if outcome is None else record_of(stored.record, outcome, stored.references, types)


def _settle_maintenance(operation_id: str, asked: Data, recording: Recording, ports: Ports) -> bool:
    """Records what the performer knows of an interrupted task; returns True if it is known to have succeeded.
    A task of which nothing is known is still due, unless the next observation of the resource shows
    otherwise.
    """
    address, name = asked["address"], asked["duty"]
    judgement = None
    if isinstance(stored := stored_intent(asked), StoredMaintenance):
        judgement = judge_interrupted(
            operation_id,
            stored,
            recording,
            ports,
            lambda text: ports.emit(Note(message=f"{address}: {text}")),
        )
    if judgement is None:
        recording.fail(operation_id, address, "interrupted; what is left to do is still due", None)
        ports.emit(
            Note(
                message=(
                    f"{address}: what came of {name} when the apply was interrupted is not known; what "
                    "is left to do is still due."
                )
            )
        )
        return False
    lines = (*judgement.messages, *(diagnostic.line for diagnostic in judgement.diagnostics))
    ports.emit(
        Note(
            message=(
                f"{address}: {name} was done although the apply was interrupted; recorded. {'; '.join(lines)}"
            )
        )
    )
    return not any(diagnostic.severity is Severity.ERROR for diagnostic in judgement.diagnostics)
