"""One run of a streaming job: start its queries, follow them, stop them at a commit where possible."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from logging import Logger
from typing import TYPE_CHECKING, Any, assert_never

from flareiac.kernel import kill_points
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import (
    ALL,
    JobSpec,
    KafkaOutput,
    Output,
    QueryStatus,
    StreamInput,
    TableOutput,
    Trigger,
)
from flareiac_spark_runtime.driver import (
    bad_records,
    checkpoints,
    kafka_sink,
    micro_batch,
    sinks,
    tables,
    temp_views,
)
from flareiac_spark_runtime.driver.inputs import open_input, open_marked
from flareiac_spark_runtime.driver.outputs import shape, write_options
from flareiac_spark_runtime.driver.progress import activity_of
from flareiac_spark_runtime.driver.query_watch import OnCommit, QueryWatch
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.source_start_times import start_times
from flareiac_spark_runtime.driver.spark_session import set_conf
from flareiac_spark_runtime.storage import place_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOOK_EVERY = 0.5
_LOOK_AT_REST, _REST_AFTER = 2.0, 10
"""A look takes a dozen calls into the JVM: after so many at queries that wait for data they are fewer."""
_LOOK_WHILE_STOPPING = (0.01, 0.05)
"""Seconds between two looks: at first, and once a second has passed."""

Report = Callable[[str, tuple[QueryStatus, ...]], None]
"""Takes the phase and the queries; raises ``Refusal`` where they must not go on."""


class QueryFailed(Exception):
    """A query ended by an error; ``java_exception`` is Spark's own record of it."""

    def __init__(self, java_exception: Any) -> None:
        super().__init__("a streaming query failed")
        self.java_exception = java_exception


class BatchWatch(QueryWatch):
    """Follows a query whose batches we write."""

    def __init__(self, output: str, query: Any, take: micro_batch.MicroBatch) -> None:
        super().__init__(output, query)
        self.take = take

    def is_kept(self, batch: int) -> bool:
        return batch in self.take.kept


@dataclass(frozen=True, slots=True)
class Ready:
    """The queries of a job, analysed in their session; calling one of ``starts`` starts one. Nothing runs
    before. ``on_commit`` is called for each batch that they commit.
    """

    session: "SparkSession"
    starts: tuple[Callable[[], QueryWatch], ...]
    on_commit: OnCommit | None = None


def make_ready(session: "SparkSession", spec: JobSpec, log: Logger) -> Ready:
    """Gives a fresh session the job's settings and views, and analyses its queries. Raises what analysing
    raises, and ``Refusal``.
    """
    set_conf(session, spec.conf)
    begins, folders = start_times(spec), tuple(map(place_at, spec.query_names))
    temp_views.define_all(session, spec, partial(open_input, starts=begins, checkpoints=folders))
    marked = partial(open_marked, session, starts=begins, checkpoints=folders)
    quarantines = [
        _quarantine(session, spec, output, marked) for output in spec.table_outputs if output.bad_records
    ]
    outputs = tuple(output for output in spec.outputs if not output.bad_records)
    if spec.foreach_batch:
        return Ready(session, (_micro_batches(session, spec, outputs, ALL, log), *quarantines))
    queries = (_query(session, spec, output, log) for output in outputs if not output.tombstones_of)
    return Ready(session, (*queries, *quarantines))


def run_stream(
    session: "SparkSession",
    spec: JobSpec,
    stop: threading.Event,
    graceful_seconds: Callable[[], float],
    report: Report,
    log: Logger,
) -> bool:
    """Makes a job ready in a fresh session and runs it; raises as ``make_ready`` and ``run_ready`` do."""
    return run_ready(make_ready(session, spec, log), spec, stop, graceful_seconds, report, log)


