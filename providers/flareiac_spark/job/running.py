"""Jobs in their applications: what should run, whether it does, and stopping it. Touches control directories,
and processes through ``Applications``.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.requests import ApplyRequest, ChangeRequest
from flareiac.sdk.results import Recorded
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.control import Desired, DesiredJob, JobStatus, job_spec_from_json
from flareiac_spark.definition.build import by_folder
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.job.wait import runs_no_more, still_running, wait_until_stopped


class RunningJobs:
    """The jobs of every engine of one project."""

    def __init__(self, applications: Applications) -> None:
        self.applications = applications

    def entry(self, engine: EngineDefinition, address: str) -> DesiredJob | None:
        """What should run under an address."""
        desired = read_desired(self.applications.control(engine))
        return desired.jobs.get(address) if desired else None

    def status(self, engine: EngineDefinition, address: str) -> JobStatus | None:
        """What the application said of a job last."""
        status = read_status(self.applications.control(engine))
        return status.jobs.get(address) if status else None

    def want(self, request: ApplyRequest[object], engine: EngineDefinition, job: DesiredJob) -> None:
        """Puts a job among what should run, with the settings of its application."""
        self.applications.want(engine, request.references, _with(request.address, job))

    def hold(self, address: str, engine: EngineDefinition, until: float) -> None:
        """A job is not started before a time (UTC seconds), unless it is put among what should run again.
        Raises ``Failure``.
        """
        self.applications.revise(engine, lambda current: current.with_held(address, until))

    def let_go(self, address: str, engine: EngineDefinition) -> None:
        """A job that was held may start. Raises ``Failure``."""
        self.applications.revise(engine, lambda current: current.without_held(address))

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
        engine = JobDefinition.of(recorded.attributes).runs_in
        entry = self.entry(engine, address)
        if entry is not None and entry.state == "running":
            self.applications.revise(engine, _with(address, replace(entry, state="stopped")))
        self.await_stop(address, engine, cancel)

    def await_stop(self, address: str, engine: EngineDefinition, cancel: threading.Event) -> None:
        """Returns when the job certainly runs no more. Raises ``Failure`` if it may: nothing is said to have
        stopped by assumption.
        """
        control, patience = self.applications.control(engine), engine.graceful_stop_ms / 1000 + 60
        if liveness(read_status(control)) is Liveness.GONE:
            return
        try:
            stopped = wait_until_stopped(control, address, patience, cancel)
        except Failure:
            if liveness(read_status(control)) is not Liveness.GONE:
                raise
            return
        if not stopped:
            raise Failure(still_running(address, patience, cancel.is_set()))

    def may_run(self, engine: EngineDefinition, address: str) -> bool:
        """Whether a query of the job may be at work."""
        status = read_status(self.applications.control(engine))
        return (
            status is not None and liveness(status) is not Liveness.GONE and not runs_no_more(status, address)
        )

    def is_stopped(self, engine: EngineDefinition, address: str) -> bool:
        """Whether nothing of a job runs, nor would if its application were started."""
        entry = self.entry(engine, address)
        return (entry is None or entry.state == "stopped") and not self.may_run(engine, address)

    def leave(self, request: ChangeRequest, engine: EngineDefinition) -> None:
        """A job that moves to another application is taken out of the old one, once it has stopped there.
        Raises ``Failure``.
        """
        if (recorded := request.action.recorded) is None:
            return
        old = JobDefinition.of(recorded.attributes).runs_in
        if old.runtime_location != engine.runtime_location:
            self.applications.drop(old, request.address)
            self.await_stop(request.address, old, request.cancel)

    def note_queries(self, address: str, engine: EngineDefinition, digest: str, job: JobStatus) -> None:
        """The driver proves by them, also one that comes after it, that a checkpoint is still the one that
        the job ran on.
        """
        self.applications.revise(
            engine, _knowing(address, digest, {query.output: query.id for query in job.queries})
        )


def _knowing(address: str, digest: str, queries: Mapping[str, str | None]) -> Callable[[Desired], Desired]:
    """What should run, with the queries that a definition has started."""

    def changed(current: Desired) -> Desired:
        entry = current.jobs.get(address)
        if entry is None or entry.digest != digest:
            return current
        known = by_folder(job_spec_from_json(dict(entry.spec)), queries)
        return _with(address, replace(entry, queries={**entry.queries, **known}))(current)

    return changed


def _with(address: str, job: DesiredJob) -> Callable[[Desired], Desired]:
    return lambda current: current.with_job(address, job)
