"""Carries out one duty of maintenance: has it decided again, has it done, and weighs the result. Touches the
recording.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from flareiac.applying.state_writer import Recording
from flareiac.kernel import codes
from flareiac.kernel.data import Data, Reference
from flareiac.kernel.diagnostics import Failure, Severity, error
from flareiac.model.intents import StoredMaintenance, stored_request
from flareiac.model.plan import Operation, Plan, PlannedResource
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.maintenance import Duty, Judgement, Performed, PerformRequest
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.resource_type import ResourceType


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One duty of a plan, and the state as it is recorded by now. ``request`` is what a driver would be asked
    about the resource.
    """

    plan: Plan
    resource: PlannedResource
    name: str
    request: ApplyRequest
    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What maintenance takes beside what every operation does.

    ``decide``: the duty as it is now, None where it is no longer declared; raises ``Failure``. ``outcome``:
    what came of one that was asked for, None where that is not known. ``clock`` gives UTC seconds.
    """

    decide: Callable[[Asked], Duty | None]
    perform: Callable[[PerformRequest], Performed]
    outcome: Callable[[PerformRequest], Performed | None]
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One operation that maintains."""

    plan: Plan
    resource: PlannedResource
    operation: Operation
    request: ApplyRequest
    recording: Recording
    types: Mapping[str, ResourceType]
    upkeep: Upkeep


def maintain(task: Task) -> tuple[str, ...]:
    """Messages about what was done; nothing, where it is no longer due. Raises ``Failure``."""
    address, recording = task.resource.address, task.recording
    record = recording.record(address)
    if record is None:
        raise Failure(
            error(
                codes.NOT_IN_STATE,
                f"{address} is not recorded, and only what is recorded is maintained.",
                address=address,
            )
        )
    asked = Asked(
        plan=task.plan,
        resource=task.resource,
        name=task.operation.duty,
        request=task.request,
        snapshot=recording.snapshot,
    )
    duty = task.upkeep.decide(asked)
    if duty is None or not duty.due or duty.work is None:
        recording.succeed(task.operation.id, address, None)
        return (f"{task.operation.duty} is no longer due{f': {duty.summary}' if duty else ''}",)
    wanted = _perform_request(task.request, record, duty)
    recording.intend(task.operation.id, _intent(task, duty))
    try:
        done = task.upkeep.perform(wanted)
    except Failure as failure:
        recording.fail(task.operation.id, address, "; ".join(item.line for item in failure.diagnostics), None)
        raise
    judgement = _weighed(task.operation.id, record, duty, done, recording, task.types, task.upkeep)
    if any(item.severity is Severity.ERROR for item in judgement.diagnostics):
        raise Failure(*judgement.diagnostics)
    notes = tuple(item.line for item in judgement.diagnostics)
    return (*judgement.messages, *notes, *((f"{duty.name} had been done before this",) if done.found else ()))


def found_done(
    operation_id: str,
    asked: StoredMaintenance,
    recording: Recording,
    types: Mapping[str, ResourceType],
    upkeep: Upkeep,
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> Judgement | None:
    """Records what came of a duty whose command died (``asked`` is its intent); None where that is not known.
    Raises ``Failure``.
    """
    record = recording.record(asked.address)
    if record is None:
        return None
    duty = Duty(
        name=asked.duty,
        id=asked.id,
        due=True,
        summary="",
        forecast=asked.forecast,
        performer=Reference(asked.performer),
        work=asked.work,
    )
    done = upkeep.outcome(_perform_request(asked.request.request(cancel, progress), record, duty))
    return None if done is None else _weighed(operation_id, record, duty, done, recording, types, upkeep)


def _intent(task: Task, duty: Duty) -> StoredMaintenance:
    assert duty.work is not None, "a duty without work is not carried out"
    assert duty.performer is not None, "there is no performer to carry it out"
    return StoredMaintenance(
        address=task.resource.address,
        duty=duty.name,
        id=duty.id,
        forecast=duty.forecast,
        work=duty.work,
        performer=duty.performer.address,
        request=stored_request(task.request, task.resource),
    )


def _weighed(
    operation_id: str,
    record: ResourceRecord,
    duty: Duty,
    done: Performed,
    recording: Recording,
    types: Mapping[str, ResourceType],
    upkeep: Upkeep,
) -> Judgement:
    """What the result is worth; it is recorded either way."""
    maintainer = types[record.type].maintainer
    assert maintainer is not None, f"{record.type} is maintained and has no maintainer"
    judgement = maintainer.judge(duty, done.result)
    run: dict[str, Data] = {
        "at": upkeep.clock(),
        "id": duty.id,
        "forecast": dict(duty.forecast),
        "result": dict(done.result),
    }
    wrong = tuple(item for item in judgement.diagnostics if item.severity is Severity.ERROR)
    kept = replace(
        record, upkeep={**record.upkeep, duty.name: {**run, **({"failed": wrong[0].line} if wrong else {})}}
    )
    if wrong:
        recording.fail(operation_id, record.address, wrong[0].line, kept)
    else:
        recording.succeed(operation_id, record.address, kept)
    return judgement


def _perform_request(request: ApplyRequest, record: ResourceRecord, duty: Duty) -> PerformRequest:
    assert duty.work is not None, "a duty without work is not carried out"
    references = request.references
    performer = references.get(duty.performer.address) if duty.performer is not None else None
    if performer is None:
        lacking = (
            "its block names none" if duty.performer is None else f"{duty.performer.address} is not declared"
        )
        why = f"{duty.name} of {record.address} needs a connection that carries it out: {lacking}."
        raise Failure(error(codes.MAINTENANCE_WITHOUT_PERFORMER, why, address=record.address))
    return PerformRequest(
        key=duty.id,
        subject=record.referenced(),
        performer=performer,
        work=duty.work,
        references=references,
        cancel=request.cancel,
        progress=request.progress,
    )