def run_ready(
    ready: Ready,
    spec: JobSpec,
    stop: threading.Event,
    graceful_seconds: Callable[[], float],
    report: Report,
    log: Logger,
) -> bool:
    """Runs until stopped (False) or, with a finite trigger, until done (True). Raises what starting and
    ``report`` raise, and ``QueryFailed``.
    """
    watches: list[QueryWatch] = []
    try:
        for start in ready.starts:
            kill_points.reach("driver.before-start", spec.address)
            watches.append(start())
            watches[-1].on_commit = ready.on_commit
            kill_points.reach("driver.after-start", spec.address)
        return _follow(watches, stop, graceful_seconds, report, log)
    finally:
        for watch in watches:
            with contextlib.suppress(Exception):  # the first error is the one that counts
                watch.query.stop()


def _query(session: "SparkSession", spec: JobSpec, output: Output, log: Logger) -> Callable[[], QueryWatch]:
    """Starts the query of an output that has one of its own."""
    match output:
        case TableOutput() if sinks.by_epoch(spec, output):
            return _table_sink(session, spec, output)
        case TableOutput():
            tombstones = spec.tombstones(output.name)
            written = (output,) if tombstones is None else (output, tombstones)
            return _micro_batches(session, spec, written, output.name, log)
        case KafkaOutput():
            return _kafka_sink(session, spec, output)
        case _:
            assert_never(output)


def _table_sink(session: "SparkSession", spec: JobSpec, output: TableOutput) -> Callable[[], QueryWatch]:
    """Starts a query that Iceberg's own sink writes."""
    tables.load(session, output.identifier, output.uuid)
    return _by_epoch(shape(_streaming(session, output), output), spec, output)


def _quarantine(
    session: "SparkSession", spec: JobSpec, output: TableOutput, marked: Callable[[StreamInput], Any]
) -> Callable[[], QueryWatch]:
    """Starts the query that writes the bad records of an input. ``marked`` opens it with its marker."""
    tables.load(session, output.identifier, output.uuid)
    stream = spec.stream(output.source)
    rows = bad_records.bad_rows(marked(stream), stream, output, spec.address)
    return _by_epoch(shape(rows, output), spec, output)


def _by_epoch(frame: "DataFrame", spec: JobSpec, output: TableOutput) -> Callable[[], QueryWatch]:
    writer = (
        _writer(frame, spec, output, output.name).outputMode(output.mode).options(**write_options(output))
    )
    begin = partial(writer.toTable, tables.quoted_name(output.identifier))
    return partial(_watched, begin, spec, output)


def _kafka_sink(session: "SparkSession", spec: JobSpec, output: KafkaOutput) -> Callable[[], QueryWatch]:
    """Starts a query that Spark's own sink writes to a topic."""
    options = kafka_sink.opened(session, output)
    frame = kafka_sink.shape(_streaming(session, output), output)
    sinks.check(session, frame, output.mode)
    writer = (
        _writer(frame, spec, output, output.name)
        .outputMode(output.mode)
        .format(kafka_sink.FORMAT)
        .options(**options)
    )
    return partial(_watched, writer.start, spec, output)


def _streaming(session: "SparkSession", output: Output) -> Any:
    frame = temp_views.view(session, output.source)
    if not frame.isStreaming:
        raise Refusal(
            "NOT_STREAMING",
            f"{output.source!r} reads no stream, so it cannot feed the output {output.name!r} of a "
            "streaming job.",
        )
    return frame


def _watched(begin: Callable[[], Any], spec: JobSpec, output: Output) -> QueryWatch:
    return QueryWatch(output.name, _begun(begin, spec, output, output.name))


def _micro_batches(
    session: "SparkSession", spec: JobSpec, outputs: Sequence[Output], label: str, log: Logger
) -> Callable[[], QueryWatch]:
    """Starts a query each of whose batches we write."""
    for output in outputs:
        _prove_place(session, output)
    flow = micro_batch.flow_of(session, spec, outputs)
    take = micro_batch.MicroBatch(address=spec.address, flow=flow, log=log)
    writer = _writer(flow.frame, spec, outputs[0], label).outputMode(flow.mode).foreachBatch(take)

    def start() -> QueryWatch:
        return BatchWatch(label, _begun(writer.start, spec, outputs[0], label), take)

    return start


def _prove_place(session: "SparkSession", output: Output) -> None:
    match output:
        case TableOutput():
            tables.target(session, output)
        case KafkaOutput():
            kafka_sink.opened(session, output)
        case _:
            assert_never(output)


