"""The provider of Spark: engines, streams, checkpoints, jobs.

The rooms of jobs and checkpoints, and with them the SQL parser, are loaded when a project has a block that
needs them: a command about another project starts without them.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.actions import RunCommand
from flareiac.sdk.capabilities import Check
from flareiac.sdk.changes import Proposal, Usage
from flareiac.sdk.documents import Topic
from flareiac.sdk.driver import Driver
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.maintenance import Hold, PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.results import Recorded
from flareiac.sdk.table_tasks import Performed
from flareiac_spark import codes
from flareiac_spark.checkpoint import canonical as checkpoint_canonical
from flareiac_spark.checkpoint import schema as checkpoint_schema
from flareiac_spark.definition import schema as job_schema
from flareiac_spark.engine import canonical as engine_canonical
from flareiac_spark.engine import schema as engine_schema
from flareiac_spark.engine.application import Applications, packages_of
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.storage import ObjectStore, open_with
from flareiac_spark.stream import canonical as stream_canonical
from flareiac_spark.stream import schema as stream_schema


def _open_bucket(name: str) -> ObjectStore:
    from flareiac_spark.storage.s3_store import S3Store

    return S3Store(name)


open_with(_open_bucket)


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

    def serve(self, location: str, root: Path, *, wait: bool) -> int:
        """Runs the driver of an application in this process."""
        from flareiac_spark.application.serve import serve

        return serve(location, root, wait=wait)


class SparkSession:
    """An open provider: no Spark runs in it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._applications = Applications(project)

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

    def checks(self, references: References) -> Sequence[Check]:
        """Java, jars and the rest that an application needs."""
        from flareiac_spark.engine.doctor import check_engine
        from flareiac_spark.runtime.doctor import check_runtime

        engines = [item for item in references.values() if item.type == "engine"]
        return (
            *check_runtime(self._project.root, _packages(references)),
            *(check_engine(item, self._applications) for item in engines),
        )

    def initialise(self, references: References, progress: Callable[[str], None]) -> Sequence[str]:
        """Fetches and locks the jars."""
        from flareiac_spark.runtime.init import init

        report = init(self._project.root, _packages(references), progress)
        lines = [f"{jar.coordinate}{' (fetched)' if jar.fetched else ''}" for jar in report.jars]
        lines.append(f"{report.lock_file.name} {'written' if report.lock_changed else 'unchanged'}")
        return (
            (*lines, "class-data archive: being made in the background")
            if report.archive_started
            else tuple(lines)
        )

    def close(self) -> None:
        """Nothing is held."""


def _packages(references: References) -> tuple[str, ...]:
    engines = [item for item in references.values() if item.type == "engine"]
    return packages_of([EngineDefinition.of(item.attributes) for item in engines], references)


class _CheckpointPlanner:
    def plan(self, request: PlanRequest) -> Proposal:
        from flareiac_spark.checkpoint.plan import CheckpointPlanner

        return CheckpointPlanner().plan(request)

    def fingerprint(self, request: PlanRequest) -> Data:
        from flareiac_spark.checkpoint.plan import CheckpointPlanner

        return CheckpointPlanner().fingerprint(request)


class _JobPlanner:
    def plan(self, request: PlanRequest) -> Proposal:
        from flareiac_spark.job.plan import JobPlanner

        return JobPlanner().plan(request)

    def fingerprint(self, request: PlanRequest) -> Data:
        from flareiac_spark.job.plan import JobPlanner

        return JobPlanner().fingerprint(request)


def _checkpoint_examine(recorded: Recorded) -> object:
    from flareiac_spark.checkpoint_files.layout import recorded_layout
    from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition

    return CheckpointDefinition.of(recorded.attributes), recorded_layout(recorded.identity)


def _job_examine(recorded: Recorded) -> object:
    from flareiac_spark.definition.job_definition import JobDefinition
    from flareiac_spark.definition.job_identity import JobIdentity

    return JobDefinition.of(recorded.attributes), JobIdentity.of(recorded.identity)


def _job_canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    from flareiac_spark.definition.canonical import canonical

    return canonical(decoded, references, project, diagnostics)


def _job_usages(address: str, attributes: Attributes, references: References) -> tuple[Usage, ...]:
    from flareiac_spark.definition.usages import usages

    return usages(address, attributes, references)


def _job_holds(
    address: str, attributes: Attributes, references: References, facts: object
) -> tuple[Hold, ...]:
    from flareiac_spark.generation.snapshot_holds import holds

    return holds(address, attributes, references, facts)


def _job_kept_by(attributes: Attributes) -> str | None:
    from flareiac_spark.generation.snapshot_holds import kept_by

    return kept_by(attributes)


def _job_renamed(identity: Attributes, old: str, new: str) -> Attributes:
    from flareiac_spark.definition.job_identity import identity_renamed

    return identity_renamed(identity, old, new)


def _job_earlier_states(address: str, identity: Attributes) -> tuple[EarlierState, ...]:
    from flareiac_spark.generation.emptied_tables import earlier_states

    return earlier_states(address, identity)


def _job_sources(attributes: Attributes, project: Project) -> tuple[str, ...]:
    from flareiac_spark.definition.canonical import sources

    return sources(attributes, project)


_ENGINE = ResourceType(
    name="engine",
    kind=Kind.CONNECTION,
    schema=engine_schema.SCHEMA,
    description="Where jobs run: one Spark application for all jobs of the engine.",
    canonical=engine_canonical.canonical,
    sources=engine_canonical.sources,
    usages=engine_canonical.usages,
    default={},
)
_STREAM = ResourceType(
    name="stream",
    kind=Kind.DECLARATION,
    schema=stream_schema.schema(),
    description="A source of unbounded data for the inputs of streaming jobs.",
    canonical=stream_canonical.canonical,
    sources=stream_canonical.sources,
)
_CHECKPOINT = ResourceType(
    name="checkpoint",
    kind=Kind.MANAGED,
    schema=checkpoint_schema.SCHEMA,
    description="The offsets and state of a streaming job.",
    canonical=checkpoint_canonical.canonical,
    planner=_CheckpointPlanner(),
    examine=_checkpoint_examine,
    usages=checkpoint_canonical.usages,
    places=checkpoint_canonical.places,
)
_JOB = ResourceType(
    name="job",
    kind=Kind.MANAGED,
    schema=job_schema.SCHEMA,
    description="A streaming or batch query: inputs, steps, outputs.",
    canonical=_job_canonical,
    planner=_JobPlanner(),
    examine=_job_examine,
    usages=_job_usages,
    holds=_job_holds,
    kept_by=_job_kept_by,
    sources=_job_sources,
    earlier_states=_job_earlier_states,
    renamed=_job_renamed,
)
