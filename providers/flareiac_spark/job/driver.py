"""Carries out what was planned for jobs: stage by stage, and confirms what came of it.

Touches control directories, checkpoints, and processes through ``Applications``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.actions import (
    Adopt,
    Control,
    Create,
    Delete,
    PerformStage,
    Quiesce,
    RunCommand,
    Settleable,
    Update,
)
from flareiac.sdk.capabilities import Preflight, Proofs
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import Applied, NotApplied, Observation, Outcome, Recorded, StageDone, Unreadable
from flareiac.sdk.run_status import LogText, RunStatus
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import KnownJob, recorded_identity
from flareiac_spark.engine.application import Applications
from flareiac_spark.generation import rollback
from flareiac_spark.generation.perform import not_planned
from flareiac_spark.job import stages
from flareiac_spark.job.confirm import await_settled, confirm, settled_already
from flareiac_spark.job.identity import left_behind
from flareiac_spark.job.inspect import inspect_job
from flareiac_spark.job.log_text import log_text
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.perform import perform
from flareiac_spark.job.preflight import preflight, prove
from flareiac_spark.job.prove_here import prove_here
from flareiac_spark.job.put_back import put_back
from flareiac_spark.job.reach import ReachReader
from flareiac_spark.job.read import Readers, read_job
from flareiac_spark.job.running import RunningJobs, changed_job
from flareiac_spark.job.schemas import SchemaReader
from flareiac_spark.job.target import Target, target_of
from flareiac_spark.job.written_schemas import SubjectReader
from flareiac_spark.observation.job import observed_facts
from flareiac_spark.sources.findings import InputReach
from flareiac_spark_runtime.checkpoint_log import Damaged


class JobDriver:
    """Jobs of every engine of one project."""

    def __init__(self, applications: Applications) -> None:
        self._applications, self._running = applications, RunningJobs(applications)
        self._reach = ReachReader(applications.project)
        self._readers = Readers(reach=self._reach, schemas=SchemaReader(), subjects=SubjectReader())

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """Asks the brokers and the schema registries of all these jobs once."""
        self._readers.prefetch(requests)
        return {}

    def read(self, request: ReadRequest) -> Observation:
        return read_job(request, self._applications, self._readers)

    def preflight(self, requests: Sequence[ChangeRequest]) -> Preflight:
        """Has Spark analyse every new or changed definition on empty frames, and prove what the plan takes
        for granted.
        """
        return preflight(requests, self._running)

    def prove(self, requests: Sequence[ChangeRequest], *, locally: bool) -> Proofs:
        """See ``flareiac.sdk.capabilities.Proving``."""
        return prove_here(requests, self._applications.project) if locally else prove(requests, self._running)

    def perform(self, request: ApplyRequest[PerformStage]) -> StageDone:
        """See ``flareiac.sdk.capabilities.Staged``."""
        stage = request.action
        return perform(request.with_action(stage.change), stage.name, self._running)

    def apply(self, request: ChangeRequest) -> Outcome:
        """The stages before it have put the definition among what should run: whether it does. Where only
        the text is another one, nothing did.
        """
        if JobPayload.of(request.action.payload).text_only:
            return self._text_recorded(request)
        self._running.end_silent_applications(request)
        target = target_of(request, self._running)
        self._stand_by(request, target)
        outcome = confirm(request, target, self._running)
        if (
            isinstance(outcome, NotApplied)
            and rollback.is_asked_for(target.definition)
            and not request.cancel.is_set()
        ):
            note = request.action.notes.get(stages.ROLLBACK_POINT)
            return put_back(request, target, note, outcome, self._running)
        return outcome

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        recorded = request.action.recorded
        definition, job = JobDefinition.of(recorded.attributes), KnownJob.of(request.address, recorded)
        engine = definition.runs_in
        self._running.end_silent_application(request, recorded)
        name = self._running.drop(job, engine)
        self._running.await_stop(job, engine, request.cancel, name=name)
        return _as_recorded(recorded, left_behind(definition, request.action.going))

    def quiesce(self, request: ApplyRequest[Quiesce]) -> Outcome:
        self._running.end_silent_application(request, request.action.recorded)
        return self._stopped(request, request.action.recorded)

    def steer(self, request: ApplyRequest[Control]) -> Outcome:
        verb, recorded = request.action.command, request.action.recorded
        self._running.end_silent_application(request, recorded)
        if verb is RunCommand.STOP:
            return self._stopped(request, recorded)
        again = request.with_action(Update(planned=recorded.attributes, recorded=recorded))
        engine = JobDefinition.of(recorded.attributes).runs_in
        known = KnownJob.of(request.address, recorded)
        entry = self._running.entry(engine, known)
        if entry is None:
            perform(again, stages.START, self._running)
            return self.apply(again)
        job = self._running.status(engine, known)
        failed = job is not None and job.phase == "failed"
        wanted = replace(entry, state="running", nonce=entry.nonce + (verb is RunCommand.RESTART or failed))
        self._running.want(again, engine, wanted)
        return await_settled(again, recorded.attributes, wanted, self._running, {})

    def starting(self, recorded: Recorded, observed: Observation, *, by_name: bool) -> Attributes | None:
        """See ``flareiac.sdk.capabilities.Starting``: as one that is started again by its block."""
        facts = observed_facts(observed)
        if by_name or isinstance(observed, Unreadable) or (facts is not None and facts.state == "running"):
            nonce = JobDefinition.of(recorded.attributes).restart_nonce + 1
            return {**recorded.attributes, "stopped": False, "run": "on_change", "restart_nonce": nonce}
        return None

    def at_work(self, address: str, recorded: Recorded) -> str | None:
        """See ``flareiac.sdk.capabilities.Detachable``."""
        engine = JobDefinition.of(recorded.attributes).runs_in
        known = KnownJob.of(address, recorded)
        entry, job = self._running.entry(engine, known), self._running.status(engine, known)
        if self._running.may_run(engine, known):
            phase = job.phase if job is not None else "running"
            return f"its Spark application says that it is {phase}"
        ended = job is not None and job.phase == "completed"
        if entry is not None and entry.state == "running" and not ended:
            return "its Spark application starts it when it runs again"
        return None

    def detach(self, address: str, recorded: Recorded) -> None:
        """See ``flareiac.sdk.capabilities.Detachable``."""
        engine, known = JobDefinition.of(recorded.attributes).runs_in, KnownJob.of(address, recorded)
        if self._running.entry(engine, known) is not None:
            self._running.drop(known, engine)

    def rename(self, recorded: Recorded, old: str, new: str) -> Attributes:
        """See ``flareiac.sdk.capabilities.Renaming``: its application goes on to know it by its name."""
        engine = JobDefinition.of(recorded.attributes).runs_in
        name = self._running.rename(KnownJob.of(old, recorded), engine, new)
        identity: Attributes = encode(replace(recorded_identity(recorded), known_as=name))
        return identity

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        match request.action:
            case Create() | Adopt() | Update() as change:
                return self._settled(request.with_action(change))
            case Delete(recorded=recorded):
                engine = JobDefinition.of(recorded.attributes).runs_in
                known = KnownJob.of(request.address, recorded)
                entry = self._running.entry(engine, known)
                gone = entry is None and not self._running.may_run(engine, known)
                return _as_recorded(recorded) if gone else None
            case _:
                return None

    def inspect(self, address: str, recorded: Recorded, references: References) -> RunStatus:
        """See ``flareiac.sdk.capabilities.Inspecting``."""
        return inspect_job(address, recorded, references, self._applications)

    def log(self, address: str, recorded: Recorded) -> LogText | None:
        """See ``flareiac.sdk.capabilities.Inspecting``."""
        engine = JobDefinition.of(recorded.attributes).runs_in
        name = self._running.name(engine, KnownJob.of(address, recorded))
        return log_text(self._applications.control(engine), name)

    def reach(self, recorded: Recorded, references: References) -> Mapping[str, Mapping[str, InputReach]]:
        """See ``flareiac_spark.observation.job.KnowsReach``."""
        try:
            return self._reach.of_recorded(JobDefinition.of(recorded.attributes), references)
        except Damaged as error:
            raise Failure(damage("", error)) from None

    def _text_recorded(self, request: ChangeRequest) -> Applied:
        proof = self._applications.proofs.get(request.address)
        identity = encode(recorded_identity(request.action.recorded))
        said = f"Spark {proof.spark} proves that it is the same query" if proof is not None else ""
        return Applied(
            attributes=request.action.planned,
            identity=self._running.with_proof(request.address, identity),
            messages=(said,) if said else (),
        )

    def _settled(self, request: ChangeRequest) -> Outcome | None:
        if JobPayload.of(request.action.payload).text_only:
            return None  # nothing but the record can have been made
        engine = JobDefinition.of(request.action.planned).runs_in
        if self._running.entry(engine, changed_job(request)) is None:
            return None
        try:
            target = target_of(request, self._running)
        except Failure:
            return None  # what it refers to was not made, so that it is not what should run
        return settled_already(request, target, self._running)

    def _stopped(self, request: ApplyRequest[object], recorded: Recorded) -> Outcome:
        self._running.stop(request.address, recorded, request.cancel)
        return _as_recorded(recorded, "stopped")

    def _stand_by(self, request: ChangeRequest, target: Target) -> None:
        """Raises ``Failure`` where another definition is what should run. A run that has ended rests, and
        finds its result when it is wanted again.
        """
        entry = self._running.entry(target.engine, changed_job(request))
        if entry is None or not target.is_wanted(replace(entry, state=target.job().state)):
            raise Failure(not_planned(request.address, "another definition is what should run"))
        if not target.is_wanted(entry):
            self._running.want(request, target.engine, target.job())


def _as_recorded(recorded: Recorded, *messages: str) -> Applied:
    return Applied(attributes=recorded.attributes, identity=recorded.identity, messages=messages)
