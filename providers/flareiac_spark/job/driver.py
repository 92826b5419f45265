"""Carries out what was planned for jobs: stage by stage, and confirms what came of it.

Touches control directories, checkpoints, and processes through ``Applications``.
"""

from collections.abc import Sequence
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.sdk.capabilities import RunCommand
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ReadRequest
from flareiac.sdk.results import Applied, NotApplied, Observation, Outcome, Recorded, StageDone, Unreadable
from flareiac.sdk.run_status import RunStatus
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications
from flareiac_spark.generation import rollback
from flareiac_spark.generation.perform import not_planned
from flareiac_spark.job import stages
from flareiac_spark.job.confirm import await_settled, confirm, settled_already
from flareiac_spark.job.identity import left_behind
from flareiac_spark.job.inspect import inspect_job
from flareiac_spark.job.perform import perform
from flareiac_spark.job.preflight import preflight
from flareiac_spark.job.put_back import put_back
from flareiac_spark.job.read import read_job
from flareiac_spark.job.running import RunningJobs
from flareiac_spark.job.target import Target, target_of
from flareiac_spark.observation.job import observed_facts


class JobDriver:
    """Jobs of every engine of one project."""

    def __init__(self, applications: Applications) -> None:
        self._applications, self._running = applications, RunningJobs(applications)

    def read(self, request: ReadRequest) -> Observation:
        return read_job(request, self._applications)

    def preflight(self, requests: Sequence[ApplyRequest]) -> tuple[Diagnostic, ...]:
        """Has Spark analyse every new or changed definition on empty frames."""
        return preflight(requests, self._running)

    def perform(self, request: ApplyRequest) -> StageDone:
        """See ``flareiac.sdk.capabilities.Staged``."""
        return perform(request, self._running)

    def apply(self, request: ApplyRequest) -> Outcome:
        """The stages before it have put the definition among what should run: whether it does."""
        self._running.find_out(request)
        target = target_of(request, self._running)
        self._stand_by(request, target)
        outcome = confirm(request, target, self._running)
        if (
            isinstance(outcome, NotApplied)
            and rollback.is_asked_for(target.definition)
            and not request.cancel.is_set()
        ):
            note = request.notes.get(stages.ROLLBACK_POINT)
            return put_back(request, target, note, outcome, self._running)
        return outcome

    def delete(self, request: ApplyRequest) -> Outcome:
        recorded = _recorded(request)
        job = JobDefinition.of(recorded.attributes)
        engine = job.runs_in
        self._running.find_out(request)
        self._applications.drop(engine, request.address)
        self._running.await_stop(request.address, engine, request.cancel)
        return _gone(recorded, left_behind(job, request.going))

    def quiesce(self, request: ApplyRequest) -> Outcome:
        self._running.find_out(request)
        return self._stopped(request)

    def steer(self, verb: RunCommand, request: ApplyRequest) -> Outcome:
        recorded = _recorded(request)
        self._running.find_out(request)
        if verb is RunCommand.STOP:
            return self._stopped(request)
        engine = JobDefinition.of(recorded.attributes).runs_in
        entry = self._running.entry(engine, request.address)
        if entry is None:
            again = replace(request, planned=recorded.attributes, payload=None, stage=stages.START)
            self.perform(again)
            return self.apply(replace(again, stage=""))
        job = self._running.status(engine, request.address)
        failed = job is not None and job.phase == "failed"
        wanted = replace(entry, state="running", nonce=entry.nonce + (verb is RunCommand.RESTART or failed))
        self._running.want(request, engine, wanted)
        return await_settled(request, recorded.attributes, wanted, self._running, {})

    def starting(self, recorded: Recorded, observed: Observation, *, by_name: bool) -> Attributes | None:
        """See ``flareiac.sdk.capabilities.Starting``: as one that is started again by its block."""
        facts = observed_facts(observed)
        if by_name or isinstance(observed, Unreadable) or (facts is not None and facts.state == "running"):
            nonce = JobDefinition.of(recorded.attributes).restart_nonce + 1
            return {**recorded.attributes, "stopped": False, "run": "on_change", "restart_nonce": nonce}
        return None

    def settle(self, request: ApplyRequest) -> Outcome | None:
        if request.action != "delete":
            return self._settled(request)
        recorded = _recorded(request)
        engine = JobDefinition.of(recorded.attributes).runs_in
        entry = self._running.entry(engine, request.address)
        gone = entry is None and not self._running.may_run(engine, request.address)
        return _gone(recorded) if gone else None

    def inspect(self, address: str, recorded: Recorded, references: References) -> RunStatus:
        """See ``flareiac.sdk.capabilities.Inspecting``."""
        return inspect_job(address, recorded, references, self._applications)

    def _settled(self, request: ApplyRequest) -> Outcome | None:
        if self._running.entry(JobDefinition.of(request.planned or {}).runs_in, request.address) is None:
            return None
        try:
            target = target_of(request, self._running)
        except Failure:
            return None  # what it refers to was not made, so that it is not what should run
        return settled_already(request, target, self._running)

    def _stopped(self, request: ApplyRequest) -> Outcome:
        recorded = _recorded(request)
        self._running.stop(request.address, recorded, request.cancel)
        return _gone(recorded, "stopped")

    def _stand_by(self, request: ApplyRequest, target: Target) -> None:
        """Raises ``Failure`` where another definition is what should run. A run that has ended rests, and
        finds its result when it is wanted again.
        """
        entry = self._running.entry(target.engine, request.address)
        if entry is None or not target.is_wanted(replace(entry, state=target.job().state)):
            raise Failure(not_planned(request.address, "another definition is what should run"))
        if not target.is_wanted(entry):
            self._running.want(request, target.engine, target.job())


def _gone(recorded: Recorded, *messages: str) -> Applied:
    return Applied(attributes=recorded.attributes, identity=recorded.identity, messages=messages)


def _recorded(request: ApplyRequest) -> Recorded:
    assert request.recorded is not None, "only what is recorded runs"
    return request.recorded
