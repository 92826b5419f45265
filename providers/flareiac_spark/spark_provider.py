"""The provider of Spark: engines, streams, checkpoints, jobs.

Each room is loaded when a project has a block that needs it: a command about another project starts without.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.kernel.data import is_known
from flareiac.kernel.data import references as references_in
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure
from flareiac.sdk.actions import RunCommand
from flareiac.sdk.capabilities import Check
from flareiac.sdk.documents import Topic
from flareiac.sdk.driver import Driver
from flareiac.sdk.maintenance import PerformRequest
from flareiac.sdk.optional_packages import needed_by
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.run_status import LogText
from flareiac.sdk.table_tasks import Performed
from flareiac_spark import codes
from flareiac_spark_runtime.storage import ObjectStore, open_with

if TYPE_CHECKING:
    from flareiac_spark.engine.start_needs import StartNeeds
    from flareiac_spark.runtime.coordinates import Coordinate


def _open_bucket(name: str) -> ObjectStore:
    with needed_by(f"The place s3://{name} of checkpoints or a control directory"):
        from flareiac_spark.s3_store import S3Store
    return S3Store(name)


open_with(_open_bucket)


class SparkProvider:
    """See ``flareiac.sdk.provider.Provider``."""

    name = "spark"

    def resource_types(self) -> Mapping[str, Offered]:
        return {
            "engine": Offered(load=_engine, embedded=True),
            "stream": Offered(load=_stream),
            "checkpoint": Offered(load=_checkpoint),
            "job": Offered(load=_job),
        }

    def functions(self) -> Sequence[Function]:
        return ()

    def codes(self) -> CodeTable:
        """The codes of its diagnostics."""
        return code_table(codes)

    def topics(self) -> Sequence[Topic]:
        """See ``flareiac.sdk.documents.Documented``."""
        from flareiac_spark.documents import topics

        return topics()

    def open(self, project: Project) -> "SparkSession":
        return SparkSession(project)

    def serve(self, location: str, root: Path, *, wait: bool) -> int:
        """Runs the driver of an application in this process."""
        from flareiac_spark.application.serve import serve

        return serve(location, root, wait=wait)


class SparkSession:
    """An open provider: no Spark runs in it."""

    def __init__(self, project: Project) -> None:
        from flareiac_spark.engine.application import Applications

        self._project = project
        self._applications = Applications(project)
        self._start_needs: StartNeeds | None = None

    def driver(self, type_name: str) -> Driver:
        match type_name:
            case "checkpoint":
                from flareiac_spark.checkpoint.driver import CheckpointDriver

                return CheckpointDriver(self._project)
            case "job":
                from flareiac_spark.job.driver import JobDriver

                return JobDriver(self._applications)
            case _:
                raise ValueError(f"{type_name} has no driver")

    def perform(self, request: PerformRequest) -> Performed:
        """See ``flareiac.sdk.maintenance.Performing``."""
        from flareiac_spark.maintenance import perform

        return perform(request, self._applications)

    def disturbed(self, address: str, performer: Resolved, references: References) -> Sequence[Diagnostic]:
        """See ``flareiac.sdk.maintenance.Performing``."""
        from flareiac_spark.engine.engine_definition import EngineDefinition
        from flareiac_spark.engine.other_jobs import restarted_jobs

        engine = EngineDefinition.of(performer.attributes)
        restarted = restarted_jobs(self._applications, engine, references)
        way_out = "Another engine for the maintenance of this table leaves them running."
        return () if restarted is None else (restarted.warning(address, performer.address, way_out),)

    def outcome(self, request: PerformRequest) -> Performed | None:
        """See ``flareiac.sdk.maintenance.Performing``."""
        from flareiac_spark.maintenance import outcome

        return outcome(request, self._applications)

    def steer_connection(
        self, verb: RunCommand, connection: Resolved, cancel: Event, progress: Callable[[str], None]
    ) -> Sequence[str]:
        """See ``flareiac.sdk.capabilities.ConnectionControl``."""
        from flareiac_spark.engine.steer import steer_engine

        return steer_engine(verb, connection, self._applications, cancel, progress)

    def connection_log(self, connection: Resolved) -> LogText | None:
        """See ``flareiac.sdk.capabilities.ConnectionControl``."""
        from flareiac_spark.engine.engine_definition import EngineDefinition
        from flareiac_spark.job.log_text import APPLICATION, log_text

        control = self._applications.control(EngineDefinition.of(connection.attributes))
        return log_text(control, APPLICATION)

    def checks(self, references: References) -> Sequence[Check]:
        """Java, jars and the rest that an application needs."""
        from flareiac_spark.engine.doctor import check_engine
        from flareiac_spark.runtime.doctor import check_runtime

        engines = [reference for reference in references.values() if reference.type == "engine"]
        return (
            *check_runtime(
                self._project.root,
                _packages(references, _locked(self._project.root)) if _runs_something(references) else None,
            ),
            *(check_engine(engine, self._applications) for engine in engines),
        )

    def lacking(self, starting: Resolved, references: References) -> Sequence[Diagnostic]:
        """See ``flareiac.sdk.capabilities.Preparing``."""
        if starting.type not in ("job", "engine") or not is_known(starting.attributes):
            return ()
        from flareiac_spark.definition.job_definition import JobDefinition
        from flareiac_spark.engine.engine_definition import EngineDefinition
        from flareiac_spark.engine.start_needs import StartNeeds

        needs = self._start_needs = self._start_needs or StartNeeds(self._applications)
        if starting.type == "engine":
            return needs.lacking(EngineDefinition.of(starting.attributes), references)
        job = JobDefinition.of(starting.attributes)
        if job.application is None or not job.starts_by_itself:
            return ()
        return needs.lacking(job.application, references)

    def initialise(
        self,
        references: References,
        progress: Callable[[str], None],
        diagnostics: Diagnostics,
        *,
        upgrade: bool,
    ) -> Sequence[str]:
        """Fetches and locks the jars, where something is declared that Spark runs."""
        if not any(reference.type in ("engine", "job") for reference in references.values()):
            return ("no engine and no job: no jars are needed",)
        from flareiac_spark.runtime.init import init
        from flareiac_spark.runtime.versions import installed_pyspark

        if not _declares_spark(references) and installed_pyspark() is None:
            return ("no engine and no job, and PySpark is not installed: no jars were fetched",)
        report = init(
            self._project.root, lambda locked: _packages(references, locked), progress, upgrade=upgrade
        )
        for each in report.warnings:
            diagnostics.add(each)
        lines = [report.line_of(jar) for jar in report.jars]
        lines.append(f"{report.lock_file.name} {'written' if report.lock_changed else 'unchanged'}")
        return (
            (*lines, "class-data archive: being made in the background")
            if report.archive_started
            else tuple(lines)
        )

    def close(self) -> None:
        """Nothing is held."""


def _declares_spark(references: References) -> bool:
    """True where a job or an engine is written. The engine that every project has by default asks for
    nothing: tables and outputs do without Spark.
    """
    return any(
        reference.type == "job" or (reference.type == "engine" and not reference.implied)
        for reference in references.values()
    )


def _runs_something(references: References) -> bool:
    """True where anything declared runs in Spark: also maintenance, whose tables refer to an engine."""
    engines = {address for address, reference in references.items() if reference.type == "engine"}
    return _declares_spark(references) or any(
        engines.intersection(references_in(reference.attributes)) for reference in references.values()
    )


def _locked(root: Path) -> "Collection[Coordinate]":
    """The coordinates in the lock file; none where it cannot be read, which is a finding of its own."""
    from flareiac_spark.runtime.lock_file import read_lock

    try:
        return read_lock(root) or ()
    except Failure:
        return ()


def _packages(references: References, locked: "Collection[Coordinate]") -> tuple[str, ...]:
    from flareiac_spark.engine.application import packages_of
    from flareiac_spark.engine.engine_definition import EngineDefinition

    engines = [reference for reference in references.values() if reference.type == "engine"]
    return packages_of([EngineDefinition.of(engine.attributes) for engine in engines], references, locked)


def _engine() -> ResourceType:
    from flareiac_spark.engine.resource_type import ENGINE

    return ENGINE


def _stream() -> ResourceType:
    from flareiac_spark.stream.resource_type import stream

    return stream()


def _checkpoint() -> ResourceType:
    from flareiac_spark.checkpoint.resource_type import CHECKPOINT

    return CHECKPOINT


def _job() -> ResourceType:
    from flareiac_spark.job.resource_type import JOB

    return JOB
