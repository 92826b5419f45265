"""The metrics of a driver for Prometheus: their names, and their values out of its status. Pure.

A value that is not known has no sample: a zero would be an answer. The label of a job is ``address``, because
Prometheus gives ``job`` to what it scrapes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final, NamedTuple, get_args

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import ApplicationStatus, JobStatus, QueryStatus, SourceLag, Status
from flareiac_spark_runtime.control.status import Phase
from flareiac_spark_runtime.driver.counters import Counts
from flareiac_spark_runtime.driver.exposition import Family, Kind, Sample
from flareiac_spark_runtime.driver.health import Vitals, why_not_alive, why_not_ready
from flareiac_spark_runtime.sources.record_lag import records_behind
from flareiac_spark_runtime.utc import utc_ms


class Metric(NamedTuple):
    kind: Kind
    help: str


METRICS: Final[Mapping[str, Metric]] = {
    "flareiac_application_info": Metric("gauge", "The application, its releases: always 1."),
    "flareiac_application_alive": Metric("gauge", "Whether the driver makes progress, as /healthz says."),
    "flareiac_application_ready": Metric("gauge", "Whether the driver can take jobs, as /readyz says."),
    "flareiac_application_start_timestamp_seconds": Metric("gauge", "When the driver took the lease."),
    "flareiac_application_desired_revision": Metric("gauge", "Revision of what should run, as last read."),
    "flareiac_heartbeat_timestamp_seconds": Metric("gauge", "When the status was last written."),
    "flareiac_lease_renewed_timestamp_seconds": Metric("gauge", "When the lease was last renewed."),
    "flareiac_lease_term_seconds": Metric("gauge", "How long the lease lasts after a renewal."),
    "flareiac_main_loop_timestamp_seconds": Metric("gauge", "When the main loop last came round."),
    "flareiac_job_phase": Metric("gauge", "1 for the phase that the job is in, 0 for the others."),
    "flareiac_job_phase_start_timestamp_seconds": Metric("gauge", "When the phase of the job began."),
    "flareiac_job_starts_total": Metric("counter", "Starts of the job by this driver, restarts included."),
    "flareiac_job_failures_total": Metric("counter", "Runs of the job in this driver that failed."),
    "flareiac_job_recent_failures": Metric("gauge", "Failures within the window of the restart budget."),
    "flareiac_query_batch_id": Metric("gauge", "The last batch that this run committed."),
    "flareiac_query_last_commit_timestamp_seconds": Metric("gauge", "When this run last committed."),
    "flareiac_query_batch_duration_seconds": Metric("gauge", "How long the last committed batch took."),
    "flareiac_query_batch_running_seconds": Metric("gauge", "How long the batch under way has been running."),
    "flareiac_query_quiet_seconds": Metric("gauge", "Since the last commit of this run, or since it began."),
    "flareiac_query_behind_seconds": Metric(
        "gauge", "Since the query last had read all that its sources had, or since this run began."
    ),
    "flareiac_query_input_rows_per_second": Metric("gauge", "Rows that arrived, as of the last batch."),
    "flareiac_query_processed_rows_per_second": Metric("gauge", "Rows that were read, as of the last batch."),
    "flareiac_query_input_rows_total": Metric(
        "counter", "Rows that this run has read, each once for each input that reads it."
    ),
    "flareiac_query_bad_records_total": Metric("counter", "Records that this run could not read, by input."),
    "flareiac_query_watermark_timestamp_seconds": Metric("gauge", "The watermark, once there is one."),
    "flareiac_query_state_rows": Metric("gauge", "Rows of state, for a query that keeps some."),
    "flareiac_query_state_bytes": Metric("gauge", "Memory that the state takes, for such a query."),
    "flareiac_query_late_rows": Metric(
        "gauge", "Rows later than the watermark in the last batch, dropped, as Spark counts them."
    ),
    "flareiac_query_late_rows_total": Metric(
        "counter", "Rows later than the watermark since the first start of the query, dropped."
    ),
    "flareiac_source_caught_up": Metric(
        "gauge",
        "Whether the last batch read all that the source had, for sources that say how much they have.",
    ),
    "flareiac_source_lag_records": Metric(
        "gauge", "Records that the source had beyond the last batch, for sources that count records."
    ),
    "flareiac_maintenance_last_timestamp_seconds": Metric(
        "gauge", "When the last maintenance of a table ended."
    ),
    "flareiac_maintenance_last_duration_seconds": Metric("gauge", "How long the last maintenance took."),
    "flareiac_maintenance_last_success": Metric("gauge", "Whether the last maintenance was done: 1, or 0."),
    "flareiac_maintenance_runs_total": Metric("counter", "Maintenance tasks that this driver carried out."),
}

_AT_WORK: Final = ("running", "idle", "stopping")
"""Phases in which queries run. The figures of their last look are frozen in any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """``now``: UTC seconds; the ages in ``vitals`` count from it. ``begun``: when the driver took the lease,
    in UTC seconds; a difference of two clocks would differ with each scrape. ``heartbeat``: when the status
    was last written, in UTC seconds.
    """

    now: float
    begun: float
    status: Status
    vitals: Vitals
    counts: Counts = field(default_factory=Counts)
    heartbeat: float | None = None


