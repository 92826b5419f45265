"""The runs that a driver reports to OpenLineage: a run for itself, and one below it for each start of a job.
The thread of a job hands over an event and goes on; what an event says of tables is looked up in the thread
that sends.
"""

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from logging import Logger, getLogger
from typing import Any, Final

from flareiac import __version__
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.dataset_names import TableNames, table_dataset
from flareiac.sdk.openlineage import (
    NO_FACETS,
    EventType,
    Facets,
    facet,
    job_of,
    job_type,
    run_event,
    sql_facet,
)
from flareiac.sdk.secrets import is_reference, resolve
from flareiac_spark_runtime.control import (
    ApplicationSettings,
    ErrorSummary,
    JobSpec,
    QueryStatus,
    RunResult,
    Status,
    TableOutput,
)
from flareiac_spark_runtime.driver import sinks, tables
from flareiac_spark_runtime.driver.batch_scans import Computed
from flareiac_spark_runtime.driver.commit_marks import (
    BATCH_ID,
    CHECKPOINT_ID,
    EPOCHS,
    OUTPUT,
    Commit,
    commits,
)
from flareiac_spark_runtime.driver.event_queue import EventQueue, Pending
from flareiac_spark_runtime.driver.progress import BatchReport
from flareiac_spark_runtime.driver.run_datasets import NOTHING, BatchFacts, Written, inputs_of, outputs_of
from flareiac_spark_runtime.utc import utc_text

_REMEMBERED: Final = 1000
"""Commits of one table, newest first, that are looked through for a batch."""
_AT_WORK: Final = ("starting", "running", "idle", "stopping")
_OWN: Final = (CHECKPOINT_ID, BATCH_ID)


class Lineage:
    """The runs of one driver. Nothing is sent, and no thread runs, before ``adopt`` was given a target."""

    def __init__(self, application: str = "", log: Logger | None = None) -> None:
        self._id = str(uuid.UUID(application)) if application else str(uuid.uuid4())
        self._queue = EventQueue(log or getLogger(__name__))
        self._settings = ApplicationSettings()
        self._spark_version = ""
        self._began: float | None = None
        self._said = False

    @property
    def is_on(self) -> bool:
        return self._queue.is_on

    @property
    def problem(self) -> str:
        """The reason that nothing can be sent at the moment, empty where all can."""
        return self._queue.problem or ""

    @property
    def dropped(self) -> Mapping[str, int]:
        """Events that were dropped, by the address of the job."""
        return self._queue.dropped

    @property
    def conf(self) -> Mapping[str, str]:
        """Spark's settings of the application, those of its catalogs among them."""
        return self._settings.conf

    def adopt(self, settings: ApplicationSettings) -> None:
        """From now on sends to where the settings say."""
        self._settings = settings
        self._queue.aim(settings.openlineage)
        self._announce()

    def begin(self, spark_version: str, previous: Status | None) -> None:
        """Spark runs. ``previous``: the last status of an earlier process, whose runs have ended if it was
        killed.
        """
        self._spark_version, self._began = spark_version, time.time()
        self._announce()
        if previous is None or not self.is_on:
            return
        for address, job in sorted(previous.jobs.items()):
            if job.lineage_run and job.phase in _AT_WORK:
                run, about = {"runId": job.lineage_run}, job_of(self._namespace, address)
                self._send(address, "ABORT", time.time(), run, about)
        if previous.application.phase != "ended" and self._said:
            run = {"runId": str(uuid.UUID(previous.application.id))}
            self._send("", "ABORT", time.time(), run, self._driver())

    def run(self, spec: JobSpec) -> "JobRun":
        """One start of a job."""
        return JobRun(self, spec)

    def end(self, seconds: float, failure: str = "") -> None:
        """The driver ends. Sends what waits, for so long at most."""
        if self._said:
            kind: EventType = "FAIL" if failure else "COMPLETE"
            error = facet("errorMessage", message=failure, programmingLanguage="PYTHON") if failure else {}
            self._send("", kind, time.time(), self._own_run(error), self._driver())
        self._queue.end(seconds)

    def put(
        self,
        job: str,
        make: Callable[[], Mapping[str, Any]],
        *,
        is_commit: bool = False,
    ) -> None:
        """Hands over an event of a job."""
        self._queue.put(Pending(job=job, make=make, is_commit=is_commit))

    def run_of(self, run_id: str, facets: Facets) -> dict[str, Any]:
        """The run of a job in an event."""
        parent = {"run": {"runId": self._id}, "job": self._driver_name()}
        return {"runId": run_id, "facets": {**self._engine(), **facet("parent", **parent), **facets}}

    def job_of(self, spec: JobSpec) -> dict[str, Any]:
        """A job in an event."""
        steps = [(step.name, step.sql) for step in spec.steps if step.sql]
        facets = job_type(is_streaming=spec.mode == "stream") | sql_facet(steps)
        return job_of(self._namespace, spec.address, facets)

    @property
    def _namespace(self) -> str:
        target = self._settings.openlineage
        return target.namespace if target is not None else ""

    def _announce(self) -> None:
        """The driver itself is a run, once Spark runs and there is someone to tell."""
        if self.is_on and self._began is not None and not self._said:
            self._said = True
            self._send("", "START", self._began, self._own_run({}), self._driver())

    def _own_run(self, facets: Facets) -> dict[str, Any]:
        return {"runId": self._id, "facets": {**self._engine(), **facets}}

    def _engine(self) -> dict[str, dict[str, Any]]:
        return facet(
            "processing_engine",
            version=self._spark_version,
            name="spark",
            openlineageAdapterVersion=__version__,
        )

    def _driver_name(self) -> dict[str, str]:
        return {"namespace": self._namespace, "name": self._settings.name}

    def _driver(self) -> dict[str, Any]:
        return job_of(**self._driver_name(), facets=job_type(is_streaming=True))

    def _send(
        self, job: str, kind: EventType, at: float, run: Mapping[str, Any], about: Mapping[str, Any]
    ) -> None:
        event = run_event(kind, _time(at), run, about)
        self.put(job, lambda: event)


