"""The life of one job in the application: a thread that starts it, starts it again after failures, and ends
with a last status.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from logging import Logger
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import (
    ControlError,
    DesiredJob,
    ErrorSummary,
    JobSpec,
    JobStatus,
    QueryStatus,
    RunResult,
    StreamInput,
    job_spec_from_json,
)
from flareiac_spark_runtime.driver.bad_records import ERROR_CLASS as BAD_RECORD
from flareiac_spark_runtime.driver.batch_run import run_batch
from flareiac_spark_runtime.driver.checkpoints import Checkpoints
from flareiac_spark_runtime.driver.counters import Counters
from flareiac_spark_runtime.driver.inputs import explained
from flareiac_spark_runtime.driver.job_lineage import JobRun, Lineage
from flareiac_spark_runtime.driver.log_lines import CAUSE
from flareiac_spark_runtime.driver.refusal import Refusal, refusal_of
from flareiac_spark_runtime.driver.restart_policy import RestartPolicy
from flareiac_spark_runtime.driver.root_cause import root_cause_of, stack_of
from flareiac_spark_runtime.driver.running_totals import RunningTotals
from flareiac_spark_runtime.driver.scheduling import enter
from flareiac_spark_runtime.driver.spark_session import activate, set_conf
from flareiac_spark_runtime.driver.start_guard import prove_start
from flareiac_spark_runtime.driver.stream_run import Ready, make_ready, run_ready
from flareiac_spark_runtime.driver.warm_start import WarmStart
from flareiac_spark_runtime.sources import bad_records
from flareiac_spark_runtime.sources.resolved import StartProblem
from flareiac_spark_runtime.storage import place_at

_OVER: Final = ("stopped", "completed", "backoff", "failed")
"""Phases in which no run is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContext:
    """The parts of its application that a job needs. ``changed`` is called after each transition, from the
    job's thread.
    """

    new_session: Callable[[], Any]
    checkpoints: Checkpoints
    graceful_seconds: Callable[[], float]
    changed: Callable[[], None]
    counters: Counters = field(default_factory=Counters)
    lineage: Lineage = field(default_factory=Lineage)


