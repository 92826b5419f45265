"""Waits until what should run is stable, has completed or has stopped, and says what is recorded of it.
Touches the application, and what should run of a job that has completed.
"""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.kernel.records import encode
from flareiac.sdk.requests import ChangeRequest
from flareiac.sdk.results import Applied, NotApplied, Outcome
from flareiac_spark.application import is_alive
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import EmptiedTable, recorded_identity
from flareiac_spark.engine.application import application_complaints, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.generation.checkpoint_state import emptied_for
from flareiac_spark.generation.switch import begins_generation
from flareiac_spark.job.identity import first_batch, identity_after, reached
from flareiac_spark.job.running import RunningJobs, changed_job
from flareiac_spark.job.target import Target
from flareiac_spark.job.wait import Wanted, computes_its_first_batch, not_stable, settled, wait_until_settled
from flareiac_spark_runtime.control import DesiredJob


def confirm(request: ChangeRequest, target: Target, running: RunningJobs) -> Outcome:
    """The outcome of a change whose definition is what should run. Raises ``Failure`` where one that is to
    stop does not.
    """
    if not target.running:
        running.await_stop(changed_job(request), target.engine, request.cancel)
        return _stopped(request, target, running)
    rebuilds = _rebuilds(request, target)
    outcome = await_settled(request, target.planned, target.job(), running, rebuilds)
    return (
        known(request, target, outcome.diagnostics, running) if isinstance(outcome, NotApplied) else outcome
    )


def await_settled(
    request: ChangeRequest,
    attributes: Attributes,
    wanted: DesiredJob,
    running: RunningJobs,
    rebuilds: Mapping[str, EmptiedTable],
) -> Outcome:
    """Brings the application up and waits for its word about a definition that should run."""
    engine, applications = JobDefinition.of(attributes).runs_in, running.applications
    try:
        if applications.bring_up(engine, request.cancel, request.progress) is None:
            return NotApplied(diagnostics=(not_stable(request.address, None, 0, True, ""),))
        return _awaited(request, attributes, wanted, running, rebuilds)
    except Failure as failure:
        return NotApplied(diagnostics=failure.diagnostics)


def settled_already(request: ChangeRequest, target: Target, running: RunningJobs) -> Outcome | None:
    """The outcome of a change whose result was lost, by reading. None: it left nothing that must be
    recorded.
    """
    if not target.is_wanted(running.entry(target.engine, changed_job(request))):
        return None
    if not target.running:
        return (
            None
            if running.may_run(target.engine, changed_job(request))
            else _stopped(request, target, running)
        )
    status = read_status(running.applications.control(target.engine))
    finite = target.definition.is_finite
    name = running.name(target.engine, changed_job(request))
    job = _wanted(name, target.job(), finite).of(status) if status else None
    if (
        job is None
        or job.phase == "failed"
        or not settled(job, finite=finite)
        or not (finite or is_alive(status))
    ):
        unsettled = known(request, target, (not_stable(request.address, job, 0, True, ""),), running)
        return unsettled if unsettled.attributes is not None else None
    running.note_queries(changed_job(request), target.engine, target.digest, job)
    identity = identity_after(
        request,
        target.digest,
        job,
        _rebuilds(request, target),
        known_as=_known_as(request, target.engine, running),
    )
    return Applied(attributes=target.planned, identity=running.with_proof(request.address, identity))


def known(
    request: ChangeRequest, target: Target, diagnostics: tuple[Diagnostic, ...], running: RunningJobs
) -> NotApplied:
    """A new job is among what should run, so it must be known, whatever became of it: removing its block
    stops it.

    A finite one is not: the next plan creates it again, and its run id tells whether its rows are there.
    One that moved to another application must be known to be there, or it would be started in the old one
    beside it.
    """
    planned, recorded = target.planned, request.action.recorded
    if recorded is not None and JobDefinition.of(recorded.attributes).moves_to(target.definition):
        there = {
            **recorded.attributes,
            "application": encode(target.engine),
            "engine": target.definition.engine,
        }
        before = replace(recorded_identity(recorded), known_as=_known_as(request, target.engine, running))
        return NotApplied(diagnostics=diagnostics, attributes=there, identity=encode(before))
    if recorded is not None or target.definition.is_finite:
        return NotApplied(diagnostics=diagnostics)
    known_as = _known_as(request, target.engine, running)
    identity = identity_after(request, target.digest, None, {}, known_as=known_as)
    return NotApplied(diagnostics=diagnostics, attributes=planned, identity=identity)


def _stopped(request: ChangeRequest, target: Target, running: RunningJobs) -> Applied:
    known_as = _known_as(request, target.engine, running)
    identity = identity_after(request, target.digest, None, _rebuilds(request, target), known_as=known_as)
    return Applied(attributes=target.planned, identity=running.with_proof(request.address, identity))


def _known_as(request: ChangeRequest, engine: EngineDefinition, running: RunningJobs) -> str:
    """See ``JobIdentity.known_as``."""
    name = running.name(engine, changed_job(request))
    return "" if name == request.address else name


def _rebuilds(request: ChangeRequest, target: Target) -> Mapping[str, EmptiedTable]:
    return emptied_for(target.spec) if begins_generation(request) else {}


def _wanted(name: str, job: DesiredJob, finite: bool) -> Wanted:
    return Wanted(name=name, digest=job.digest, nonce=job.nonce, finite=finite)


def _awaited(
    request: ChangeRequest,
    attributes: Attributes,
    wanted: DesiredJob,
    running: RunningJobs,
    rebuilds: Mapping[str, EmptiedTable],
) -> Outcome:
    definition = JobDefinition.of(attributes)
    engine = definition.runs_in
    control = running.applications.control(engine)
    finite, within = definition.is_finite, definition.stability.within_ms
    name = running.name(engine, changed_job(request))
    what = _wanted(name, wanted, finite)
    job = wait_until_settled(control, what, within, request.cancel, request.progress)
    unproven = False
    if job is None or job.phase == "failed":
        status = read_status(control)
        seen = job or (what.of(status) if status else None)
        unproven = (
            not finite
            and not request.cancel.is_set()
            and computes_its_first_batch(seen)
            and not (status and status.application.waiting)
        )
        job = seen if unproven else job
    if job is None or job.phase == "failed":
        log = str(control.log_place(name))
        waiting = status.application.waiting if status else ""
        why = not_stable(request.address, seen, within, request.cancel.is_set(), log, waiting=waiting)
        return NotApplied(diagnostics=(why,))
    running.note_queries(changed_job(request), engine, wanted.digest, job)
    if finite:
        _rest(request, engine, running)
    return Applied(
        attributes=attributes,
        identity=running.with_proof(
            request.address,
            identity_after(
                request,
                wanted.digest,
                job,
                rebuilds,
                known_as="" if name == request.address else name,
                unproven=unproven,
            ),
        ),
        messages=(
            first_batch(within) if unproven else reached(job, finite),
            *_impaired(running, definition),
        ),
    )


def _impaired(running: RunningJobs, definition: JobDefinition) -> tuple[str, ...]:
    status = read_status(running.applications.control(definition.runs_in))
    complaints = application_complaints(status) if status is not None else ()
    return tuple(f"{definition.engine}: {text}" for text in complaints)


def _rest(request: ChangeRequest, engine: EngineDefinition, running: RunningJobs) -> None:
    """A completed run is not wanted any more: another start of the application must not do it again."""
    entry = running.entry(engine, changed_job(request))
    if entry is not None:
        running.want(request, engine, replace(entry, state="stopped"))
