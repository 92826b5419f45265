"""The ways of rows to a table, and their output modes: decided by the spec and by what Spark accepts, the
same at every start.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flareiac_spark_runtime.control import JobSpec, Output, TableOutput
from flareiac_spark_runtime.driver import logical_plan, tables
from flareiac_spark_runtime.driver.jvm import jvm_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def by_epoch(spec: JobSpec, output: TableOutput) -> bool:
    """Returns True if Iceberg's own sink, which knows by query and epoch what it has already, writes this
    table of a stream.

    It knows that of the main branch alone, and of appends and whole results only; everything else is a
    micro-batch with our mark.
    """
    if output.bad_records:
        return True
    return not spec.foreach_batch and output.mode in ("append", "complete") and tables.is_main(output.branch)


def output_mode(session: "SparkSession", outputs: Sequence[Output], frames: Sequence[Any]) -> str:
    """Spark's output mode of the query that feeds these outputs with these streaming frames, one for each.

    A merge takes rows that change (``update``) wherever Spark gives them; beside a join of two streams it
    gives appended rows only.
    """
    modes = {output.mode for output in outputs}
    for mode in ("complete", "update"):
        if mode in modes:
            return mode
    if modes != {"merge"}:
        return "append"
    if any(
        logical_plan.joins_streams(node)
        for frame in frames
        for node in logical_plan.nodes(logical_plan.analysed(frame))
    ):
        return "append"
    return "update" if all(_accepts(session, frame, "update") for frame in frames) else "append"


def check(session: "SparkSession", frame: "DataFrame", mode: str) -> None:
    """Raises Spark's ``AnalysisException`` if the frame cannot be a streaming query of that output mode."""
    spark = jvm_of(session).org.apache.spark.sql
    modes = spark.streaming.OutputMode
    java_mode = {"append": modes.Append, "update": modes.Update, "complete": modes.Complete}[mode]()
    spark.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(
        logical_plan.analysed(frame), java_mode
    )


def _accepts(session: "SparkSession", frame: "DataFrame", mode: str) -> bool:
    from pyspark.errors import AnalysisException

    try:
        check(session, frame, mode)
    except AnalysisException:
        return False
    return True
