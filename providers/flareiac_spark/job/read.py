"""Observes a job: joins what should run, the application's status and the checkpoints on disk. Touches
files, by reading only.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Missing, Observation, Present, Unreadable
from flareiac_spark.application import (
    Liveness,
    control_failure,
    is_elsewhere_and_silent,
    liveness,
    other_release,
    silence,
)
from flareiac_spark.change.query_changes import surely_keeps_state
from flareiac_spark.change.source_folders import read_paths
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.query_positions import read_positions
from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark.definition.build import query_digest
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import KnownJob
from flareiac_spark.definition.moved_checkpoint import relocated
from flareiac_spark.definition.stream_positions import read_in_order
from flareiac_spark.engine.application import (
    Applications,
    complaints_beside,
    read_desired,
    read_status,
)
from flareiac_spark.engine.other_jobs import RestartedJobs, outdated_jars, restarted_jobs
from flareiac_spark.job import file_folders
from flareiac_spark.job.brokers import of_each
from flareiac_spark.job.health import complaints, watermark_ahead
from flareiac_spark.job.query_folders import query_folders
from flareiac_spark.job.reach import ReachReader
from flareiac_spark.job.schemas import SchemaReader
from flareiac_spark.job.written_schemas import SubjectReader
from flareiac_spark.observation.job import Hold, JobFacts, OutputFacts, of_disk, reach_complaints
from flareiac_spark.sources.source import kinds
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.control import (
    ControlDirectory,
    ControlError,
    Desired,
    DesiredJob,
    JobSpec,
    JobStatus,
    Status,
    job_spec_from_json,
)
from flareiac_spark_runtime.sources.path_patterns import is_pattern
from flareiac_spark_runtime.storage import Place

_LIMIT_SECONDS: Final = 45.0
"""More than brokers and registries are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The readers that ask brokers and registries about jobs."""

    reach: ReachReader
    schemas: SchemaReader
    subjects: SubjectReader

    def prefetch(self, requests: Sequence[ReadRequest]) -> None:
        """Asks each broker and each registry once for all of them, both at the same time."""
        of_each(
            {
                "brokers": partial(self.reach.prefetch, requests),
                "registries": partial(self.schemas.prefetch, requests),
                "subjects": partial(self.subjects.prefetch, requests),
            },
            _LIMIT_SECONDS,
        )


def read_job(request: ReadRequest, applications: Applications, readers: Readers) -> Observation:
    """Present when it is among what should run; ``attributes`` are the recorded ones, but for what was
    stopped by hand.
    """
    attributes = request.recorded.attributes if request.recorded else request.desired
    assert attributes is not None, "a question is about something declared or recorded"
    try:
        job = JobDefinition.of(attributes)
        seen = _seen(request, job, applications, readers)
    except Failure as failure:
        return Unreadable(diagnostic=failure.diagnostics[0].at(address=request.address))
    except Damaged as error:
        return Unreadable(diagnostic=damage(request.address, error))
    facts = seen.facts
    if request.recorded is None:
        # What an apply that failed may have left counts as not there: it is taken over by name.
        nothing = facts.digest is None and not facts.checkpoints
        return Missing(facts=facts) if nothing else Present(attributes=attributes, facts=facts)
    if facts.digest is None:
        return Missing(reason="it is no longer among what should run", facts=facts)
    silent = facts.silent if facts.state == "running" and not facts.elsewhere else ""
    unwell = complaints(
        job, seen.status if facts.alive or facts.silent else None, silent=silent, waiting=seen.waiting
    )
    by_hand = facts.state == "stopped" and not job.is_finite and not job.stopped
    return Present(
        attributes={**attributes, "stopped": True} if by_hand else attributes,
        identity=request.recorded.identity,
        facts=facts,
        unhealthy=(
            *unwell,
            *seen.ahead,
            *seen.impaired,
            *seen.unread,
            *file_folders.complaints(job, facts),
            *reach_complaints(facts.reach),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """``unread``: files whose new content no query reads, ``ahead``: why a watermark must be wrong, both in
    words. ``waiting``: why the application has no executors. ``impaired``: what else its application cannot
    do; only the first of its jobs reports that.
    """

    facts: JobFacts
    status: JobStatus | None
    unread: tuple[str, ...]
    ahead: tuple[str, ...] = ()
    waiting: str = ""
    impaired: tuple[str, ...] = ()


def _seen(request: ReadRequest, job: JobDefinition, applications: Applications, readers: Readers) -> _Seen:
    """The state of a job: desired, running and on disk. Raises ``Failure`` and ``Damaged``."""
    project, declared = applications.project, _declared(request)
    control = applications.control(job.runs_in)
    desired, status = read_desired(control), read_status(control)
    _refuse_foreign(desired, control, project)
    folders = query_folders(
        job,
        request.references,
        project,
        [*job.query_names, *_queries_to_come(job, declared, request.references)],
    )
    on_disk = {name: read_checkpoint(folder) for name, folder in folders.items()}
    positions = {name: read_positions(folders[name]) for name in job.query_names if name in folders}
    facts = JobFacts(
        checkpoints={
            name: of_disk(checkpoint) for name, checkpoint in on_disk.items() if checkpoint is not None
        },
        used=_used(request, job, declared, project),
        stands={name: position for name, position in positions.items() if position is not None},
        absent=_absent(declared, project),
        reach=readers.reach.read(request),
        schemas=readers.schemas.read(request),
        subjects=readers.subjects.read(request),
        samples=readers.reach.samples(request.address),
        folders=file_folders.folders_looked_at(
            request,
            job,
            declared,
            {name: (folders[name], on_disk.get(name)) for name in job.query_names if name in folders},
            project,
        ),
        topic_limits=readers.reach.topic_limits(request.address),
        restarts=_restarted(request, declared, applications),
        outdated=_outdated(request, declared, applications),
    )
    if facts.outdated and facts.restarts is not None and facts.restarts.lacks:
        facts = replace(facts, restarts=None)  # the job's own restart says that all of them restart
    if request.recorded is not None:
        _refuse_lost_logs(job, facts.checkpoints)
        _refuse_lost_state(job, folders, facts.checkpoints)
    unread = [text for _name, kind in kinds() for text in kind.offsets.unread(tuple(folders.values()))]
    known = KnownJob.of(request.address, request.recorded)
    if (wanted := known.entry_in(desired)) is not None:
        facts = replace(_with_entry(facts, wanted), hold=hold_of(desired, known.name_in(desired)))
        if declared is not None and _is_given(declared, facts.spec, request.references, project):
            facts = replace(facts, given_generation=declared.generation)
    said = status.jobs.get(known.name_in(desired)) if status is not None else None
    watermarks = [checkpoint.watermark_ms or 0 for checkpoint in on_disk.values() if checkpoint is not None]
    ahead = watermark_ahead(max(watermarks, default=0), said.queries if said else (), now=time.time())
    if status is None:
        return _Seen(facts=facts, status=None, unread=tuple(unread), ahead=ahead)
    return _Seen(
        facts=_with_status(facts, status, said),
        status=said,
        unread=tuple(unread),
        ahead=ahead,
        waiting=(said.waiting if said is not None else "") or status.application.waiting,
        impaired=complaints_beside(status, known.name_in(desired)),
    )


def _restarted(
    request: ReadRequest, declared: JobDefinition | None, applications: Applications
) -> RestartedJobs | None:
    """The jobs in the declared engine's application that restart, where it lacks jars of the declared job;
    None for none. Raises ``Failure``.
    """
    if declared is None or not declared.starts_by_itself:
        return None
    known = KnownJob.of(request.address, request.recorded)
    return restarted_jobs(applications, declared.runs_in, request.references, known.name_in)


def _outdated(
    request: ReadRequest, declared: JobDefinition | None, applications: Applications
) -> tuple[str, ...]:
    """See ``JobFacts.outdated``. A finite job takes what is locked when it runs next, and a new one starts
    for the first time. Raises ``Failure``.
    """
    if request.recorded is None or declared is None:
        return ()
    if declared.is_finite or not declared.starts_by_itself:
        return ()
    return outdated_jars(applications, declared.runs_in, request.references)


def _declared(request: ReadRequest) -> JobDefinition | None:
    return JobDefinition.of(request.desired) if request.desired is not None else None


def _absent(declared: JobDefinition | None, project: Project) -> tuple[str, ...]:
    """The declared folders of files that are not there. A pattern may match later."""
    paths = read_paths(declared, project) if declared is not None else ()
    missing = [path for path in paths if not is_pattern(path) and not Path(path).exists()]
    return tuple(dict.fromkeys(missing))


def _refuse_lost_logs(job: JobDefinition, checkpoints: Mapping[str, OutputFacts]) -> None:
    """A source whose log is gone would be read again from its beginning. Raises ``Damaged``."""
    for output in job.outputs:
        name = job.query_of(output)
        checkpoint, read = checkpoints.get(name), read_in_order(job, output)
        if (
            checkpoint is not None
            and checkpoint.started is not None
            and read is not None
            and len(set(read)) > len(checkpoint.sources)
        ):
            folder = Path(job.checkpoint_location or "") / name
            raise Damaged(
                folder,
                f"it has the logs of {len(checkpoint.sources)} sources, and its query reads {len(set(read))}",
            )


def _refuse_lost_state(
    job: JobDefinition, folders: Mapping[str, Place], checkpoints: Mapping[str, OutputFacts]
) -> None:
    """Raises ``Damaged`` where the folder of the state is gone: nothing else on disk shows that there was
    one.
    """
    for output in job.outputs:
        name = job.query_of(output)
        checkpoint = checkpoints.get(name)
        if checkpoint is None or checkpoint.committed is None or checkpoint.operators:
            continue
        if surely_keeps_state(job, output):
            raise Damaged(folders[name] / "state", "it is not there, and committed batches left state in it")


def _refuse_foreign(desired: Desired | None, control: ControlDirectory, project: Project) -> None:
    """Raises ``Failure`` if another project's jobs are in the control directory: their state says nothing of
    this project's.
    """
    if desired is None or not project.lineage:
        return
    try:
        control.refuse_foreign(desired, project.lineage, project.workspace)
    except ControlError as failure:
        raise Failure(control_failure(failure)) from failure


def _queries_to_come(job: JobDefinition, declared: JobDefinition | None, references: References) -> list[str]:
    """Queries of the declared job that the recorded one has not, in the same place: a folder of their name
    may have been used before.
    """
    if declared is None or not declared.is_in_folders_of(relocated(job, declared, references)):
        return []
    return [name for name in declared.query_names if name not in job.query_names]


def _used(
    request: ReadRequest, job: JobDefinition, declared: JobDefinition | None, project: Project
) -> dict[str, OutputFacts]:
    """See ``JobFacts.used``. Raises ``Damaged``."""
    if request.recorded is None or declared is None:
        return {}
    if relocated(job, declared, request.references).checkpoint_location == declared.checkpoint_location:
        return {}
    folders = query_folders(declared, request.references, project, declared.query_names)
    on_disk = {name: read_checkpoint(folder) for name, folder in folders.items()}
    return {
        name: of_disk(checkpoint)
        for name, checkpoint in on_disk.items()
        if checkpoint is not None and checkpoint.started is not None
    }


def _with_entry(facts: JobFacts, wanted: DesiredJob) -> JobFacts:
    spec = _spec(wanted)
    return replace(
        facts,
        digest=wanted.digest,
        spec=spec,
        query=query_digest(spec) if spec is not None else None,
        state=wanted.state,
        nonce=wanted.nonce,
    )


def hold_of(desired: Desired | None, name: str) -> Hold | None:
    """The hold of a job, by its name among what should run."""
    if desired is None or name not in desired.held_at(time.time()):
        return None
    since = desired.down_since.get(name)
    return Hold(
        since_ms=int(since * 1000) if since is not None else None, until_ms=int(desired.held[name] * 1000)
    )


def _with_status(facts: JobFacts, status: Status, job: JobStatus | None) -> JobFacts:
    about, lives = status.application, liveness(status)
    ended = about.reason if lives is Liveness.GONE and about.phase == "ended" else ""
    facts = replace(
        facts,
        alive=lives is Liveness.ALIVE,
        ended=ended,
        silent=silence(status),
        elsewhere=f"process {about.pid} on {about.host}" if is_elsewhere_and_silent(status) else "",
        heard_ms=int(status.heartbeat * 1000),
        other_release=other_release(status),
        spark=about.spark_version,
    )
    if job is None:
        return facts
    return replace(
        facts,
        phase=job.phase,
        runs=job.digest,
        error=last_error(job),
        since_ms=int(job.since * 1000),
        failures=job.failures,
        batch_seconds=max(
            (query.batch_seconds for query in job.queries if query.batch_seconds), default=None
        ),
    )


def _is_given(
    declared: JobDefinition, spec: JobSpec | None, references: References, project: Project
) -> bool:
    """Returns True if the desired spec works in folders of the declared definition. Raises ``Damaged``."""
    folders = query_folders(declared, references, project, declared.query_names)
    places = {str(folder) for folder in folders.values()}
    return spec is not None and any(output.checkpoint in places for output in spec.outputs)


def _spec(wanted: DesiredJob) -> JobSpec | None:
    try:
        return job_spec_from_json(dict(wanted.spec))
    except ControlError:
        return None  # of another release


def last_error(job: JobStatus | None) -> str | None:
    """The root cause of a job's last error, as one text."""
    if job is None or job.last_error is None:
        return None
    return f"{job.last_error.error_class}: {job.last_error.message}"
