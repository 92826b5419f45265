"""Carries out one duty of maintenance: looks again at what is due and who holds what, has it done, and weighs the result.

A plan may be older than what it maintains: figures, holds and the duty itself are of now; only that something of this name is declared, and
its settings, are the plan's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from flareiac.applying.recording import Recording
from flareiac.applying.requests import references_of
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity, error
from flareiac.model.plan import Operation, Plan, PlannedResource
from flareiac.model.snapshot import ResourceRecord
from flareiac.planning import claims as claiming
from flareiac.planning import duties as dues
from flareiac.planning.measure import Measurement
from flareiac.sdk.changes import Claim
from flareiac.sdk.maintenance import Duty, MeasureRequest, Performed, PerformRequest
from flareiac.sdk.provider import ApplyRequest, Observation, Present, Question, ReadRequest, ResourceType, Unreadable
from flareiac.sdk.references import References, Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What maintenance takes beside what every operation does. ``clock`` gives UTC seconds."""

    observe: Callable[[Sequence[Question]], Mapping[str, Observation]]
    measure: Callable[[Sequence[Measurement]], tuple[Mapping[str, Attributes], tuple[Diagnostic, ...]]]
    perform: Callable[[PerformRequest], Performed]
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One duty of a plan. ``request`` is what a driver would be told about the resource."""

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
        raise Failure(error("FIA020", f"{address} is not recorded", "Only what is recorded is maintained.", address=address))
    duty = _duty_now(task, record)
    if duty is None or not duty.due or duty.work is None:
        recording.succeed(task.operation.id, address, None)
        return (f"{task.operation.duty} is no longer due{f': {duty.summary}' if duty else ''}",)
    recording.intend(task.operation.id, {"address": address, "action": "maintain", "duty": duty.name, "id": duty.id})
    try:
        done = task.upkeep.perform(_perform_request(task, record, duty))
    except Failure as failure:
        recording.fail(task.operation.id, address, "; ".join(item.summary for item in failure.diagnostics), None)
        raise
    return _weighed(task, record, duty, done)


def _weighed(task: Task, record: ResourceRecord, duty: Duty, done: Performed) -> tuple[str, ...]:
    maintainer = task.types[record.type].maintainer
    assert maintainer is not None, f"{record.type} is maintained and has no maintainer"
    judgement = maintainer.judge(duty, done.result)
    run: dict[str, Data] = {
        "at": task.upkeep.clock(),
        "id": duty.id,
        "forecast": dict(duty.forecast),
        "result": dict(done.result),
    }
    wrong = tuple(item for item in judgement.diagnostics if item.severity is Severity.ERROR)
    kept = replace(record, upkeep={**record.upkeep, duty.name: {**run, **({"failed": wrong[0].summary} if wrong else {})}})
    if wrong:
        task.recording.fail(task.operation.id, record.address, wrong[0].summary, kept)
        raise Failure(*judgement.diagnostics)
    task.recording.succeed(task.operation.id, record.address, kept)
    notes = tuple(f"{item.summary}. {item.detail}" for item in judgement.diagnostics)
    return (*judgement.messages, *notes, *((f"{duty.name} had been done before this",) if done.found else ()))


def _duty_now(task: Task, record: ResourceRecord) -> Duty | None:
    """The duty as it is now: the resource and everything that may hold a part of it are looked at again."""
    address, snapshot = record.address, task.recording.snapshot
    references: dict[str, References] = {address: task.request.references}
    for other, held in snapshot.resources.items():
        if held.type in task.types and any(claim.subject == address for claim in _claims(task, other, held)):
            references[other] = _references(task, held)
    asked = {address: record} | {other: snapshot.resources[other] for other in references if other in snapshot.resources}
    observed = task.upkeep.observe([_question(item, references[item.address], item.address == address) for item in asked.values()])
    itself = observed.get(address)
    if not isinstance(itself, Present):
        raise Failure(_not_there(address, itself))
    resource = replace(task.resource, identity=itself.identity)
    figures, troubles = task.upkeep.measure([_measurement(resource, task.request.references)])
    if address not in figures:
        raise Failure(*(replace(item, severity=Severity.ERROR) for item in troubles))
    users = replace(snapshot, resources=asked)
    around = dues.Around(
        types=task.types,
        holds=dues.holds(users, observed, task.types, references),
        locations=dues.locations(claim for other, held in snapshot.resources.items() for claim in _claims(task, other, held)),
        time=task.upkeep.clock(),
    )
    found = dues.duties_of(resource, figures[address], record.upkeep, task.request.references, around)
    return next((duty for duty in found if duty.name == task.operation.duty), None)


def _claims(task: Task, address: str, record: ResourceRecord) -> tuple[Claim, ...]:
    if record.type not in task.types:
        return ()
    return claiming.recorded_claims(address, record, task.types, _references(task, record))


def _references(task: Task, record: ResourceRecord) -> References:
    """What a recorded resource refers to, as the plan knows it, else as it was recorded."""
    found = {each: Resolved(address=each, type=each.split(".")[0], attributes=attributes) for each, attributes in record.resolved.items()}
    holder = replace(task.resource, dependencies=record.dependencies, resolved={}, recorded=record.attributes)
    holder = replace(holder, proposal=replace(holder.proposal, planned=None))

    def identity(address: str) -> Attributes:
        known = task.recording.record(address)
        return known.identity if known else {}

    return {**found, **references_of(task.plan, holder, identity)}


def _question(record: ResourceRecord, references: References, itself: bool) -> Question:
    request = ReadRequest(
        address=record.address, desired=record.attributes, recorded=record.recorded(), references=references, cheap=not itself
    )
    return Question(provider=record.provider, type=record.type, request=request)


def _measurement(resource: PlannedResource, references: References) -> Measurement:
    attributes = resource.proposal.planned or resource.desired or {}
    request = MeasureRequest(address=resource.address, attributes=attributes, identity=resource.identity, references=references)
    return Measurement(provider=resource.provider, type=resource.type, request=request)


def _perform_request(task: Task, record: ResourceRecord, duty: Duty) -> PerformRequest:
    assert duty.work is not None, "a duty without work is not carried out"
    references = task.request.references
    performer = references.get(duty.performer.address) if duty.performer is not None else None
    if performer is None:
        named = duty.performer.address if duty.performer is not None else "nothing"
        why = f"{duty.name} names {named} as what carries it out, and the configuration has no such block. Declare an engine."
        raise Failure(error("FIA021", f"Nothing can carry out {duty.name} of {record.address}", why, address=record.address))
    return PerformRequest(
        key=duty.id,
        subject=Resolved(address=record.address, type=record.type, attributes=record.attributes, identity=record.identity),
        performer=performer,
        work=duty.work,
        references=references,
        cancel=task.request.cancel,
        progress=task.request.progress,
    )


def _not_there(address: str, observed: Observation | None) -> Diagnostic:
    if isinstance(observed, Unreadable):
        return observed.diagnostic.at(address=address)
    return error("FIA022", f"{address} is gone", "It was there when the plan was made; flareiac plan shows what is now.", address=address)
