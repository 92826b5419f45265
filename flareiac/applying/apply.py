"""One apply from lock to snapshot: recover what is open, check that the plan still holds, prove it, carry it
out, record it.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import field, replace

from flareiac.applying.emergency_file import EmergencyFile, results_in_file
from flareiac.applying.execute import Execution, Results, execute
from flareiac.applying.moves import moved
from flareiac.applying.ports import Ports
from flareiac.applying.recover import recover
from flareiac.applying.requests import change_of, references_of, request_for
from flareiac.applying.staged_changes import StagedChanges, staged_changes
from flareiac.applying.stale_plans import StaleItem, moved_since
from flareiac.applying.state_writer import Recording
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.os_errors import first_step
from flareiac.kernel.paths import render_path
from flareiac.model.conditions import Owning, Status, left_to_apply
from flareiac.model.desired import OutputValue
from flareiac.model.events import Event, Note
from flareiac.model.journal import Interrupted
from flareiac.model.plan import CHANGE_VERBS, Plan, PlannedResource, Verb
from flareiac.model.plan_file import plan_digest
from flareiac.model.references import connections_in_use, recorded_connections
from flareiac.model.relocation import holds
from flareiac.model.renaming import renamed
from flareiac.model.snapshot import ResourceRecord, Snapshot, differs_by_maintenance_alone
from flareiac.sdk.capabilities import Preflight, Preflighting
from flareiac.sdk.changes import Relation
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ChangeRequest, Question, ReadRequest
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Unreadable, history_of
from flareiac.sdk.state import LockLost
from flareiac.state.read import Loaded, load


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of an apply. ``stale`` is not empty when nothing was started because the world had moved."""

    tally: Results = field(default_factory=Results)
    diagnostics: tuple[Diagnostic, ...] = ()
    emergency_file: str | None = None
    """The file, relative to the root module, with the results that the state could not take."""
    stale: tuple[StaleItem, ...] = ()
    snapshot: Snapshot | None = None
    unmet: bool = False
    """True where all was done, and a condition that was left to the apply does not hold."""
    refuted: Preflight = field(default_factory=Preflight)
    """The changes that are not what the plan took them for, so that nothing was started."""


def settle_open(ports: Ports, loaded: Loaded) -> Loaded:
    """Ends an interrupted apply: its open intents get results by reading, and the state is written. Returns
    the state as it is then.
    """
    interrupted = loaded.recovered.interrupted
    if interrupted is None:
        return loaded
    recording = _recording(ports, loaded, interrupted)
    recover(interrupted, recording, ports)
    recording.finish(loaded.snapshot.outputs)
    return load(ports.store, str(ports.project.root), ports.types)


def apply(
    plan: Plan,
    ports: Ports,
    outputs: Callable[[Snapshot], Mapping[str, OutputValue]],
    *,
    recheck: bool,
    parallelism: int = 10,
    stop_on_error: bool = False,
) -> Report:
    """Carries out a plan under a held lock.

    ``recheck``: the plan comes from a file, so the world may have moved since, or it was made without a look
    at the world. ``outputs`` evaluates the
    outputs on the final state. Raises ``Damaged``, ``Conflict``, ``LockLost`` or OSError for trouble with the
    state before the first side effect.
    """
    digest = plan_digest(plan)
    loaded = _named(load(ports.store, str(ports.project.root), ports.types), plan)
    interrupted = loaded.recovered.interrupted
    if interrupted is not None and interrupted.begun.plan != digest:
        loaded, interrupted = settle_open(ports, loaded), None
    resuming = interrupted is not None
    if refused := _refusal(plan, loaded.snapshot, ports, used_once=recheck and not resuming):
        return refused
    recording = _recording(ports, loaded, interrupted)
    before = recording.snapshot
    recording.move(renamed(recording.snapshot, plan.moves, ports.types))
    staged, begun = staged_changes(plan), _begun(interrupted)
    # Before the world is looked at: what an open intent turns out to have done did not move since the plan.
    if interrupted is not None:
        begun |= recover(interrupted, recording, ports)
    if recheck or resuming:
        stale = _stale(plan, recording, ports, begun | _under_way(staged, interrupted), resumed=resuming)
        if stale is not None:
            return stale
    # From here on a state that cannot be written would leave something done that nothing knows of.
    ports.store.check_writable(ports.lease)
    proven = _preflight(plan, recording, ports, begun)
    findings = proven.diagnostics
    if any(finding.severity is Severity.ERROR for finding in findings):
        return Report(diagnostics=findings, refuted=proven)
    # Only now, so that a preflight that refuses leaves no apply that would have to be resumed.
    if not resuming:
        recording.move(moved(before, plan.moves, ports.driver, ports.types))
        recording.begin(digest, plan.applied)
    recording.arm(EmergencyFile(ports.project.root, recording.apply_id, ports.seal))
    tally = execute(
        Execution(
            plan=plan,
            recording=recording,
            ports=ports,
            parallelism=parallelism,
            stop_on_error=stop_on_error,
            resumed=begun,
            staged=staged,
        )
    )
    # A saved plan of maintenance is used once, as every saved plan is.
    maintained = plan.maintenance_only and not recheck
    return _finish(plan, ports, recording, outputs, tally, findings, maintained=maintained)


