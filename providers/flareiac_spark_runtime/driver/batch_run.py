"""One run of a batch job: each output once, recognised by the run id that its commit carries."""

from functools import partial
from logging import Logger
from typing import TYPE_CHECKING

from flareiac.kernel import kill_points
from flareiac_spark_runtime.control import JobSpec, OutputResult, RunResult, TableOutput
from flareiac_spark_runtime.driver import batch_write, micro_batch, tables, temp_views
from flareiac_spark_runtime.driver.inputs import open_input
from flareiac_spark_runtime.driver.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUN_ID = "flareiac.run-id"


def run_batch(session: "SparkSession", spec: JobSpec, log: Logger) -> RunResult:
    """Writes the outputs that this run has not written yet. Raises ``Refusal``."""
    outputs = tuple(sorted(spec.table_outputs, key=lambda output: not output.tombstones_of))
    if len(outputs) < len(spec.outputs):
        # What a run has written to a topic cannot be found there
        raise Refusal("OUTPUT_IN_BATCH", "A batch job writes tables only.")
    for output in outputs:
        tables.target(session, output)
    done = {output.name: _earlier_result(session, spec, output) for output in outputs}
    done_before = all(result is not None for result in done.values())
    if not done_before:
        temp_views.define_all(session, spec, partial(open_input, starts={}))
    results = {output.name: done[output.name] or _write(session, spec, output, log) for output in outputs}
    first = next(results[output.name] for output in outputs if not output.tombstones_of)
    return RunResult(
        run_id=spec.run_id, snapshot_id=first.snapshot_id, rows=first.rows, outputs=results, found=done_before
    )


def _earlier_result(session: "SparkSession", spec: JobSpec, output: TableOutput) -> OutputResult | None:
    if spec.run_id is None:
        return None
    marked = tables.find_mark(session, output, RUN_ID, spec.run_id)
    if marked is not None and output.mode != "append" and marked != tables.current_snapshot(session, output):
        # Something else was written since, such as another definition's run: what this run wrote is no longer
        # what is there.
        return None
    return None if marked is None else OutputResult(snapshot_id=marked.snapshot_id, rows=marked.rows)


def _write(session: "SparkSession", spec: JobSpec, output: TableOutput, log: Logger) -> OutputResult:
    fed = next(
        job_output for job_output in spec.outputs if job_output.name == (output.tombstones_of or output.name)
    )
    rows = micro_batch.shaped(session, temp_views.view(session, fed.source), fed, spec)
    kill_points.reach("driver.before-batch-write", output.name)
    carry = {} if spec.run_id is None else {RUN_ID: spec.run_id}
    before = tables.current_snapshot(session, output)
    batch_write.write(rows, output, carry, spec.tombstones(output.name))
    kill_points.reach("driver.after-batch-write", output.name)
    result = _written(session, spec, output, before)
    shown = "-" if result.rows is None else result.rows
    log.info("%s: %s rows written in snapshot %s", output.name, shown, result.snapshot_id)
    return result


def _written(
    session: "SparkSession", spec: JobSpec, output: TableOutput, before: tables.Marked | None
) -> OutputResult:
    """``before``: the newest snapshot before the write, which commits nothing where nothing changes."""
    newest = tables.current_snapshot(session, output)
    if newest is None or newest == before:
        return OutputResult(snapshot_id=newest.snapshot_id if newest else None, rows=0)
    # Another program may have committed since
    marked = tables.find_mark(session, output, RUN_ID, spec.run_id) if spec.run_id is not None else None
    written = marked or newest
    return OutputResult(snapshot_id=written.snapshot_id, rows=written.rows)