def families(readings: Readings) -> tuple[Family, ...]:
    """Every metric, those without a value too, in the order of ``METRICS``."""
    samples: dict[str, list[Sample]] = {name: [] for name in METRICS}
    for value in _values(readings):
        if value.value is not None:
            samples[value.name].append(Sample(value=float(value.value), labels=value.labels))
    return tuple(
        Family(name=name, kind=metric.kind, help=metric.help, samples=tuple(samples[name]))
        for name, metric in METRICS.items()
    )


class _Value(NamedTuple):
    name: str
    value: float | None
    labels: Mapping[str, str] = {}


def _values(readings: Readings) -> Iterator[_Value]:
    status, counts = readings.status, readings.counts
    yield from _application(readings)
    for address, job in sorted(status.jobs.items()):
        yield from _job(address, job, counts)
        for query in job.queries:
            yield from _query(
                query, {"address": address, "query": query.output}, at_work=job.phase in _AT_WORK
            )
    yield from _maintenance(counts)


def _application(readings: Readings) -> Iterator[_Value]:
    vitals, now = readings.vitals, readings.now
    yield _Value("flareiac_application_info", 1, _releases(readings.status.application))
    yield _Value("flareiac_application_alive", why_not_alive(vitals) is None)
    yield _Value("flareiac_application_ready", why_not_ready(vitals) is None)
    yield _Value("flareiac_application_start_timestamp_seconds", readings.begun)
    yield _Value(
        "flareiac_application_desired_revision",
        readings.status.observed_revision if vitals.was_read else None,
    )
    yield _Value("flareiac_heartbeat_timestamp_seconds", readings.heartbeat)
    yield _Value("flareiac_lease_renewed_timestamp_seconds", now - vitals.renewed)
    yield _Value("flareiac_lease_term_seconds", vitals.term)
    turned = None if vitals.turned is None else now - vitals.turned
    yield _Value("flareiac_main_loop_timestamp_seconds", turned)


def _releases(about: ApplicationStatus) -> dict[str, str]:
    """A label without a value is one that is not there."""
    return {
        "application": about.name,
        "release": about.release,
        "spark": about.spark_version,
        "java": about.java_version,
    }


def _job(address: str, job: JobStatus, counts: Counts) -> Iterator[_Value]:
    labels = {"address": address}
    for phase in get_args(Phase):
        yield _Value("flareiac_job_phase", phase == job.phase, {**labels, "phase": phase})
    yield _Value("flareiac_job_phase_start_timestamp_seconds", job.since or None, labels)
    yield _Value("flareiac_job_starts_total", counts.starts.get(address, 0), labels)
    yield _Value("flareiac_job_failures_total", counts.failures.get(address, 0), labels)
    yield _Value("flareiac_job_recent_failures", job.failures, labels)


def _query(query: QueryStatus, labels: dict[str, str], *, at_work: bool) -> Iterator[_Value]:
    yield _Value("flareiac_query_batch_id", query.batch, labels)
    yield _Value("flareiac_query_last_commit_timestamp_seconds", query.last_commit, labels)
    yield _Value("flareiac_query_batch_duration_seconds", query.batch_seconds, labels)
    yield _Value("flareiac_query_input_rows_total", query.input_rows, labels)
    yield _Value("flareiac_query_watermark_timestamp_seconds", _watermark(query.watermark), labels)
    yield _Value("flareiac_query_state_rows", query.state_rows, labels)
    yield _Value("flareiac_query_state_bytes", query.state_bytes, labels)
    yield _Value("flareiac_query_late_rows", query.rows_dropped_by_watermark, labels)
    yield _Value("flareiac_query_late_rows_total", query.late_rows, labels)
    for name, count in query.bad_records.items():
        yield _Value("flareiac_query_bad_records_total", count, {**labels, "input": name})
    if at_work:
        yield from _movement(query, labels)


def _movement(query: QueryStatus, labels: dict[str, str]) -> Iterator[_Value]:
    yield _Value("flareiac_query_batch_running_seconds", query.running_seconds, labels)
    yield _Value("flareiac_query_quiet_seconds", query.quiet_seconds, labels)
    yield _Value("flareiac_query_behind_seconds", query.behind_seconds, labels)
    yield _Value("flareiac_query_input_rows_per_second", query.input_rows_per_second, labels)
    yield _Value("flareiac_query_processed_rows_per_second", query.processed_rows_per_second, labels)
    for number, source in query.lag.items():
        yield from _source(source, {**labels, "source": number, "description": source.source or ""})


def _source(source: SourceLag, labels: dict[str, str]) -> Iterator[_Value]:
    if source.latest is not None:
        yield _Value("flareiac_source_caught_up", source.end == source.latest, labels)
        yield _Value("flareiac_source_lag_records", records_behind(source.end, source.latest), labels)


def _watermark(text: str | None) -> float | None:
    """Spark writes 1970 as long as there is none."""
    ms = utc_ms(text) if text is not None else None
    return ms / 1000 if ms else None


def _maintenance(counts: Counts) -> Iterator[_Value]:
    for (table, kind), run in sorted(counts.maintenance.items()):
        labels = {"table": table, "kind": kind}
        yield _Value("flareiac_maintenance_last_timestamp_seconds", run.ended, labels)
        yield _Value("flareiac_maintenance_last_duration_seconds", run.seconds, labels)
        yield _Value("flareiac_maintenance_last_success", run.succeeded, labels)
    for (table, kind, result), number in sorted(counts.maintenance_runs.items()):
        yield _Value(
            "flareiac_maintenance_runs_total", number, {"table": table, "kind": kind, "result": result}
        )
