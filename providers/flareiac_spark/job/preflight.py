"""What is proven of a set of changes before the first of them begins. Touches the application, no data."""

from collections.abc import Sequence
from dataclasses import replace

from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.generation.checkpoint_state import read_state
from flareiac_spark.generation.decide import decide
from flareiac_spark.generation.switch import begins_generation, switch_of
from flareiac_spark.job.analyse import analyse
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.running import RunningJobs


def preflight(requests: Sequence[ChangeRequest], running: RunningJobs) -> tuple[Diagnostic, ...]:
    """Why generations cannot begin, then what Spark says of new and changed definitions on empty frames.
    Raises ``Failure``.
    """
    for request in requests:
        running.end_silent_applications(request)
    for request in requests:
        running.applications.announce(_engine(request), request.references)
    refused = [item for request in requests for item in refusals(request, running.applications)]
    return tuple(refused) or _analysed(requests, running)


def refusals(request: ChangeRequest, applications: Applications) -> tuple[Diagnostic, ...]:
    """Why a generation cannot begin as asked; nothing has been changed or stopped. Reads the disk only."""
    if not begins_generation(request):
        return ()
    try:
        switch = switch_of(request, applications, early=True)
        return decide(switch, read_state(switch, applications)).refusals
    except Failure as failure:
        return failure.diagnostics


def _analysed(requests: Sequence[ChangeRequest], running: RunningJobs) -> tuple[Diagnostic, ...]:
    """Asks Spark. An application that is started for the question resumes its jobs, but not those that
    are about to change: what they were may be what ended it. They are let go again where nothing comes of
    the apply.
    """
    held = _hold(requests, running)
    try:
        found = analyse(requests, running.applications)
    except BaseException:
        _let_go(held, running)
        raise
    if any(item.severity is Severity.ERROR for item in found) or any(
        request.cancel.is_set() for request in requests
    ):
        _let_go(held, running)
    return found


def _engine(request: ChangeRequest) -> EngineDefinition:
    return JobDefinition.of(request.action.planned).runs_in


def _hold(requests: Sequence[ChangeRequest], running: RunningJobs) -> list[ChangeRequest]:
    if not any(JobPayload.of(request.action.payload).analyse for request in requests):
        return []
    held = []
    for request in requests:
        engine = _engine(request)
        entry = running.entry(engine, request.address)
        if (
            entry is None
            or entry.state != "running"
            or liveness(read_status(running.applications.control(engine))) is not Liveness.GONE
        ):
            continue
        payload = JobPayload.of(request.action.payload)
        if payload.analyse or payload.nonce not in (None, entry.nonce):
            running.want(request, engine, replace(entry, state="stopped"))
            held.append(request)
    return held


def _let_go(held: Sequence[ChangeRequest], running: RunningJobs) -> None:
    for request in held:
        engine = _engine(request)
        entry = running.entry(engine, request.address)
        if entry is not None:
            running.want(request, engine, replace(entry, state="running"))
