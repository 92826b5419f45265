"""Writes one micro-batch: each table gets it once, in the order of the spec, however often Spark begins the
batch again; then each topic gets it, at least once. Tables of tombstones come first: a table is merged with
the deletes of the batch known.

Spark replays a batch that is not in its log of commits, with the same number and the same rows. So each
commit carries the query, the output and the number, and what carries them already is not written again. A
topic carries no such mark. It comes after the tables: a batch that fails in a table has not reached a topic
yet, and a record in a topic has its row in the tables. Works inside the query's own thread.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from logging import Logger
from typing import TYPE_CHECKING, Any, Final, assert_never

from flareiac.kernel import kill_points
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import JobSpec, KafkaOutput, Output, TableOutput, tables_among
from flareiac_spark_runtime.driver import (
    bad_records,
    batch_write,
    kafka_sink,
    kept_rows,
    logical_plan,
    merge_rows,
    sinks,
    tables,
    temp_views,
)
from flareiac_spark_runtime.driver.commit_marks import BATCH_ID, CHECKPOINT_ID, OUTPUT, BatchSearch
from flareiac_spark_runtime.driver.common_step import CommonStep, common_step_of
from flareiac_spark_runtime.driver.earlier_layouts import has_earlier_files
from flareiac_spark_runtime.driver.inputs import open_input
from flareiac_spark_runtime.driver.outputs import shape
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import is_refused

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_QUERY_ID = "sql.streaming.queryId"
"""A local property of the thread of a query: the id in its checkpoint's ``metadata``."""
_ROW_BY_ROW: Final = frozenset(
    {"Project", "Filter", "View", "SubqueryAlias", "StreamingRelation", "StreamingRelationV2"}
)
"""Nodes of a plan that make each row of one row of the source."""
_CONFLICTS: Final = 3
"""Commits of one batch that may meet those of other programs before the query fails, and is started again
later.
"""
_STALE_SECONDS = 10.0
"""Less than a lease."""
_REMEMBERED: Final = 1000
"""Batches, far more than are committed between two looks at a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One streaming query: ``frame`` is what it runs, ``shapes`` make of each batch the rows of each output.
    ``outputs`` are in the order in which they are written.

    ``repeats``: a batch computed twice gives the same rows, for little more than reading it twice.
    """

    frame: "DataFrame"
    mode: str
    outputs: tuple[Output, ...]
    shapes: Callable[[Any], Mapping[str, Any]]
    holds_state: bool
    repeats: bool

    def tombstones(self, output: str) -> TableOutput | None:
        """The output that keeps the deletes of an output, None if there is none."""
        return next(
            (
                table_output
                for table_output in tables_among(self.outputs)
                if table_output.tombstones_of == output
            ),
            None,
        )


def flow_of(session: "SparkSession", spec: JobSpec, outputs: Sequence[Output]) -> Flow:
    """The query that feeds these outputs. The session has a view of each input and step. Raises ``Refusal``
    and ``AnalysisException``.
    """
    kept, outputs = _apart(outputs)
    frames = [shaped(session, temp_views.view(session, output.source), output, spec) for output in outputs]
    mode = sinks.output_mode(session, outputs, frames)
    for frame in frames:
        sinks.check(session, frame, mode)
    common = common_step_of(session, spec, outputs)
    alone = len(outputs) == 1
    frame = frames[0] if alone else temp_views.view(session, common.name)
    if not frame.isStreaming:
        raise Refusal(
            "NOT_STREAMING",
            f"{common.name!r} reads no stream, so it cannot feed an output of a streaming job.",
        )
    plan = logical_plan.analysed(frame)
    nodes = list(logical_plan.nodes(plan))
    return Flow(
        frame=frame,
        mode=mode,
        outputs=(
            *kept,
            *tables_among(outputs),
            *(output for output in outputs if not isinstance(output, TableOutput)),
        ),
        shapes=(lambda batch: {outputs[0].name: batch}) if alone else _Shapes(spec, tuple(outputs), common),
        holds_state=any(logical_plan.holds_state(node) or logical_plan.is_watermark(node) for node in nodes),
        repeats=all(
            logical_plan.kind(node) in _ROW_BY_ROW
            and (logical_plan.is_deterministic(node) or bad_records.judges(node))
            for node in nodes
        )
        and all(step.python is None for step in spec.steps),
    )


