"""Jobs in their applications: what should run, whether it does, and stopping it. Touches control directories,
and processes through ``Applications``.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.kill_points import reach
from flareiac.kernel.records import encode
from flareiac.sdk.requests import ApplyRequest, ChangeRequest
from flareiac.sdk.results import Recorded
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.definition.build import by_folder
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity, KnownJob, with_proof
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.generation.await_jvm import await_jvm
from flareiac_spark.job.wait import runs_no_more, still_running, wait_until_stopped
from flareiac_spark_runtime.control import Desired, DesiredJob, JobStatus, job_spec_from_json


class RunningJobs:
    """The jobs of every engine of one project."""

    def __init__(self, applications: Applications) -> None:
        self.applications = applications

    def with_proof(self, address: str, identity: Attributes) -> Attributes:
        """The identity of a job, with what Spark proved of it at the beginning."""
        proof = self.applications.proofs.get(address)
        known: Attributes = (
            encode(with_proof(JobIdentity.of(identity), proof)) if proof is not None else identity
        )
        return known

    def name(self, engine: EngineDefinition, job: KnownJob) -> str:
        """Under which the application of an engine knows a job, or would."""
        return job.name_in(read_desired(self.applications.control(engine)))

    def entry(self, engine: EngineDefinition, job: KnownJob) -> DesiredJob | None:
        """The entry of a job in the desired state, None if there is none."""
        return job.entry_in(read_desired(self.applications.control(engine)))

    def status(self, engine: EngineDefinition, job: KnownJob) -> JobStatus | None:
        """The status that the application wrote last of a job, None without one."""
        status = read_status(self.applications.control(engine))
        return status.jobs.get(self.name(engine, job)) if status else None

    def want(self, request: ChangeRequest, engine: EngineDefinition, wanted: DesiredJob) -> None:
        """Puts a job among what should run, with the settings of its application."""
        self.applications.want(engine, request.references, _with(changed_job(request), wanted))

    def drop(self, job: KnownJob, engine: EngineDefinition) -> str:
        """A job is no longer wanted; returns the name that it had there. Raises ``Failure``."""
        name = self.name(engine, job)
        self.applications.revise(engine, lambda current: current.without_job(job.name_in(current)))
        return name

    def rename(self, job: KnownJob, engine: EngineDefinition, address: str) -> str:
        """A job gets another address, and keeps its name, which is returned: what runs goes on. Raises
        ``Failure``.
        """

        def changed(current: Desired) -> Desired:
            name, entry = job.name_in(current), job.entry_in(current)
            if entry is None or "address" not in entry.spec:
                return current
            there = replace(entry, spec={**entry.spec, "address": address})
            return replace(current, jobs={**current.jobs, name: there})

        name = self.name(engine, job)
        self.applications.revise(engine, changed)
        return name

    def end_silent_application(self, request: ApplyRequest[object], recorded: Recorded | None) -> None:
        """An application that is silent on another host counts as ended where its lease proves that it is
        gone: that of the recorded job. Raises ``Failure``.
        """
        if recorded is not None:
            engine = JobDefinition.of(recorded.attributes).runs_in
            self.applications.end_if_gone(engine, request.cancel, request.progress)

    def end_silent_applications(self, request: ChangeRequest) -> None:
        """As ``end_silent_application``, and that of the planned job, too. Raises ``Failure``."""
        engine = JobDefinition.of(request.action.planned).runs_in
        self.applications.end_if_gone(engine, request.cancel, request.progress)
        self.end_silent_application(request, request.action.recorded)

    def stop(self, address: str, recorded: Recorded, cancel: threading.Event) -> None:
        """Returns when the recorded job certainly runs no more; it stays declared. Raises ``Failure``."""
        engine, job = JobDefinition.of(recorded.attributes).runs_in, KnownJob.of(address, recorded)
        entry = self.entry(engine, job)
        if entry is not None and entry.state == "running":
            self.applications.revise(engine, _with(job, replace(entry, state="stopped")))
        self.await_stop(job, engine, cancel)

    def await_stop(
        self, job: KnownJob, engine: EngineDefinition, cancel: threading.Event, *, name: str = ""
    ) -> None:
        """Returns when the job certainly runs no more. Raises ``Failure`` if it may: nothing is said to have
        stopped by assumption. ``name``: the one that it had, where it is no longer wanted there.
        """
        control, patience = self.applications.control(engine), engine.graceful_stop_ms / 1000 + 60
        if liveness(read_status(control)) is Liveness.GONE:
            return
        try:
            stopped = wait_until_stopped(control, name or self.name(engine, job), patience, cancel)
        except Failure:
            if liveness(read_status(control)) is not Liveness.GONE:
                raise
            return
        if not stopped:
            raise Failure(still_running(job.address, patience, cancel.is_set()))

    def may_run(self, engine: EngineDefinition, job: KnownJob) -> bool:
        """Returns True if a query of the job may be at work."""
        status = read_status(self.applications.control(engine))
        return (
            status is not None
            and liveness(status) is not Liveness.GONE
            and not runs_no_more(status, self.name(engine, job))
        )

    def is_stopped(self, engine: EngineDefinition, job: KnownJob) -> bool:
        """Returns True if nothing of a job runs, nor would if its application were started."""
        entry = self.entry(engine, job)
        return (entry is None or entry.state == "stopped") and not self.may_run(engine, job)

    def leave(self, request: ChangeRequest, engine: EngineDefinition) -> None:
        """A job that moves to another application is taken out of the old one, once it has stopped there and
        no JVM is left that could commit. Raises ``Failure``.
        """
        if (recorded := request.action.recorded) is None:
            return
        old = JobDefinition.of(recorded.attributes).runs_in
        if old.runtime_location != engine.runtime_location:
            job = changed_job(request)
            self.stop(request.address, recorded, request.cancel)
            await_jvm(request, self.applications)
            reach("move.stopped")
            self.drop(job, old)
            reach("move.left")

    def note_queries(self, job: KnownJob, engine: EngineDefinition, digest: str, said: JobStatus) -> None:
        """The driver proves by them, also one that comes after it, that a checkpoint is still the one that
        the job ran on.
        """
        self.applications.revise(
            engine, _knowing(job, digest, {query.output: query.id for query in said.queries})
        )


def changed_job(request: ChangeRequest) -> KnownJob:
    """The job that a request is about."""
    return KnownJob.of(request.address, request.action.recorded)


def _knowing(job: KnownJob, digest: str, queries: Mapping[str, str | None]) -> Callable[[Desired], Desired]:
    """The change that adds the queries which a definition has started to the desired state."""

    def changed(current: Desired) -> Desired:
        entry = job.entry_in(current)
        if entry is None or entry.digest != digest:
            return current
        known = by_folder(job_spec_from_json(dict(entry.spec)), queries)
        return _with(job, replace(entry, queries={**entry.queries, **known}))(current)

    return changed


def _with(job: KnownJob, wanted: DesiredJob) -> Callable[[Desired], Desired]:
    return lambda current: current.with_job(job.name_in(current), wanted)
