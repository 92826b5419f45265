"""One run of a streaming job: start its queries, follow them, stop them at a commit where possible."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from logging import Logger
from typing import Any

from flareiac_spark.control import JobSpec, Output, QueryStatus, Trigger
from flareiac_spark.driver import checkpoints, kill_points, tables, views
from flareiac_spark.driver.inputs import open_input
from flareiac_spark.driver.outputs import shape, write_options
from flareiac_spark.driver.query_watch import QueryWatch
from flareiac_spark.driver.refusal import Refusal
from flareiac_spark.driver.start_times import start_times

LOOK_EVERY = 0.5
_LOOK_WHILE_STOPPING = 0.05

Report = Callable[[str, tuple[QueryStatus, ...]], None]
"""Takes the phase and the queries."""


class QueryFailed(Exception):
    """A query ended by an error; ``java_exception`` is Spark's own record of it."""

    def __init__(self, java_exception: Any) -> None:
        super().__init__("a streaming query failed")
        self.java_exception = java_exception


def run_stream(
    session: Any, spec: JobSpec, stop: threading.Event, graceful_seconds: Callable[[], float], report: Report, log: Logger
) -> bool:
    """Runs until stopped (False) or, with a finite trigger, until done (True). Raises what starting raises, and ``QueryFailed``."""
    views.define_all(session, spec, partial(open_input, starts=start_times(spec)))
    watches: list[QueryWatch] = []
    try:
        for output in spec.outputs:
            kill_points.reach("driver.before-start")
            watches.append(_start(session, spec, output))
            kill_points.reach("driver.after-start")
        return _follow(watches, stop, graceful_seconds, report, log)
    finally:
        for watch in watches:
            with contextlib.suppress(Exception):  # the first error is the one that counts
                watch.query.stop()


def _start(session: Any, spec: JobSpec, output: Output) -> QueryWatch:
    if output.checkpoint is None:
        raise Refusal("CHECKPOINT_MISSING", f"The output {output.name!r} of a streaming job has no checkpoint.")
    tables.load(session, output.identifier, output.uuid)
    frame = shape(views.view(session, output.source), output)
    if not frame.isStreaming:
        raise Refusal(
            "NOT_STREAMING", f"{output.source!r} reads no stream, so it can not feed the output {output.name!r} of a streaming job."
        )
    name = f"{spec.address}/{output.name}"
    writer = frame.writeStream.queryName(name).outputMode(output.mode).options(**write_options(output))
    writer = writer.option("checkpointLocation", output.checkpoint)
    if (trigger := trigger_arguments(spec.trigger)) is not None:
        writer = writer.trigger(**trigger)
    query = writer.toTable(tables.spell(output.identifier))
    try:
        checkpoints.confirm(query, output.checkpoint, name)
    except Refusal:
        query.stop()
        raise
    return QueryWatch(output.name, query)


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
    watches: Sequence[QueryWatch], stop: threading.Event, graceful_seconds: Callable[[], float], report: Report, log: Logger
) -> bool:
    report("running", _statuses(watches))
    while True:
        stopping = stop.wait(LOOK_EVERY)
        alive = [watch.query.isActive for watch in watches]
        _look(watches, log)
        for watch in watches:
            _raise_failure(watch)
        if not any(alive):
            report("stopping", _statuses(watches))
            return True
        if stopping:
            report("stopping", _statuses(watches))
            _stop_at_commit(watches, time.monotonic() + graceful_seconds(), log)
            report("stopping", _statuses(watches))
            return False
        report("idle" if all(watch.idle for watch in watches) else "running", _statuses(watches))


def _stop_at_commit(watches: Sequence[QueryWatch], deadline: float, log: Logger) -> None:
    """Each query stops between two batches, or after its next commit, or at the deadline. Spark itself knows no such stop, so that a
    batch may begin in between; it is replayed with the same offsets at the next start."""
    waiting = list(watches)
    kill_points.reach("driver.stopping")
    while waiting:
        for watch in tuple(waiting):
            committed = watch.look()
            if committed or not watch.query.isActive or not watch.query.status["isTriggerActive"] or time.monotonic() > deadline:
                watch.query.stop()
                waiting.remove(watch)
                log.info("%s: stopped after batch %s", watch.status.output, watch.status.batch)
        if waiting:
            time.sleep(_LOOK_WHILE_STOPPING)
    _look(watches, log)


def _look(watches: Sequence[QueryWatch], log: Logger) -> None:
    for watch in watches:
        if watch.look():
            seen = watch.status
            log.info("%s: batch %s committed, %s rows read in this run", seen.output, seen.batch, seen.input_rows)
            kill_points.reach("driver.after-batch")


def _raise_failure(watch: QueryWatch) -> None:
    failure = watch.query._jsq.exception()
    if failure.isDefined():
        raise QueryFailed(failure.get())


def _statuses(watches: Sequence[QueryWatch]) -> tuple[QueryStatus, ...]:
    return tuple(watch.status for watch in watches)