def _finish(  # noqa: PLR0913 - the plan and the world, and what became of them
    plan: Plan,
    ports: Ports,
    recording: Recording,
    outputs: Callable[[Snapshot], Mapping[str, OutputValue]],
    tally: Results,
    findings: tuple[Diagnostic, ...],
    *,
    maintained: bool,
) -> Report:
    diagnostics = (*findings, *tally.diagnostics)
    before = recording.snapshot
    if tally.unsettled:
        # The journal stays as it is: it alone says what was begun, and the next apply finds out how it ended.
        return _with_emergency_file(recording, Report(tally=tally, diagnostics=diagnostics))
    complete = not tally.incomplete and not tally.skipped
    met, complaints = _last_answers(plan, recording, ports) if complete else (True, ())
    diagnostics = (*diagnostics, *complaints)
    values = outputs(before) if complete and met else before.outputs
    try:
        final = recording.finish(values, maintained=maintained)
    except (OSError, LockLost) as problem:
        if recording.emergency_file is not None:
            return _with_emergency_file(recording, Report(tally=tally, diagnostics=diagnostics))
        if isinstance(problem, LockLost):
            raise
        return Report(tally=tally, diagnostics=(*diagnostics, _last_write_failed(problem)))
    return Report(tally=tally, diagnostics=diagnostics, snapshot=final, unmet=not met)


def _last_answers(plan: Plan, recording: Recording, ports: Ports) -> tuple[bool, tuple[Diagnostic, ...]]:
    """Decides the conditions that are still open when all is done, and the checks. Returns True if none is
    an error, and the complaints.
    """
    deferred = {(each.address, each.moment) for each in left_to_apply(plan.conditions)}
    checks = any(each.owning is Owning.CHECK for each in plan.conditions)
    if not deferred and not checks:
        return True, ()
    try:
        answers = ports.conditions(recording.snapshot)
    except Failure as failure:
        return not deferred, failure.diagnostics
    problems = tuple(
        each.problem
        for each in answers
        if each.problem is not None
        and each.status is not Status.UNKNOWN
        and (each.owning is Owning.CHECK or (each.address, each.moment) in deferred)
    )
    return not any(problem.severity is Severity.ERROR for problem in problems), problems


def _with_emergency_file(recording: Recording, report: Report) -> Report:
    """The report of an apply that could not record all, where it has results in a file."""
    file, exc = recording.emergency_file, recording.failure
    if file is None or exc is None:
        return report
    lost = results_in_file(file, exc)
    return replace(report, diagnostics=(*report.diagnostics, lost), emergency_file=file)


def _last_write_failed(exc: OSError) -> Diagnostic:
    return error(
        codes.FINAL_STATE_NOT_WRITTEN,
        f"{exc.strerror or exc}. Every result is in the journal all the same, and the next command "
        f"reads it from there.{first_step(exc)}",
    )


def _named(loaded: Loaded, plan: Plan) -> Loaded:
    """A state that nothing was ever written to takes the lineage that the first plan gave it."""
    if loaded.revision is not None or loaded.recovered.entries or plan.serial:
        return loaded
    return replace(
        loaded, recovered=replace(loaded.recovered, snapshot=replace(loaded.snapshot, lineage=plan.lineage))
    )