class JobRun:
    """One start of a job and what follows: one START, a RUNNING for each commit, and one end. ``session``: in
    which its tables can be looked up, once there is one.
    """

    def __init__(self, lineage: Lineage, spec: JobSpec) -> None:
        self.session: Any = None
        self._lineage, self._spec = lineage, spec
        self._id, self._began = str(uuid.uuid4()), time.time()
        self._said = self._ended = self._masks = False
        self._names: dict[tuple[str, ...], TableNames] = {}
        self._commits: dict[str, dict[int, Commit]] = {}

    @property
    def id(self) -> str:
        """Its id, empty while no event of it was sent."""
        return self._id if self._said else ""

    def start(self) -> None:
        """It begins."""
        if self._lineage.is_on and not self._said:
            self._said = True
            self._put("START", self._began)

    def commit(self, query: QueryStatus, progress: Any, computed: Computed) -> None:
        """A batch of one of its queries was committed; ``progress`` is Spark's own record of it."""
        if not self._lineage.is_on:
            return
        self.start()

        def make() -> dict[str, Any]:
            report = BatchReport.of(progress)
            written = self._written(query, report.batch)
            facts = BatchFacts(sources=report.sources, scans=computed.scans, written=written)
            return self._event("RUNNING", report.ended, _batch(query, report, computed), facts)

        self._lineage.put(self._spec.address, make, is_commit=True)

    def complete(self, result: RunResult | None) -> None:
        """It has come to its end, or was stopped (None)."""
        outputs = {} if result is None else result.outputs
        before = result is not None and result.found
        written = {
            name: Written(snapshot_id=output.snapshot_id, rows=None if before else output.rows)
            for name, output in outputs.items()
        }
        self._end("COMPLETE", facts=BatchFacts(written=written))

    def fail(self, cause: ErrorSummary) -> None:
        """It has ended by an error."""
        self._end("FAIL", _error(cause))

    def abort(self, cause: ErrorSummary | None = None) -> None:
        """It was ended for another start, or while it was being stopped."""
        self._end("ABORT", NO_FACETS if cause is None else _error(cause))

    def _end(self, kind: EventType, facets: Facets = NO_FACETS, facts: BatchFacts = NOTHING) -> None:
        if not self._ended:
            self._ended = True
            self.start()
            self._put(kind, time.time(), facets, facts)

    def _put(
        self, kind: EventType, at: float, facets: Facets = NO_FACETS, facts: BatchFacts = NOTHING
    ) -> None:
        self._lineage.put(self._spec.address, lambda: self._event(kind, at, facets, facts))

    # In the thread that sends

    def _event(self, kind: EventType, at: float, facets: Facets, facts: BatchFacts) -> dict[str, Any]:
        lineage, spec = self._lineage, self._spec
        self._learn_secrets()
        datasets = inputs_of(spec, self._names_of, facts), outputs_of(spec, self._names_of, facts)
        return run_event(kind, _time(at), lineage.run_of(self._id, facets), lineage.job_of(spec), datasets)

    def _learn_secrets(self) -> None:
        """A secret is masked once this process has used it, and the first event may come before the first
        use.
        """
        if not self._masks:
            for text in _references_in([encode(self._spec), dict(self._lineage.conf)]):
                with contextlib.suppress(Failure):  # the job itself says what it cannot have
                    resolve(text)
            self._masks = True

    def _names_of(self, identifier: tuple[str, ...]) -> TableNames:
        """By the place that the table has. One that cannot be loaded is named by what is declared."""
        if identifier not in self._names:
            try:
                place = str(tables.load(self.session, identifier, None).location())
            except Exception:  # noqa: BLE001 - whatever the catalog or the JVM answers, the event is made
                return table_dataset(identifier, self._lineage.conf)
            self._names[identifier] = table_dataset(identifier, self._lineage.conf, place)
        return self._names[identifier]

    def _written(self, query: QueryStatus, batch: int) -> dict[str, Written]:
        """The changes of the batch, by output: nothing for one that it did not change."""
        written = {}
        for output in self._spec.table_outputs:
            if self._spec.query_of(output.name) == query.output:
                commit = self._commit(output, query, batch)
                if commit is not None:
                    written[output.name] = _of(commit)
        return written

    def _commit(self, output: TableOutput, query: QueryStatus, batch: int) -> Commit | None:
        """The snapshot of a batch, found by the mark of its query; each snapshot is looked at once."""
        known = self._commits.setdefault(output.name, {})
        if batch in known:
            return known.pop(batch)
        by_epoch = sinks.by_epoch(self._spec, output)
        key, number = EPOCHS if by_epoch else _OWN
        seen = max(known, default=-1)
        try:
            table = tables.load(self.session, output.identifier, None)
            for at, commit in enumerate(commits(table, output.branch)):
                summary = commit.summary
                of_query = summary.get(key) == query.id and (by_epoch or summary.get(OUTPUT) == output.name)
                if at >= _REMEMBERED:
                    break
                if not of_query or not (text := summary.get(number) or "").isdigit():
                    continue
                if int(text) < batch or int(text) <= seen:
                    break
                known[int(text)] = commit
        except Exception:  # noqa: BLE001 - the event is sent without what cannot be looked up
            return None
        return known.pop(batch, None)


