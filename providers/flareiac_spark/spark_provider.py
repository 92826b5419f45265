"""The provider of Spark: engines, streams, checkpoints, jobs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.sdk.capabilities import Check, Steer
from flareiac.sdk.documents import Topic
from flareiac.sdk.driver import Driver
from flareiac.sdk.maintenance import Performed, PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac_spark import codes
from flareiac_spark.checkpoint import canonical as checkpoint_spec
from flareiac_spark.checkpoint import schema as checkpoint_schema
from flareiac_spark.checkpoint.driver import CheckpointDriver
from flareiac_spark.checkpoint.plan import CheckpointPlanner
from flareiac_spark.definition import canonical as job_spec
from flareiac_spark.definition import claims as job_claims
from flareiac_spark.definition import schema as job_schema
from flareiac_spark.engine import canonical as engine_spec
from flareiac_spark.engine import schema as engine_schema
from flareiac_spark.engine.application import Applications, packages_of
from flareiac_spark.generation import snapshot_holds as job_holds
from flareiac_spark.job.driver import JobDriver
from flareiac_spark.job.plan import JobPlanner
from flareiac_spark.stream import canonical as stream_spec
from flareiac_spark.stream import schema as stream_schema


class SparkProvider:
    """See ``flareiac.sdk.provider.Provider``."""

    name = "spark"

    def resource_types(self) -> Sequence[ResourceType]:
        return (_ENGINE, _STREAM, _CHECKPOINT, _JOB)

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

    def serve(self, location: Path, root: Path) -> int:
        """Runs the driver of an application in this process."""
        from flareiac_spark.application.serve import serve

        return serve(location, root)


class SparkSession:
    """An open provider: no Spark runs in it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._applications = Applications(project)

    def driver(self, type_name: str) -> Driver:
        match type_name:
            case "checkpoint":
                return CheckpointDriver(self._project)
            case "job":
                return JobDriver(self._applications)
            case _:
                raise ValueError(f"{type_name} has no driver")

    def perform(self, request: PerformRequest) -> Performed:
        """See ``flareiac.sdk.maintenance.Performing``."""
        from flareiac_spark.maintenance import perform

        return perform(request, self._applications)

    def outcome(self, request: PerformRequest) -> Performed | None:
        """See ``flareiac.sdk.maintenance.Performing``."""
        from flareiac_spark.maintenance import outcome

        return outcome(request, self._applications)

    def steer_connection(self, verb: Steer, connection: Resolved, cancel: Event, progress: Callable[[str], None]) -> Sequence[str]:
        """See ``flareiac.sdk.capabilities.SteeringConnections``."""
        from flareiac_spark.engine.steer import steer_engine

        return steer_engine(verb, connection, self._applications, cancel, progress)

    def checks(self, references: References) -> Sequence[Check]:
        """Java, jars and the rest that an application needs."""
        from flareiac_spark.engine.doctor import check_engine
        from flareiac_spark.runtime.doctor import check_runtime

        engines = [item for item in references.values() if item.type == "engine"]
        return (*check_runtime(self._project.root, _packages(references)), *(check_engine(item, self._applications) for item in engines))

    def initialise(self, references: References, progress: Callable[[str], None]) -> Sequence[str]:
        """Fetches and locks the jars."""
        from flareiac_spark.runtime.init import init

        report = init(self._project.root, _packages(references), progress)
        lines = [f"{jar.coordinate}{' (fetched)' if jar.fetched else ''}" for jar in report.jars]
        lines.append(f"{report.lock_file.name} {'written' if report.lock_changed else 'unchanged'}")
        return (*lines, "class-data archive: being made in the background") if report.archive_started else tuple(lines)

    def close(self) -> None:
        """Nothing is held."""


def _packages(references: References) -> tuple[str, ...]:
    return packages_of([item.attributes for item in references.values() if item.type == "engine"], references)


_ENGINE = ResourceType(
    name="engine",
    kind=Kind.CONNECTION,
    schema=engine_schema.SCHEMA,
    description="Where jobs run: one Spark application for all jobs of the engine.",
    canonical=engine_spec.canonical,
    sources=engine_spec.sources,
    default={},
)
_STREAM = ResourceType(
    name="stream",
    kind=Kind.DECLARATION,
    schema=stream_schema.SCHEMA,
    description="A source of unbounded data for the inputs of streaming jobs.",
    canonical=stream_spec.canonical,
    sources=stream_spec.sources,
)
_CHECKPOINT = ResourceType(
    name="checkpoint",
    kind=Kind.MANAGED,
    schema=checkpoint_schema.SCHEMA,
    description="The offsets and state of a streaming job.",
    canonical=checkpoint_spec.canonical,
    planner=CheckpointPlanner(),
    claims=checkpoint_spec.claims,
    places=checkpoint_spec.places,
)
_JOB = ResourceType(
    name="job",
    kind=Kind.MANAGED,
    schema=job_schema.SCHEMA,
    description="A streaming or batch query: inputs, steps, outputs.",
    canonical=job_spec.canonical,
    planner=JobPlanner(),
    claims=job_claims.claims,
    holds=job_holds.holds,
    kept_by=job_holds.kept_by,
    sources=job_spec.sources,
)