def _writer(frame: "DataFrame", spec: JobSpec, output: Output, label: str) -> Any:
    if output.checkpoint is None:
        raise Refusal(
            "CHECKPOINT_MISSING", f"The output {output.name!r} of a streaming job has no checkpoint."
        )
    writer = frame.writeStream.queryName(f"{spec.address}/{label}").option(
        "checkpointLocation", output.checkpoint
    )
    trigger = trigger_arguments(spec.trigger)
    return writer if trigger is None else writer.trigger(**trigger)


def _begun(begin: Callable[[], Any], spec: JobSpec, output: Output, label: str) -> Any:
    checkpoint = output.checkpoint or ""
    checkpoints.clear_scraps(checkpoint)
    query = begin()
    try:
        checkpoints.confirm(query, checkpoint, f"{spec.address}/{label}")
    except Refusal:
        query.stop()
        raise
    return query


def trigger_arguments(trigger: Trigger) -> dict[str, Any] | None:
    """Arguments of pyspark's ``trigger``; None for its default."""
    match trigger.kind:
        case "default":
            return None
        case "processing_time":
            return {"processingTime": f"{trigger.interval_ms or 0} milliseconds"}
        case "available_now":
            return {"availableNow": True}
        case "once":
            return {"once": True}


def _follow(
    watches: Sequence[QueryWatch],
    stop: threading.Event,
    graceful_seconds: Callable[[], float],
    report: Report,
    log: Logger,
) -> bool:
    report("running", _statuses(watches))
    at_rest = 0
    while True:
        stopping = stop.wait(LOOK_EVERY if at_rest < _REST_AFTER else _LOOK_AT_REST)
        alive = [watch.query.isActive for watch in watches]
        _look(watches, log)
        for watch, lives in zip(watches, alive, strict=True):
            if not lives:  # one that fails says why before it says that it has ended
                _raise_failure(watch)
        if not any(alive):
            report("stopping", _statuses(watches))
            return True
        if stopping:
            report("stopping", _statuses(watches))
            _stop_at_commit(watches, time.monotonic() + graceful_seconds(), log)
            report("stopping", _statuses(watches))
            return False
        idle = all(watch.idle for watch in watches)
        at_rest = at_rest + 1 if idle else 0
        report("idle" if idle else "running", _statuses(watches))


def _stop_at_commit(watches: Sequence[QueryWatch], deadline: float, log: Logger) -> None:
    """Each query stops between two batches, or after its next commit, or at the deadline. Spark itself knows
    no such stop, so that a batch may begin in between; it is replayed with the same offsets at the next
    start.
    """
    waiting, begun = list(watches), time.monotonic()
    kill_points.reach("driver.stopping")
    while waiting:
        for watch in tuple(waiting):
            committed = watch.look()
            if (
                committed
                or not watch.query.isActive
                or not activity_of(watch.query).in_trigger
                or time.monotonic() > deadline
            ):
                watch.query.stop()
                waiting.remove(watch)
                log.info("%s: stopped after batch %s", watch.status.output, watch.status.batch)
        if waiting:
            time.sleep(_LOOK_WHILE_STOPPING[time.monotonic() - begun > 1])
    _look(watches, log)


def _look(watches: Sequence[QueryWatch], log: Logger) -> None:
    for watch in watches:
        if watch.look():
            seen = watch.status
            rows = "-" if seen.input_rows is None else seen.input_rows
            log.info("%s: batch %s committed, %s rows read in this run", seen.output, seen.batch, rows)
            kill_points.reach("driver.after-batch", seen.output)


def _raise_failure(watch: QueryWatch) -> None:
    failure = watch.query._jsq.exception()
    if failure.isDefined():
        # Of what failed in our own part of a batch the query knows the text alone.
        cause = watch.take.failure if isinstance(watch, BatchWatch) else None
        raise cause or QueryFailed(failure.get())


def _statuses(watches: Sequence[QueryWatch]) -> tuple[QueryStatus, ...]:
    return tuple(watch.status for watch in watches)
