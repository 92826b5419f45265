"""The present work of a job, for ``status`` and ``logs``. Touches the control directory and checkpoints, by
reading only.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from flareiac import __version__
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.results import Recorded
from flareiac.sdk.run_status import QueryRun, RunStatus
from flareiac_spark.application import Liveness, liveness, other_release, silence, was_stopped
from flareiac_spark.checkpoint_files.reader import CheckpointOnDisk, read_checkpoint
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import KnownJob, recorded_identity
from flareiac_spark.engine.application import Applications, complaints_beside, read_desired, read_status
from flareiac_spark.job.health import bad_records, complaints, watermark_ahead
from flareiac_spark.job.query_folders import query_folders
from flareiac_spark.job.read import hold_of, last_error
from flareiac_spark.observation.job import Hold, JobFacts
from flareiac_spark.sources.findings_text import lag_text
from flareiac_spark.sources.folder_look import FilesLeft
from flareiac_spark.sources.on_disk import kind_of
from flareiac_spark.sources.source import offsets_of
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.control import JobStatus, QueryStatus, Status
from flareiac_spark_runtime.storage import Place
from flareiac_spark_runtime.utc import utc_ms, utc_text


def inspect_job(
    address: str, recorded: Recorded, references: References, applications: Applications
) -> RunStatus:
    """The status of a job; of one with several outputs, the figures of its first query. Raises
    ``Failure``.
    """
    definition, project = JobDefinition.of(recorded.attributes), applications.project
    control = applications.control(definition.runs_in)
    status, desired = read_status(control), read_desired(control)
    known = KnownJob.of(address, recorded)
    name, wanted = known.name_in(desired), known.entry_in(desired)
    job = status.jobs.get(name) if status else None
    lives = liveness(status)
    reports = job.queries if job else ()
    state = wanted.state if wanted else None
    kept = _kept(definition, references, project)
    has_run = definition.is_finite and recorded_identity(recorded).result is not None
    silent = silence(status) if state == "running" else ""
    run_status = RunStatus(
        phase="completed" if has_run else _phase(job, lives, state, status),
        batch=kept.batch,
        last_commit=kept.last_commit,
        lag=_lag(reports, kept.files_waiting),
        watermark=None if kept.watermark_ms is None else utc_text(kept.watermark_ms),
        failures=job.failures if job else 0,
        files_too_old=kept.files_too_old,
        last_error=last_error(job),
        health=(
            *(_held(hold_of(desired, name), job, state) if lives is Liveness.ALIVE else ()),
            *(_health(definition, job, status, silent) if lives is not Liveness.GONE else ()),
            *(complaints_beside(status, name) if status and lives is not Liveness.GONE else ()),
            *watermark_ahead(kept.watermark_ms, reports, now=time.time()),
        ),
        log=str(control.log_place(name)),
    )
    return _measured(run_status, reports) if reports else run_status


def _held(hold: Hold | None, job: JobStatus | None, state: str | None) -> tuple[str, ...]:
    """Says why the job is not started; empty where it is not held."""
    facts = JobFacts(hold=hold, alive=True, state=state, phase=job.phase if job is not None else None)
    return (facts.held.text,) if facts.held is not None else ()


def _health(
    definition: JobDefinition, job: JobStatus | None, status: Status | None, silent: str
) -> tuple[str, ...]:
    """A driver of another release, and events that no one collects, are worth a line here, and no drift."""
    other = other_release(status)
    waiting = (job.waiting if job else "") or (status.application.waiting if status is not None else "")
    return (
        *complaints(definition, job, silent=silent, waiting=waiting),
        *((f"{other}, this is {__version__}",) if other else ()),
        *_uncollected(job, status),
    )


def _uncollected(job: JobStatus | None, status: Status | None) -> Iterator[str]:
    if status is not None and status.application.lineage_trouble:
        yield f"its events of OpenLineage wait: {status.application.lineage_trouble}"
    if job is not None and job.lineage_dropped:
        yield f"{job.lineage_dropped:,} of its events of OpenLineage were dropped since its driver began"


def _measured(run_status: RunStatus, reports: Sequence[QueryStatus]) -> RunStatus:
    """With what its queries say of themselves."""
    first, commits = reports[0], [query.last_commit for query in reports if query.last_commit]
    return replace(
        run_status,
        run_id=first.run_id,
        batch=run_status.batch if first.batch is None else first.batch,
        last_commit=max(commits, default=run_status.last_commit),
        input_rows_per_second=first.input_rows_per_second,
        processed_rows_per_second=first.processed_rows_per_second,
        watermark=_shown(first.watermark) or run_status.watermark,
        state_rows=first.state_rows,
        bad_records=bad_records(reports),
        late_rows=sum(query.late_rows for query in reports),
        queries={
            query.output: QueryRun(id=query.id, run_id=query.run_id, batch=query.batch) for query in reports
        },
    )


def _shown(watermark: str | None) -> str | None:
    """None where there is no watermark yet, for which Spark writes 1970."""
    return None if watermark is None or utc_ms(watermark) == 0 else watermark


def _phase(job: JobStatus | None, lives: Liveness, state: str | None, status: Status | None) -> str:
    if lives is Liveness.UNKNOWN:
        return "unknown"
    if lives is Liveness.GONE:
        return "dead" if state == "running" and not was_stopped(status) else "stopped"
    return job.phase if job else "pending"


def _lag(queries: Sequence[QueryStatus], files: int | None) -> str | None:
    """In words, and None where neither the sources nor a folder of files tell how far ahead they are."""
    known = [
        source.end == source.latest
        for query in queries
        for source in query.lag.values()
        if source.latest is not None
    ]
    records = max((count for query in queries if (count := _records(query)) is not None), default=None)
    texts = [] if all(known) or records is not None else ["behind"]
    if records:
        texts.append(lag_text(records))
    if files:
        texts.append("1 file" if files == 1 else f"{files:,} files")
    return ", ".join(texts) or ("none" if known or files is not None else None)


def _records(query: QueryStatus) -> int | None:
    """The number of records by which a query is behind the sources that report how far ahead they are; None
    where one of them does not count records.
    """
    counts = [
        offsets_of(kind_of(source.end)).behind(source.end, source.latest)
        for source in query.lag.values()
        if source.latest is not None
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The figures that the checkpoints of a job give by themselves, also when nothing runs. Times in UTC
    seconds.
    """

    batch: int | None = None
    last_commit: float | None = None
    watermark_ms: int | None = None
    files_waiting: int | None = None
    files_too_old: int = 0


