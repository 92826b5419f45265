"""The status of an application: the content of ``status.json``, written by its driver alone. Times are UTC
seconds since 1970.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from flareiac.kernel.data import Seconds
from flareiac.kernel.host import Host
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, UNSTORED, named
from flareiac_spark_runtime.control.rhythm import LOCAL

ASKED_TO_STOP: Final = "asked to stop"
"""The reason of an application that ended because it was asked to."""
Phase: TypeAlias = Literal[
    "pending", "starting", "running", "idle", "stopping", "stopped", "completed", "backoff", "failed"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationStatus:
    """``digest`` is that of the settings the application was started with. ``phase`` ``ended`` with
    ``reason`` is its last word.
    """

    id: str
    name: str
    host: str
    pid: int
    pid_started: str
    jvm_pid: int | None = None
    jvm_pid_started: str | None = None
    spark_version: str = ""
    java_version: str = ""
    ui: str | None = None
    digest: str = ""
    phase: Literal["starting", "running", "ended"] = "running"
    reason: str = ""
    trouble: str | None = None
    """The reason that the desired state cannot be read at the moment; what runs goes on meanwhile."""
    monitoring_trouble: str = field(default="", metadata=SPARSE)
    """The reason that the application cannot be probed as its engine says; what runs goes on meanwhile."""
    lineage_trouble: str = field(default="", metadata=SPARSE)
    """The reason that events of OpenLineage cannot be sent; what runs goes on meanwhile."""
    place: Host | None = None
    """The host on which its processes can be looked for; early versions wrote only the ``host``'s name."""
    waiting: str = field(default="", metadata=SPARSE)
    """The reason that it has no executors, so that its jobs wait; empty while it has."""
    release: str = field(default="", metadata=SPARSE)
    """The driver's own, such as ``0.1.0``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSummary:
    """``error_class`` is Spark's error condition (``UNRESOLVED_COLUMN.WITH_SUGGESTION``) or an exception's
    name.
    """

    error_class: str = field(metadata=named("class"))
    message: str
    permanent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLag:
    """The offsets to which a source was read, and those to which it could be, in its own form; ``latest``
    None: the source does not report them.
    """

    source: str | None = None
    end: Any = None
    latest: Any = None
    metrics: Any = field(default=None, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryStatus:
    """One streaming query. ``batch`` is the last one committed, None before the first of this run."""

    output: str
    id: str
    run_id: str
    batch: int | None = None
    last_commit: Seconds | None = None
    input_rows_per_second: float | None = None
    processed_rows_per_second: float | None = None
    lag: Mapping[str, SourceLag] = field(default_factory=dict)
    watermark: str | None = None
    state_rows: int | None = None
    rows_dropped_by_watermark: int | None = None
    """In the last batch."""
    late_rows: int = field(default=0, metadata=SPARSE)
    """Rows that were dropped because they were later than the watermark, since the query's first start."""
    state_bytes: int | None = field(default=None, metadata=UNSTORED)
    """For the driver's own metrics alone."""
    input_rows: int | None = 0
    """Rows read by this run so far, each once for each input that reads it; None where that is not known."""
    bad_records: Mapping[str, int | None] = field(default_factory=dict, metadata=SPARSE)
    """Records that could not be read in batches that this run committed, by input; None where it is not known
    how many.
    """
    batch_seconds: float | None = None
    """The duration of the last committed batch."""
    running_seconds: float | None = None
    """The time for which the batch under way has been running, None between batches. This and the next two as
    of the heartbeat.
    """
    quiet_seconds: float | None = None
    """Since the last commit of this run, or since it began."""
    behind_seconds: float | None = None
    """Since it last had read all that its sources had, or since it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputResult:
    snapshot_id: int | None
    rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A finished run. ``snapshot_id`` and ``rows`` are those of the first output; ``found`` if an earlier
    process had done it.
    """

    run_id: str | None
    snapshot_id: int | None
    rows: int | None
    outputs: Mapping[str, OutputResult] = field(default_factory=dict)
    found: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """``failures`` counts those within the restart budget's window; ``since`` is when the phase began."""

    phase: Phase
    digest: str
    nonce: int = 0
    queries: tuple[QueryStatus, ...] = ()
    failures: int = 0
    last_error: ErrorSummary | None = None
    since: Seconds = 0.0
    result: RunResult | None = None
    waiting: str = field(default="", metadata=SPARSE)
    """The system of its sources that does not answer, and the reason."""
    late_rows: Mapping[str, int] = field(default_factory=dict, metadata=SPARSE)
    """Rows that were dropped because they were later than the watermark, by the id of the query, also of runs
    before this driver's.
    """
    lineage_run: str = field(default="", metadata=SPARSE)
    """The id of the run whose START was sent to OpenLineage; empty once its end was sent."""
    lineage_dropped: int = field(default=0, metadata=SPARSE)
    """Events of OpenLineage that this driver has dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """``heartbeat`` is when it was written; ``uptime`` is the same by the clock of the application's host
    that no one sets.
    """

    application: ApplicationStatus
    heartbeat: Seconds
    observed_revision: int
    jobs: Mapping[str, JobStatus] = field(default_factory=dict)
    uptime: float | None = None
    beat: float = field(default=LOCAL.beat, metadata=SPARSE)
    """Seconds between two heartbeats of the application."""