class JobRunner(threading.Thread):
    """``status`` may be read at any time from any thread; it is replaced as a whole. ``ahead``: what was
    prepared for the first start.

    ``queries``: the query that ran on each checkpoint, by folder, as far as this process has seen; a start
    must find them there.
    """

    def __init__(
        self,
        address: str,
        job: DesiredJob,
        around: JobContext,
        log: Logger,
        ahead: WarmStart | None = None,
        queries: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name=f"job {address}", daemon=True)
        self.address, self.job, self.queries = address, job, dict(queries or {})
        self.status = JobStatus(phase="pending", digest=job.digest, nonce=job.nonce, since=time.time())
        self._around, self._log, self._stop_asked = around, log, threading.Event()
        self._budget: RestartPolicy | None = None
        self._ahead, self._ended = ahead, threading.Event()
        self._running: JobSpec | None = None
        self._totals = RunningTotals({})
        self._problem: StartProblem | None = None
        self.waiting = ""
        """Which system of its sources does not answer, and why."""
        self.proven_at = 0.0
        """When its sources were last proven to be those of its checkpoints before a start; seconds UTC."""

    def count_on_from(self, last: JobStatus) -> None:
        """Goes on with what the runner before counted. To be called before it starts."""
        self._totals = RunningTotals(last.late_rows)
        self.status = replace(self.status, late_rows=last.late_rows)

    @property
    def is_stopping(self) -> bool:
        return self._stop_asked.is_set()

    @property
    def has_ended(self) -> bool:
        """Returns True if its status is its last. Its thread may live on for a moment, and does nothing any
        more.
        """
        return self._ended.is_set() or not self.is_alive()

    def revise(self, job: DesiredJob) -> None:
        """Takes in what may differ between two jobs of one digest: the restart budget, and the queries that
        its checkpoints must hold.
        """
        self.job = replace(self.job, queries=job.queries)
        if job.spec.get("restart") == self.job.spec.get("restart"):
            return
        with contextlib.suppress(ControlError):  # a spec that is not understood is said so at the next start
            restart = job_spec_from_json(dict(job.spec)).restart
            self.job = job
            if self._budget is not None:
                self._budget.revise(restart)
            self._log.info("restart budget: %s", restart)

    @property
    def running(self) -> JobSpec | None:
        """The spec that its queries run, None while they do not."""
        return self._running

    def refuse(self, problem: StartProblem) -> None:
        """Ends its queries as soon as possible, in the middle of a batch too, and the job fails."""
        self._problem = problem

    def wait_for(self, why: str) -> None:
        """Notes what its queries wait for outside of Spark; empty for nothing."""
        if why == self.waiting:
            return
        self._log.warning("waiting: %s", why) if why else self._log.info("its sources answer again")
        self.waiting = why
        self._around.changed()

    def note(self, text: str) -> None:
        """Writes something that concerns the job into its log."""
        self._log.warning("%s", text)

    def ask_to_stop(self) -> None:
        self._stop_asked.set()

    def run(self) -> None:
        try:
            self._live()
        finally:
            self._ended.set()
            self._around.changed()

    def _live(self) -> None:
        try:
            spec = job_spec_from_json(dict(self.job.spec))
        except ControlError as failure:
            self._become(
                "failed",
                last_error=ErrorSummary(
                    error_class="SPEC_NOT_UNDERSTOOD", message=str(failure), permanent=True
                ),
            )
            return
        budget = self._budget = RestartPolicy(spec.restart)
        while not self._stop_asked.is_set():
            pause = self._attempt(spec, budget)
            if pause is None:
                return
            self._stop_asked.wait(pause)
        self._become("stopped")

    def _attempt(self, spec: JobSpec, budget: RestartPolicy) -> float | None:
        """One start and what follows; the pause before the next one, or None when the job has come to its
        end.
        """
        self._around.counters.started(self.address)
        run = self._around.lineage.run(spec)
        run.start()
        self._become("starting", queries=(), lineage_run=run.id)
        self._log.info("starting %s (digest %s, nonce %s)", self.address, self.job.digest, self.job.nonce)
        try:
            with self._around.checkpoints.used_by(spec):
                begun = time.time()
                prove_start(spec, {**self.job.queries, **self.queries})
                self.proven_at = begun
                result = self._run_once(spec, run)
        except Exception as failure:  # noqa: BLE001 - a job's failure, whatever it is, is its status and never the driver's end
            if self._learns(spec, failure):
                run.abort()
                return 0.0
            return self._failed(spec, failure, budget, run)
        run.complete(result)
        if result is None:
            self._become("stopped")
            self._log.info("stopped")
        else:
            self._become("completed", result=result, last_error=None)
            self._log.info("completed: %s", result)
        return None

    def _run_once(self, spec: JobSpec, run: JobRun) -> RunResult | None:
        """The result of a finite run, None if it was stopped."""
        if spec.mode == "batch":
            session = self._around.new_session()
            enter(session, _pool_of(spec))
            set_conf(session, spec.conf)
            run.session = session
            self._become("running")
            return run_batch(session, spec, self._log)
        ready = self._prepared() or make_ready(self._around.new_session(), spec, self._log)
        enter(ready.session, _pool_of(spec))
        run.session = ready.session
        folders = {query: folder for folder, query in spec.query_names.items()}

        def report(phase: Any, queries: tuple[QueryStatus, ...]) -> None:
            self.queries.update({folders[query.output]: query.id for query in queries})
            self._running = spec
            self._report(phase, queries)
            if self._problem is not None:
                raise refusal_of(self._problem)

        try:
            reporting = replace(ready, on_commit=run.commit)
            done = run_ready(
                reporting, spec, self._stop_asked, self._around.graceful_seconds, report, self._log
            )
        finally:
            self._running = self._problem = None
        rows = rows_read(self.status.queries)
        return RunResult(run_id=spec.run_id, snapshot_id=None, rows=rows) if done else None

    def _prepared(self) -> Ready | None:
        ahead, self._ahead = self._ahead, None
        ready = None if ahead is None else ahead.take()
        if ready is not None:
            activate(ready.session)
            self._log.info("its queries were prepared ahead")
        return ready

    def _failed(self, spec: JobSpec, failure: Exception, budget: RestartPolicy, run: JobRun) -> float | None:
        cause, now = self._explained(spec, root_cause_of(failure)), time.monotonic()
        stack = stack_of(failure)
        if stack is None:
            self._log.error("failed: %s: %s", cause.error_class, cause.message, exc_info=failure)
        else:
            self._log.error("failed: %s: %s", cause.error_class, cause.message, extra={CAUSE: stack})
        waits = isinstance(failure, Refusal) and failure.waits
        if not waits:
            self._around.counters.failed(self.address)
        pause = budget.while_unavailable() if waits else budget.after_failure(now)
        if self._stop_asked.is_set():
            run.abort(cause)
            self._become("stopped", last_error=cause)
            return None
        run.fail(cause)
        if cause.permanent or pause is None:
            self._become("failed", last_error=cause, failures=budget.failures(now))
            return None
        self._become("backoff", last_error=cause, failures=budget.failures(now))
        return pause

    def _explained(self, spec: JobSpec, cause: ErrorSummary) -> ErrorSummary:
        """The cause with the reason why a record is bad, which the failed query does not give."""
        if cause.error_class != BAD_RECORD:
            return cause
        folders = tuple(map(place_at, spec.query_names))
        try:
            message = explained(self._around.new_session(), spec.inputs, cause.message, folders)
        except Exception as error:  # noqa: BLE001 - the failure itself is known; only its reason is missing
            self._log.warning("the bad record cannot be read again: %s", root_cause_of(error).message)
            return cause
        # A file that is being written may heal a bad record; a header line stays where it is.
        return replace(cause, message=message, permanent=bad_records.HEADER_WAY in message)

    def _learns(self, spec: JobSpec, failure: Exception) -> bool:
        """Returns True if a source has learned from the failure what it did not know: the batch is read
        again, and nothing has failed.
        """
        cause = root_cause_of(failure)
        sources = [job_input.source for job_input in spec.inputs if isinstance(job_input, StreamInput)]
        try:
            checkpoints = tuple(map(place_at, spec.query_names))
            learned = any(source.learns(cause.message, checkpoints) for source in sources)
        except Exception as error:  # noqa: BLE001 - the failure itself is known; what kept it may keep this, too
            self._log.error("what its streams have met cannot be noted: %s", error)
            return False
        if learned:
            self._log.info("starting again: %s", cause.message)
        return learned

    def _report(self, phase: Any, reports: tuple[QueryStatus, ...]) -> None:
        queries = tuple(map(self._totals.added, reports))
        if self._totals.counts != self.status.late_rows:
            self.status = replace(self.status, late_rows=self._totals.counts)
        if phase != self.status.phase:
            self._become(phase, queries=queries)
        else:
            self.status = replace(self.status, queries=queries)

    def _become(self, phase: Any, **changes: Any) -> None:
        if phase in _OVER:
            changes = {"lineage_run": "", **changes}
        self.status = replace(self.status, phase=phase, since=time.time(), **changes)
        self._around.changed()


def rows_read(queries: Sequence[QueryStatus]) -> int | None:
    """Rows that the queries of a run have read together; None where that is not known. Queries that read the
    same sources read the same rows.
    """
    read = [query for query in queries if not query.output.startswith(bad_records.NAME) and query.lag]
    counts = [query.input_rows for query in read if query.input_rows is not None]
    if len(counts) < len(read):
        return None
    places = [sorted(source.source or "" for source in query.lag.values()) for query in read]
    if all(each == places[0] for each in places):
        return max(counts, default=0) if len(set(counts)) < 2 else None
    names = [name for each in places for name in set(each)]
    return sum(counts) if len(names) == len(set(names)) else None


def _pool_of(spec: JobSpec) -> str:
    """The scheduler pool that its tasks run in."""
    return spec.pool or spec.address
