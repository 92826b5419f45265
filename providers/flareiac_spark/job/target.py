"""The definition that a change brings among what should run. Reads the control directory."""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark.definition.build import by_folder, digest_of, spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity, recorded_identity
from flareiac_spark.definition.moved_checkpoint import relocated
from flareiac_spark.definition.written_schemas import with_registered_ids
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.running import RunningJobs, changed_job
from flareiac_spark_runtime.control import (
    ControlError,
    DesiredJob,
    JobSpec,
    job_spec_from_json,
    job_spec_to_json,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One definition on its way into what should run."""

    planned: Attributes
    definition: JobDefinition
    spec: JobSpec
    digest: str
    nonce: int
    queries: Mapping[str, str]

    @property
    def engine(self) -> EngineDefinition:
        return self.definition.runs_in

    @property
    def running(self) -> bool:
        """Returns True if the job is to run, and not only to be declared."""
        return self.definition.starts_by_itself

    def job(self) -> DesiredJob:
        return DesiredJob(
            digest=self.digest,
            spec=job_spec_to_json(self.spec),
            state="running" if self.running else "stopped",
            nonce=self.nonce,
            queries=self.queries,
        )

    def is_wanted(self, entry: DesiredJob | None) -> bool:
        """Returns True if the entry is the one that this target would write."""
        return entry is not None and (entry.digest, entry.nonce, entry.state) == (
            self.digest,
            self.nonce,
            self.job().state,
        )


def target_of(request: ChangeRequest, running: RunningJobs) -> Target:
    """The target of a request. Raises ``Failure``."""
    planned = with_registered_ids(request.action.planned, request.action.notes)
    definition = JobDefinition.of(planned)
    spec = spec_of(request.address, planned, request.references, running.applications.project)
    digest = digest_of(spec, planned)
    payload = JobPayload.of(request.action.payload)
    if payload.live:
        entry = running.entry(definition.runs_in, changed_job(request))
        spec, digest = _as_it_runs(entry, recorded_identity(request.action.recorded), spec) or (spec, digest)
    spec = replace(spec, run_id=digest if spec.mode == "batch" else None)
    return Target(
        planned=planned,
        spec=spec,
        digest=digest,
        nonce=payload.nonce or 0,
        definition=definition,
        queries=_queries_known(request, definition, spec),
    )


def _as_it_runs(entry: DesiredJob | None, recorded: JobIdentity, spec: JobSpec) -> tuple[JobSpec, str] | None:
    """The spec and digest of a job while it runs: the definition that was recorded as started, under its
    digest, with the new restart budget. Around it (the columns of a stream, say) something may be declared in
    another way now, which must not restart it. None where it is not the recorded one.
    """
    if entry is None or entry.digest != recorded.digest:
        return None
    try:
        return replace(job_spec_from_json(dict(entry.spec)), restart=spec.restart), entry.digest
    except ControlError:
        return None  # of another release


def _queries_known(request: ChangeRequest, definition: JobDefinition, spec: JobSpec) -> dict[str, str]:
    """The query that each checkpoint must hold, by folder: what the state recorded of the generation that
    goes on.
    """
    if (recorded := request.action.recorded) is None:
        return {}
    before = relocated(JobDefinition.of(recorded.attributes), definition, request.references)
    if not before.is_in_folders_of(definition):
        return {}
    queries = recorded_identity(recorded).queries
    return by_folder(spec, {name: query.id for name, query in queries.items()})