def _apart(outputs: Sequence[Output]) -> tuple[tuple[TableOutput, ...], tuple[Output, ...]]:
    """The tables of tombstones, and the outputs that the query itself feeds."""
    return (
        tuple(output for output in tables_among(outputs) if output.tombstones_of),
        tuple(output for output in outputs if not output.tombstones_of),
    )


def shaped(session: "SparkSession", frame: "DataFrame", output: Output, spec: JobSpec) -> Any:
    """The frame with the columns that the output takes, and its tombstones after it."""
    match output:
        case TableOutput():
            used = merge_rows.used_columns(session, output) if output.mode == "merge" else frozenset()
            tombstones = spec.tombstones(output.name)
            if tombstones is not None:
                used |= {column.name.lower() for column in tombstones.columns}
            return shape(frame, output, used)
        case KafkaOutput():
            return kafka_sink.shape(frame, output)
        case _:
            assert_never(output)


@dataclass(frozen=True, slots=True)
class _Shapes:
    """The steps after the common step, on the rows of one batch, in the session of the query."""

    spec: JobSpec
    outputs: tuple[Output, ...]
    common: CommonStep

    def __call__(self, batch: Any) -> Mapping[str, Any]:
        session = batch.sparkSession
        temp_views.define(batch, self.common.name)
        for job_input in self.common.inputs:
            temp_views.define_input(
                session, job_input, lambda session, job_input: open_input(session, job_input, {})
            )
        for step in self.common.steps:
            temp_views.define_step(session, step, self.spec)
        return {
            output.name: shaped(session, temp_views.view(session, output.source), output, self.spec)
            for output in self.outputs
        }


@dataclass(slots=True)
class _Target:
    """An output's table, as it is followed from batch to batch."""

    table: Any = None
    search: BatchSearch | None = None
    searched: float = 0.0


