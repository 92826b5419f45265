"""The proofs of a set of changes before the first of them begins. Touches the application, no data."""

import time
from collections.abc import Sequence

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity
from flareiac.kernel.kill_points import reach
from flareiac.kernel.records import encode
from flareiac.sdk.capabilities import Preflight, Proofs
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity, KnownJob, recorded_identity, with_proof
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.generation.checkpoint_state import read_state
from flareiac_spark.generation.decide import decide
from flareiac_spark.generation.switch import begins_generation, switch_of
from flareiac_spark.job import written_schemas
from flareiac_spark.job.analyse import Analysis, analyse, refutation
from flareiac_spark.job.holds import HeldJob, Holds
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.running import RunningJobs, changed_job


def preflight(requests: Sequence[ChangeRequest], running: RunningJobs) -> Preflight:
    """The reasons that generations cannot begin and schemas cannot be written, then Spark's verdict on new
    and changed definitions on empty frames. Its proofs are noted, to be recorded with the results of the
    changes. Raises ``Failure``.
    """
    for request in requests:
        running.end_silent_applications(request)
    for request in requests:
        running.applications.announce(_engine(request), request.references)
    wrong = [refusal for request in requests for refusal in refusals(request, running.applications)]
    wrong += written_schemas.refusals(requests)
    if wrong:
        return Preflight(diagnostics=tuple(wrong))
    with Holds(running.applications, _of_ended_applications(requests, running)) as holds:
        analysis = _analysed(requests, running)
        running.applications.proofs.update(analysis.proofs)
        refuted = refutation(requests, analysis.proofs)
        if not (_has_errors(analysis, requests) or refuted.diagnostics):
            holds.keep([request.address for request in requests if not _is_text_only(request)])
    refused = [request for request in requests if request.address in refuted.addresses]
    return Preflight(
        diagnostics=(*analysis.diagnostics, *refuted.diagnostics),
        left=_left(refused, analysis),
        refuted=_identities(refused, analysis),
        blocks=refuted.blocks,
    )


def prove(requests: Sequence[ChangeRequest], running: RunningJobs) -> Proofs:
    """Asks Spark about changed definitions; nothing comes of it. Raises ``Failure``."""
    asked = [request for request in requests if JobPayload.of(request.action.payload).analyse]
    for request in asked:
        running.applications.announce(_engine(request), request.references)
    with Holds(running.applications, _of_ended_applications(asked, running)):
        analysis = _analysed(asked, running) if asked else Analysis()
    wrong = {diagnostic.address for diagnostic in analysis.diagnostics}
    if any(request.cancel.is_set() for request in asked):
        return Proofs(diagnostics=analysis.diagnostics)
    return Proofs(
        diagnostics=analysis.diagnostics,
        learned=_identities(asked, analysis),
        left=_left(asked, analysis),
        checked=frozenset(request.address for request in asked if request.address not in wrong),
    )


def _identities(requests: Sequence[ChangeRequest], analysis: Analysis) -> dict[str, Attributes]:
    """The identities of recorded jobs with the verdicts of Spark. What it was not asked, or did not answer,
    is no verdict: another time it may.
    """
    return {
        request.address: encode(with_proof(recorded_identity(recorded), proof))
        for request in requests
        if (recorded := request.action.recorded) is not None
        and (proof := analysis.proofs.get(request.address)) is not None
        and proof.spark
    }


def _left(requests: Sequence[ChangeRequest], analysis: Analysis) -> dict[str, Attributes]:
    """The same of jobs that left the checkpoint of a new one, by the resource that keeps their record."""
    asked = [
        (JobPayload.of(request.action.payload), analysis.proofs.get(request.address)) for request in requests
    ]
    return {
        payload.kept_by: encode(with_proof(JobIdentity.of(payload.left), proof))
        for payload, proof in asked
        if payload.kept_by and proof is not None and proof.spark
    }


def refusals(request: ChangeRequest, applications: Applications) -> tuple[Diagnostic, ...]:
    """The reasons that a generation cannot begin as asked; nothing has been changed or stopped. Reads the
    disk only.
    """
    if not begins_generation(request):
        return ()
    try:
        switch = switch_of(request, applications, early=True)
        return decide(switch, read_state(switch, applications)).refusals
    except Failure as failure:
        return failure.diagnostics


def _analysed(requests: Sequence[ChangeRequest], running: RunningJobs) -> Analysis:
    """Asks Spark. An application that is started for the question resumes its jobs, but not those that
    are about to change, which are held: what they were may be what ended it.
    """
    reach("analysis.held")
    analysis = analyse(requests, running.applications)
    reach("analysis.done")
    return analysis


def _has_errors(analysis: Analysis, requests: Sequence[ChangeRequest]) -> bool:
    """True where nothing comes of the apply."""
    refused = any(diagnostic.severity is Severity.ERROR for diagnostic in analysis.diagnostics)
    return refused or any(request.cancel.is_set() for request in requests)


def _is_text_only(request: ChangeRequest) -> bool:
    return JobPayload.of(request.action.payload).text_only


def _engine(request: ChangeRequest) -> EngineDefinition:
    return JobDefinition.of(request.action.planned).runs_in


def _of_ended_applications(requests: Sequence[ChangeRequest], running: RunningJobs) -> list[HeldJob]:
    """The jobs that are about to change and would be resumed with their application, or are held already by a
    command that died.
    """
    if not any(JobPayload.of(request.action.payload).analyse for request in requests):
        return []
    held = []
    for request in requests:
        engine, payload = _engine(request), JobPayload.of(request.action.payload)
        job = changed_job(request)
        entry = running.entry(engine, job)
        if (
            entry is not None
            and entry.state == "running"
            and (payload.analyse or payload.nonce not in (None, entry.nonce))
            and (since := _down_since(running, engine, job)) is not None
        ):
            held.append(HeldJob(engine, job, since))
    return held


def _down_since(running: RunningJobs, engine: EngineDefinition, job: KnownJob) -> float | None:
    """The time at which a job was at work for the last time (UTC seconds); None where it may be at work."""
    control, now = running.applications.control(engine), time.time()
    desired, status = read_desired(control), read_status(control)
    name = job.name_in(desired)
    if desired is not None and name in desired.held_at(now):
        return desired.down_since.get(name, now)
    if liveness(status) is not Liveness.GONE:
        return None
    said = status.jobs.get(name) if status is not None else None
    if said is not None and said.phase in ("failed", "backoff"):
        return said.since
    return status.heartbeat if status is not None else now
