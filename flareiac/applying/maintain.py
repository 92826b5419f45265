"""Carries out one maintenance task: has it decided again, has it done, and weighs the result. Touches the
recording.
"""

import threading
from collections.abc import Callable
from dataclasses import replace

from flareiac.applying.ports import Asked, Ports
from flareiac.applying.state_writer import Recording
from flareiac.kernel import codes
from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Failure, Severity, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.intents import StoredMaintenance, stored_references
from flareiac.model.plan import Operation, Plan, PlannedResource
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.maintenance import Judgement, LastRun, MaintenanceTask, PerformRequest
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.table_tasks import Performed


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceRun:
    """One operation that maintains."""

    plan: Plan
    resource: PlannedResource
    operation: Operation
    request: ApplyRequest[object]
    recording: Recording
    ports: Ports


def maintain(run: MaintenanceRun) -> tuple[str, ...]:
    """Messages about what was done; nothing, where it is no longer due. Raises ``Failure``."""
    address, recording = run.resource.address, run.recording
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
        plan=run.plan,
        resource=run.resource,
        name=run.operation.task,
        request=run.request,
        snapshot=recording.snapshot,
    )
    task = run.ports.maintenance.decide(asked)
    if task is None or not task.due or task.work is None:
        recording.succeed(run.operation.id, address, None)
        return (f"{run.operation.task} is no longer due{f': {task.summary}' if task else ''}",)
    wanted = _perform_request(record, task, run.request.references, run.request.cancel, run.request.progress)
    recording.intend(run.operation.id, _intent(run, task))
    try:
        done = run.ports.maintenance.perform(wanted)
    except Failure as failure:
        recording.fail(
            run.operation.id, address, "; ".join(diagnostic.line for diagnostic in failure.diagnostics), None
        )
        raise
    judgement = _weighed(run.operation.id, record, task, done, recording, run.ports)
    if any(diagnostic.severity is Severity.ERROR for diagnostic in judgement.diagnostics):
        raise Failure(*judgement.diagnostics)
    notes = tuple(diagnostic.line for diagnostic in judgement.diagnostics)
    return (*judgement.messages, *notes, *((f"{task.name} had been done before this",) if done.found else ()))


def judge_interrupted(
    operation_id: str,
    asked: StoredMaintenance,
    recording: Recording,
    ports: Ports,
    progress: Callable[[str], None],
) -> Judgement | None:
    """Records what came of a maintenance task whose command died (``asked`` is its intent); None where that
    is not known. Raises ``Failure``.
    """
    record = recording.record(asked.address)
    if record is None:
        return None
    task = MaintenanceTask(
        name=asked.task,
        id=asked.id,
        due=True,
        summary="",
        forecast=asked.forecast,
        performer=Reference(asked.performer),
        work=asked.work,
    )
    wanted = _perform_request(record, task, asked.request.references, ports.cancel, progress)
    done = ports.maintenance.outcome(wanted)
    return None if done is None else _weighed(operation_id, record, task, done, recording, ports)


def _intent(run: MaintenanceRun, task: MaintenanceTask) -> StoredMaintenance:
    assert task.work is not None, "a task without work is not carried out"
    assert task.performer is not None, "there is no performer to carry it out"
    return StoredMaintenance(
        address=run.resource.address,
        task=task.name,
        id=task.id,
        forecast=task.forecast,
        work=task.work,
        performer=task.performer.address,
        request=stored_references(run.request, run.resource),
    )


def _weighed(
    operation_id: str,
    record: ResourceRecord,
    task: MaintenanceTask,
    done: Performed,
    recording: Recording,
    ports: Ports,
) -> Judgement:
    """Judges the result, and records it whatever the verdict."""
    maintainer = ports.types[record.type].maintaining.maintainer
    assert maintainer is not None, f"{record.type} is maintained and has no maintainer"
    judgement = maintainer().judge(task, done.result)
    wrong = tuple(diagnostic for diagnostic in judgement.diagnostics if diagnostic.severity is Severity.ERROR)
    run = LastRun(
        at=ports.maintenance.clock(),
        id=task.id,
        forecast=task.forecast,
        result=done.result,
        failed=wrong[0].line if wrong else "",
    )
    kept = replace(record, maintenance={**record.maintenance, task.name: run})
    if wrong:
        recording.fail(operation_id, record.address, wrong[0].line, kept)
    else:
        recording.succeed(operation_id, record.address, kept)
    return judgement


def _perform_request(
    record: ResourceRecord,
    task: MaintenanceTask,
    references: References,
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> PerformRequest:
    assert task.work is not None, "a task without work is not carried out"
    performer = references.get(task.performer.address) if task.performer is not None else None
    if performer is None:
        lacking = (
            "its block names none" if task.performer is None else f"{task.performer.address} is not declared"
        )
        why = f"{task.name} of {record.address} needs a connection that carries it out: {lacking}."
        raise Failure(error(codes.MAINTENANCE_WITHOUT_PERFORMER, why, address=record.address))
    return PerformRequest(
        key=task.id,
        subject=record.referenced(),
        performer=performer,
        work=task.work,
        references=references,
        cancel=cancel,
        progress=progress,
    )