def _kept(job: JobDefinition, references: References, project: Project) -> Kept:
    """The figures of the first query's checkpoint, and of all of them the newest commit and the most files
    that wait.
    """
    folders = query_folders(job, references, project, job.query_names).values()
    figures = [kept for folder in folders if (kept := _kept_in(folder, job, project)) is not None]
    if not figures:
        return Kept()
    return replace(
        figures[0],
        last_commit=max((kept.last_commit for kept in figures if kept.last_commit is not None), default=None),
        files_waiting=max(
            (kept.files_waiting for kept in figures if kept.files_waiting is not None), default=None
        ),
        files_too_old=max(kept.files_too_old for kept in figures),
    )


def _kept_in(folder: Place, job: JobDefinition, project: Project) -> Kept | None:
    """None before the first start, and where the checkpoint cannot be read: a plan tells what is wrong with
    it.
    """
    try:
        on_disk = read_checkpoint(folder)
        if on_disk is None:
            return None
        left = _files_left(folder, on_disk, job, project)
        return Kept(
            batch=on_disk.committed,
            last_commit=None
            if on_disk.committed is None
            else (folder / "commits" / str(on_disk.committed)).stat().st_mtime,
            watermark_ms=on_disk.watermark_ms or None,
            files_waiting=left.waiting if left is not None else None,
            files_too_old=left.too_old if left is not None else 0,
        )
    except (Damaged, OSError):
        return None


def _files_left(
    folder: Place, on_disk: CheckpointOnDisk, job: JobDefinition, project: Project
) -> FilesLeft | None:
    """The files left to read, where one input of the job reads a folder of files: then it is known which
    source that is. Else None.
    """
    declared = [stream.source for stream in job.streams.values() if stream.source.folder is not None]
    sources = [
        source.index
        for source in on_disk.sources
        if source.kind in {folder_source.kind for folder_source in declared}
    ]
    if len(declared) != 1 or len(sources) != 1:
        return None
    return declared[0].files_left(folder, sources[0], project)