@dataclass(slots=True)
class MicroBatch:
    """The function that Spark calls for each batch. ``failure`` is the error that ended it last: the query's
    own error reports only a failed call. ``kept``: the last batches whose rows were computed once, and kept.
    """

    address: str
    flow: Flow
    log: Logger
    failure: Exception | None = None
    kept: deque[int] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    _targets: dict[str, _Target] = field(default_factory=dict)
    _topics: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def __call__(self, frame: "DataFrame", batch: int) -> None:
        try:
            self._take(frame, batch)
        except Exception as failure:
            self.failure = failure
            raise

    def _take(self, frame: "DataFrame", batch: int) -> None:
        session = frame.sparkSession
        query_id = str(session.sparkContext.getLocalProperty(_QUERY_ID))
        kill_points.reach("driver.batch-begun", self.address)
        todo = [
            output
            for output in self.flow.outputs
            if not isinstance(output, TableOutput) or not self._is_there(session, query_id, output, batch)
        ]
        written = self._write_all(frame, todo, query_id, batch) if todo else 0
        if not written and self.flow.holds_state:
            # What Spark remembers for the next batch is made by computing this one.
            frame.write.format("noop").mode("overwrite").save()
        kill_points.reach("driver.before-commit-log", self.address)

    def _is_there(self, session: "SparkSession", query_id: str, output: TableOutput, batch: int) -> bool:
        target = self._targets.setdefault(output.name, _Target())
        if target.table is None or target.search is None:
            target.table, target.search = (
                tables.target(session, output),
                BatchSearch(query_id, output.name, output.branch),
            )
        else:
            target.table.refresh()
        target.searched = time.monotonic()
        newest = target.search.newest(target.table)
        if newest is not None and newest > batch:
            raise _behind(output, newest, batch)
        if newest == batch:
            self.log.info("%s: batch %s is there already and is not written again", output.name, batch)
        return newest == batch

    def _write_all(self, frame: "DataFrame", todo: Sequence[Output], query_id: str, batch: int) -> int:
        """Returns to how many outputs it wrote."""
        written = 0
        kept = (
            kept_rows.kept(frame)
            if any(self._is_read_twice(output) for output in todo) or len(todo) > 1
            else None
        )
        if kept is not None:
            self.kept.append(batch)
        try:
            rows = self.flow.shapes(frame if kept is None else kept)
            for at, output in enumerate(todo):
                if at:
                    kill_points.reach("driver.between-outputs", self.address)
                kill_points.reach("driver.before-output-write", output.name)
                match output:
                    case TableOutput():
                        carry = {CHECKPOINT_ID: query_id, OUTPUT: output.name, BATCH_ID: str(batch)}
                        if self._is_stale(output) and self._is_there(
                            frame.sparkSession, query_id, output, batch
                        ):
                            continue
                        again = kept is not None or self.flow.repeats
                        self._write(rows[output.tombstones_of or output.name], output, carry, again=again)
                    case KafkaOutput():
                        kafka_sink.write(rows[output.name], self._opened(frame.sparkSession, output))
                    case _:
                        assert_never(output)
                written += 1
                kill_points.reach("driver.after-output-write", output.name)
        finally:
            if kept is not None:
                kept.unpersist()
        return written

    def _write(self, rows: Any, output: TableOutput, carry: Mapping[str, str], *, again: bool) -> None:
        """``again``: computing the rows once more gives the same ones, so that a commit that met another
        program's is repeated.
        """
        if output.mode == "overwrite" and rows.isEmpty():
            # A batch without rows says nothing of those that are there; Spark runs one now and then to move
            # the watermark.
            return
        if output.tombstones_of and not batch_write.has_deletes(rows, output):
            return
        tombstones = self.flow.tombstones(output.name)
        for left in range(_CONFLICTS if again else 0, -1, -1):
            try:
                batch_write.write(rows, output, carry, tombstones)
            except Exception as failure:
                if not left or not is_refused(failure):
                    raise
                self.log.info(
                    "%s: another program changed the table meanwhile; the batch is written again", output.name
                )
            else:
                return

    def _opened(self, session: "SparkSession", output: KafkaOutput) -> Mapping[str, str]:
        if output.name not in self._topics:
            self._topics[output.name] = kafka_sink.opened(session, output)
        return self._topics[output.name]

    def _is_stale(self, output: TableOutput) -> bool:
        """Returns True if so much time passed since the search that another driver may have taken over: this
        process may have been paused.
        """
        return time.monotonic() - self._targets[output.name].searched > _STALE_SECONDS

    def _is_read_twice(self, output: Output) -> bool:
        """Returns True if computing the batch once and keeping it is less work than reading it twice.

        An overwrite asks first whether there are rows. A merge that rewrites files reads its rows once to
        find those files and once more: they must be the same, and where each is made of one row of a source,
        reading that again is less work than keeping them (measured).
        """
        if output.mode == "merge":
            if self.flow.repeats:
                return False
            return (
                self.flow.holds_state
                or self._targets[output.name].table.properties().get("write.merge.mode") != "merge-on-read"
            )
        if output.mode == "overwrite_partitions":
            # Which partitions it replaces is asked first
            return has_earlier_files(self._targets[output.name].table, output.branch)
        return output.mode == "overwrite"


def _behind(output: TableOutput, newest: int, batch: int) -> Refusal:
    why = (
        f"The table {'.'.join(output.identifier)} has batch {newest} of this query, and the checkpoint is "
        f"about to write batch {batch}: it was set back, for instance restored from a copy. Restore the "
        "newest one, or start a new generation."
    )
    return Refusal("CHECKPOINT_BEHIND", why)