def _references_in(part: Any) -> Iterator[str]:
    match part:
        case str() if is_reference(part):
            yield part
        case Mapping():
            for value in part.values():
                yield from _references_in(value)
        case list() | tuple():
            for value in part:
                yield from _references_in(value)
        case _:
            pass


def _batch(query: QueryStatus, report: BatchReport, computed: Computed) -> dict[str, dict[str, Any]]:
    """Our own facet: what Spark says of the batch, with the offsets as each source writes them."""
    sources = [
        {"description": each.description, "startOffset": each.start, "endOffset": each.end}
        for each in report.sources
    ]
    return facet(
        "flareiac_batch",
        query=query.output,
        queryId=query.id,
        queryRunId=query.run_id,
        batchId=report.batch,
        durationSeconds=report.seconds,
        rows=computed.rows,
        sources=sources,
    )


def _of(commit: Commit) -> Written:
    def number(name: str) -> int | None:
        text = commit.summary.get(name)
        return int(text) if text is not None and text.isdigit() else None

    return Written(
        snapshot_id=commit.id,
        rows=tables.rows_written(commit.summary),
        bytes=number("added-files-size"),
        files=number("added-data-files"),
    )


def _error(cause: ErrorSummary) -> dict[str, dict[str, Any]]:
    return facet("errorMessage", message=f"{cause.error_class}: {cause.message}", programmingLanguage="JAVA")


def _time(at: float) -> str:
    return utc_text(int(at * 1000))