def _recording(ports: Ports, loaded: Loaded, interrupted: Interrupted | None) -> Recording:
    """The recording of a new apply, or of one that goes on."""
    apply_id = interrupted.begun.apply if interrupted is not None else str(uuid.uuid4())
    loaded = loaded.remarked(ports.remark)
    return Recording(ports.store, ports.lease, loaded, apply_id, clock=ports.clock, types=ports.types)


def _begun(interrupted: Interrupted | None) -> frozenset[str]:
    return frozenset(key for key, good in interrupted.results.items() if good) if interrupted else frozenset()


def _under_way(staged: StagedChanges, interrupted: Interrupted | None) -> frozenset[str]:
    """The stages that were begun: what they moved is the plan's own doing."""
    if interrupted is None:
        return frozenset()
    known = {*interrupted.open, *interrupted.results}
    return frozenset(stage.id for stages in staged.stages.values() for stage in stages if stage.id in known)


def _refusal(plan: Plan, snapshot: Snapshot, ports: Ports, *, used_once: bool) -> Report | None:
    """Returns a report if a plan cannot be applied to this state or here at all; asks no system."""
    if used_once and _is_overtaken(plan, snapshot):
        return Report(stale=(_overtaken(plan, snapshot),))
    if elsewhere := _elsewhere(plan, str(ports.project.root)):
        return Report(stale=elsewhere)
    if plan.lineage == snapshot.lineage:
        return None
    foreign = error(
        codes.PLAN_OF_ANOTHER_STATE,
        f"It was made against the state {plan.lineage}; this one is {snapshot.lineage}. Make a new plan "
        "here.",
    )
    return Report(diagnostics=(foreign,))


def _elsewhere(plan: Plan, here: str) -> tuple[StaleItem, ...]:
    """The places of a plan from another checkout that are not the same ones here."""
    return tuple(
        StaleItem(
            address=place.address,
            what=render_path(place.attribute),
            planned=f"relative to {plan.made_in}, which it leaves"
            if place.climbs
            else f"an absolute path below {plan.made_in}",
            now=(
                f"the root module is {here}; make the plan here, or write a path that is relative and "
                "stays below the root module"
            ),
        )
        for place in plan.bound
        if not holds(place, plan.made_in, here)
    )


def _is_overtaken(plan: Plan, snapshot: Snapshot) -> bool:
    """Returns True if another apply has begun since the plan was made (a plan made against no state at all
    knows no lineage yet). Maintenance overtakes a plan that maintains as well, and no other.
    """
    maintains = any(operation.verb is Verb.MAINTAIN for operation in plan.operations)
    if not maintains and differs_by_maintenance_alone(snapshot, plan.serial):
        return False
    return plan.serial != snapshot.serial and (plan.lineage == snapshot.lineage or plan.serial == 0)


def _overtaken(plan: Plan, snapshot: Snapshot) -> StaleItem:
    """A plan is used once, and not after another apply has begun."""
    return StaleItem(
        address="the state",
        what="serial",
        planned=str(plan.serial),
        now=f"{snapshot.serial}: it was applied since",
    )


