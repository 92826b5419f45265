"""Names inputs and steps: each is a temporary view in the job's own session."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flareiac_spark_runtime.control import Dedup, Input, JobSpec, Step, StreamInput, Watermark
from flareiac_spark_runtime.driver.column_types import quote
from flareiac_spark_runtime.driver.python_code import python_frame
from flareiac_spark_runtime.driver.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OpenInput = Callable[[Any, Input], Any]


def define_input(session: "SparkSession", job_input: Input, open_input: OpenInput) -> None:
    frame = open_input(session, job_input)
    define(
        _marked(frame, job_input.watermark if isinstance(job_input, StreamInput) else None), job_input.name
    )


def define_step(session: "SparkSession", step: Step, spec: JobSpec) -> None:
    """Its query, then its watermark, which its removal of duplicates may need."""
    define(_unique(_marked(_frame(session, step, spec), step.watermark), step.dedup), step.name)


def define_all(session: "SparkSession", spec: JobSpec, open_input: OpenInput) -> None:
    """Every input, then every step in order."""
    for job_input in spec.inputs:
        define_input(session, job_input, open_input)
    for step in spec.steps:
        define_step(session, step, spec)


def define(frame: "DataFrame", name: str) -> None:
    frame.createOrReplaceTempView(quote(name))


def view(session: "SparkSession", name: str) -> Any:
    return session.table(quote(name))


def _frame(session: "SparkSession", step: Step, spec: JobSpec) -> Any:
    if step.python is not None:
        earlier = [other.name for other in spec.steps[: spec.steps.index(step)]]
        return python_frame(
            session, step, spec.code, [*(job_input.name for job_input in spec.inputs), *earlier]
        )
    if step.sql is None:
        raise Refusal("STEP_NOT_UNDERSTOOD", f"The step {step.name!r} has neither SQL nor a Python function.")
    return session.sql(step.sql)


def _marked(frame: "DataFrame", watermark: Watermark | None) -> Any:
    return frame if watermark is None else frame.withWatermark(quote(watermark.column), watermark.delay)


def _unique(frame: "DataFrame", dedup: Dedup | None) -> Any:
    if dedup is None:
        return frame
    keys = list(dedup.keys)
    # Rows that are all there at once have no watermark to wait for.
    return (
        frame.dropDuplicatesWithinWatermark(keys)
        if dedup.within_watermark and frame.isStreaming
        else frame.dropDuplicates(keys)
    )
