"""Carries out the stages of a job's change, each by itself: what it needs is read, decided and done. Asked
again, a stage finds what it has done before, and completes it.

Touches the application, checkpoints, and what should run.
"""

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.sdk.requests import ChangeRequest
from flareiac.sdk.results import StageDone
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.code import publish
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.moved_checkpoint import before_the_move
from flareiac_spark.generation import perform as generation_stages
from flareiac_spark.generation.await_jvm import await_jvm
from flareiac_spark.generation.checkpoint_state import CheckpointState, read_state
from flareiac_spark.generation.decide import Beginning, decide
from flareiac_spark.generation.operation_client import OperationClient
from flareiac_spark.generation.redirect import finish_redirected, half_done
from flareiac_spark.generation.switch import GenerationSwitch, begins_generation, old_spec, switch_of
from flareiac_spark.generation.targets import redirected
from flareiac_spark.job import stages, written_schemas
from flareiac_spark.job.put_back import rollback_point
from flareiac_spark.job.running import RunningJobs, changed_job
from flareiac_spark.job.target import target_of


def perform(request: ChangeRequest, stage: str, running: RunningJobs) -> StageDone:
    """Does this stage of a change. Raises ``Failure``."""
    kind, _, output = stage.partition(".")
    running.end_silent_applications(request)
    reach(f"{kind}.before")
    match kind:
        case stages.FINISH:
            done = _finish(request, running)
        case stages.EMPTY:
            done = _empty(request, output, running)
        case stages.PREPARE:
            done = _prepare(request, running)
        case stages.REGISTER:
            done = written_schemas.register(request, output)
        case stages.ROLLBACK_POINT:
            _refuse_running(request, running)
            done = StageDone(note=rollback_point(request, target_of(request, running), running))
        case stages.START | stages.RESTART | stages.SETTINGS | stages.STOP | stages.DECLARE:
            done = _put(request, kind, running)
        case _:
            raise AssertionError(f"no plan of a job names a stage {stage!r}")
    reach(f"{kind}.after")
    return done


# Between the old query's end and the new one's start


@dataclass(frozen=True, slots=True, kw_only=True)
class _Switching:
    """A generation that begins: what was read of it, and what was decided."""

    switch: GenerationSwitch
    state: CheckpointState
    beginnings: tuple[Beginning, ...]
    client: OperationClient


def _switching(request: ChangeRequest, running: RunningJobs, *, early: bool = False) -> _Switching:
    """Raises ``Failure`` where the generation cannot begin as asked, and while the old query may commit."""
    _refuse_running(request, running)
    await_jvm(request, running.applications)
    switch = switch_of(request, running.applications, early=early)
    state = read_state(switch, running.applications)
    decision = decide(switch, state)
    if decision.refusals:
        raise Failure(*decision.refusals)
    return _Switching(
        switch=switch, state=state, beginnings=decision.beginnings, client=_client(request, running)
    )


def _finish(request: ChangeRequest, running: RunningJobs) -> StageDone:
    if not begins_generation(request):
        return _finish_redirected(request, running)
    switching = _switching(request, running, early=True)
    note = generation_stages.finish(switching.switch, switching.beginnings, switching.client)
    ends = [batch for batch in note.values() if batch is not None]
    last = " and ".join(dict.fromkeys(f"batch {batch}" for batch in ends))
    if switching.state.in_use:
        return StageDone(messages=(_has_begun(switching.switch),), note=note)
    return StageDone(messages=(f"ends after {last}" if last else "nothing was read yet",), note=note)


def _finish_redirected(request: ChangeRequest, running: RunningJobs) -> StageDone:
    _refuse_running(request, running)
    await_jvm(request, running.applications)
    old, planned = old_spec(request, running.applications), request.action.planned
    project, recorded = running.applications.project, request.action.recorded
    new = spec_of(request.address, planned, request.references, project, analysis=True)
    if recorded is not None:
        was, after = JobDefinition.of(recorded.attributes), JobDefinition.of(planned)
        new = before_the_move(new, was, after, request.references, project)
    client = _client(request, running)
    batches = [] if old is None else finish_redirected(request.address, old, new, client)
    texts = tuple(f"finished batch {batch}" for batch in dict.fromkeys(batches))
    return StageDone(messages=texts or ("no batch was in flight",), note={"batches": batches})


def _empty(request: ChangeRequest, name: str, running: RunningJobs) -> StageDone:
    switching = _switching(request, running)
    for beginning in switching.beginnings:
        for output in beginning.empties:
            if output.name == name:
                emptied = generation_stages.empty(switching.switch, beginning.query, output, switching.client)
                return StageDone(messages=(generation_stages.emptied_text(emptied),), note=encode(emptied))
    return StageDone(messages=(_has_begun(switching.switch),))


def _prepare(request: ChangeRequest, running: RunningJobs) -> StageDone:
    switching = _switching(request, running)
    note = request.action.notes.get(stages.FINISH)
    ends = generation_stages.ended(switching.switch, switching.beginnings, note, switching.client)
    messages = []
    for beginning in switching.beginnings:
        messages.append(generation_stages.prepare(switching.switch, beginning, ends[beginning.query.name]))
        reach(f"{stages.PREPARE}.within")
    texts = tuple(messages) or (_has_begun(switching.switch),)
    return StageDone(
        messages=texts, note={"queries": [beginning.query.name for beginning in switching.beginnings]}
    )


def _has_begun(switch: GenerationSwitch) -> str:
    return f"generation {switch.number} had begun already"


# What should run


def _put(request: ChangeRequest, stage: str, running: RunningJobs) -> StageDone:
    """The definition is what should run then; an application that lives takes it from there."""
    target = target_of(request, running)
    publish(target.planned, running.applications.project)
    if stage != stages.SETTINGS:
        _refuse_unplanned(request, running)
    running.leave(request, target.engine)
    running.want(request, target.engine, target.job())
    if not target.running:
        running.await_stop(changed_job(request), target.engine, request.cancel)
    return StageDone()


def _refuse_running(request: ChangeRequest, running: RunningJobs) -> None:
    """Raises ``Failure`` if the job runs: its queries may begin batches at any time."""
    recorded = request.action.recorded
    if recorded is None:
        return
    if not running.is_stopped(JobDefinition.of(recorded.attributes).runs_in, changed_job(request)):
        why = "it was started since the plan was made"
        raise Failure(generation_stages.not_planned(request.address, why))


def _refuse_unplanned(request: ChangeRequest, running: RunningJobs) -> None:
    """Raises ``Failure`` where something must happen first that the plan has no stage for."""
    if begins_generation(request):
        if stages.PREPARE not in request.action.notes and _switching(request, running).beginnings:
            raise Failure(generation_stages.not_planned(request.address, "its generation is not prepared"))
        return
    old = old_spec(request, running.applications)
    if old is None or stages.FINISH in request.action.notes:
        return
    new = target_of(request, running).spec
    unfinished = next(half_done(request.address, old, redirected(old, new), _client(request, running)), None)
    if unfinished is not None:
        why = f"batch {unfinished.batch} is in the tables that it wrote so far, and not committed"
        raise Failure(generation_stages.not_planned(request.address, why))


def _client(request: ChangeRequest, running: RunningJobs) -> OperationClient:
    return OperationClient(request, JobDefinition.of(request.action.planned).runs_in, running.applications)