def _stale(
    plan: Plan, recording: Recording, ports: Ports, begun: frozenset[str], *, resumed: bool
) -> Report | None:
    """Returns a report of what moved; or of why something cannot be observed, in which case nothing is known
    and nothing may be done. None where the plan still fits.
    """
    snapshot = recording.snapshot
    done = frozenset(operation.address for operation in plan.operations if operation.id in begun)
    streamed = _streamed(plan, ports.types, snapshot)
    in_use = connections_in_use(plan.references, snapshot, ports.types, ports.project)
    declared = {
        address: reference
        for address, reference in plan.references.items()
        if reference.type in ports.types and ports.types[reference.type].kind is Kind.CONNECTION
    }
    questions: list[Question] = []
    for resource in _touched(plan):
        record = snapshot.resources.get(resource.address)
        request = ReadRequest(
            address=resource.address,
            desired=resource.desired,
            recorded=record.recorded() if record else None,
            references=references_of(plan, resource, snapshot.identity),
            import_id=resource.import_id,
            history=resource.address in streamed,
            in_use=in_use,
            declared=declared,
        )
        if resource.address not in done:
            questions.append(Question(provider=resource.provider, type=resource.type, request=request))
    asked = {question.request.address for question in questions}
    questions += [
        _of_streamed(snapshot.resources[address])
        for address in sorted(streamed & set(snapshot.resources) - asked)
    ]
    fresh = ports.observe(questions)
    for answer in fresh.values():
        if isinstance(answer, Unreadable):
            return Report(diagnostics=(answer.diagnostic,))

    def references(resource: PlannedResource) -> Mapping[str, Resolved]:
        resolved = references_of(plan, resource, snapshot.identity)
        return {
            address: replace(reference, history=history_of(fresh.get(address)) or reference.history)
            for address, reference in resolved.items()
        }

    stale = moved_since(plan, snapshot, fresh, ports.types, ports.project, references, done, resumed=resumed)
    return Report(stale=stale) if stale else None


def _streamed(plan: Plan, types: Mapping[str, ResourceType], snapshot: Snapshot) -> set[str]:
    """Returns the subjects that the resources of the plan will read as streams: whether they still can is
    checked again.
    """
    subjects: set[str] = set()
    for resource in _touched(plan):
        planned = resource.proposal.planned
        if planned is not None:
            usages = types[resource.type].relations.usages(
                resource.address, planned, references_of(plan, resource, snapshot.identity)
            )
            subjects.update(usage.subject for usage in usages if usage.relation is Relation.STREAMS_FROM)
    return subjects


def _of_streamed(record: ResourceRecord) -> Question:
    request = ReadRequest(
        address=record.address,
        desired=record.attributes,
        recorded=record.recorded(),
        references=recorded_connections(record),
        history=True,
    )
    return Question(provider=record.provider, type=record.type, request=request)


def _touched(plan: Plan) -> list[PlannedResource]:
    touched = {operation.address for operation in plan.operations}
    return [resource for resource in plan.resources if resource.address in touched]


def waiting_notes(emit: Callable[[Event], None]) -> Callable[[str], None]:
    """Reports what holds up an answer, such as the start of an application, once for all that wait for it."""
    said: list[str] = []

    def note(text: str) -> None:
        if text not in said:
            said.append(text)
            emit(Note(message=f"{text[:1].upper()}{text[1:]}..."))

    return note


def _preflight(plan: Plan, recording: Recording, ports: Ports, begun: frozenset[str]) -> Preflight:
    """Asks drivers that can to prove their changes before the first side effect."""
    snapshot = recording.snapshot
    resources = {resource.address: resource for resource in plan.resources}
    preflights: list[Preflight] = []
    note = waiting_notes(ports.emit)
    by_driver: dict[tuple[str, str], list[ChangeRequest]] = {}
    for operation in plan.operations:
        if operation.verb not in CHANGE_VERBS or operation.id in begun:
            continue
        resource, record = resources[operation.address], snapshot.resources.get(operation.address)
        request = request_for(
            plan,
            resource,
            operation,
            change_of(resource.proposal, operation.verb, record.recorded() if record else None, {}),
            snapshot.identity,
            ports.cancel,
            note,
        )
        by_driver.setdefault((resource.provider, resource.type), []).append(request)
    for (provider, kind), requests in by_driver.items():
        driver = ports.driver(provider, kind)
        if isinstance(driver, Preflighting):
            noun = kind if len(requests) == 1 else f"{kind}s"
            ports.emit(Note(message=f"Analysing {len(requests)} {noun} (nothing is changed yet)..."))
            try:
                preflights.append(driver.preflight(requests))
            except Failure as failure:
                preflights.append(Preflight(diagnostics=failure.diagnostics))
    return Preflight(
        diagnostics=tuple(diagnostic for each in preflights for diagnostic in each.diagnostics),
        refuted={address: identity for each in preflights for address, identity in each.refuted.items()},
        left={address: identity for each in preflights for address, identity in each.left.items()},
        blocks=any(each.blocks for each in preflights),
    )
