"""Has Spark analyze jobs: builds each one on empty frames; touches no system."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from flareiac_spark_runtime.control import (
    Analysed,
    ControlError,
    ErrorSummary,
    Finding,
    JobSpec,
    Operation,
    Output,
    Result,
    TableOutput,
    job_spec_from_json,
)
from flareiac_spark_runtime.driver import bad_records, batch_write, micro_batch, sinks, temp_views
from flareiac_spark_runtime.driver.at_once import at_once
from flareiac_spark_runtime.driver.inputs import empty_input
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.driver.spark_session import set_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def analyse(new_session: Any, operation: Operation) -> Result:
    """Findings of every job, and the columns that each output's source gives."""
    answers = at_once(partial(_answer, new_session), operation.jobs)
    return Result(
        id=operation.id,
        status="done",
        findings=tuple(finding for answer in answers for finding in answer.findings),
        analysed={
            answer.address: Analysed(output_columns=answer.columns)
            for answer in answers
            if answer.columns is not None
        },
    )


class _Answer(NamedTuple):
    """``columns`` None: the spec was not understood."""

    address: str
    findings: Sequence[Finding]
    columns: Mapping[str, Mapping[str, str]] | None


def _answer(new_session: Any, data: Mapping[str, Any]) -> _Answer:
    try:
        spec = job_spec_from_json(dict(data))
    except ControlError as failure:
        address = str(data.get("address", ""))
        finding = Finding(address=address, step="", message=str(failure), error_class="SPEC_NOT_UNDERSTOOD")
        return _Answer(address, (finding,), None)
    session = new_session()
    findings = list(_analyse_job(session, spec))
    return _Answer(spec.address, findings, {} if findings else _columns(session, spec))


def _analyse_job(session: "SparkSession", spec: JobSpec) -> Iterator[Finding]:
    cause = _attempt(lambda: set_conf(session, spec.conf))
    if cause is not None:
        yield _finding(spec, "", cause)
    undefined: list[str] = []
    for job_input in spec.inputs:
        if (
            cause := _attempt(
                lambda job_input=job_input: temp_views.define_input(session, job_input, empty_input)
            )
        ) is not None:
            undefined.append(job_input.name)
            yield _finding(spec, f"inputs.{job_input.name}", cause)
    for step in spec.steps:
        if (cause := _attempt(lambda step=step: temp_views.define_step(session, step, spec))) is not None:
            if not _follows_from(cause, undefined):
                yield _finding(spec, step.name, cause)
            undefined.append(step.name)
    for output in spec.outputs:
        if output.source in undefined:
            continue
        if (cause := _attempt(lambda output=output: _analyse_output(session, spec, output))) is not None:
            undefined.append(output.name)
            yield _finding(spec, f"outputs.{output.name}", cause)
    if (
        spec.foreach_batch
        and not undefined
        and (cause := _attempt(lambda: micro_batch.flow_of(session, spec, _written(spec)))) is not None
    ):
        yield _finding(spec, "", cause)


def _analyse_output(session: "SparkSession", spec: JobSpec, output: Output) -> None:
    fed = next(
        job_output for job_output in spec.outputs if job_output.name == (output.tombstones_of or output.name)
    )
    frame = micro_batch.shaped(session, _given(session, spec, fed), fed, spec)
    if isinstance(output, TableOutput) and output.mode == "merge":
        batch_write.check_merge(session, frame, output)
    if output.tombstones_of:
        return
    if spec.mode == "stream" and (output.bad_records or not spec.foreach_batch):
        sinks.check(session, frame, sinks.output_mode(session, [output], [frame]))


def _columns(session: "SparkSession", spec: JobSpec) -> dict[str, dict[str, str]]:
    return {output.name: dict(_given(session, spec, output).dtypes) for output in spec.outputs}


def _written(spec: JobSpec) -> list[Output]:
    """The outputs that steps and inputs feed."""
    return [output for output in spec.outputs if not output.bad_records]


def _given(session: "SparkSession", spec: JobSpec, output: Output) -> Any:
    """The rows that an output is given."""
    if isinstance(output, TableOutput) and output.bad_records:
        stream = spec.stream(output.source)
        return bad_records.empty_bad_rows(empty_input(session, stream), stream, output, spec.address)
    return temp_views.view(session, output.source)


def _attempt(act: Any) -> ErrorSummary | None:
    try:
        act()
    except Exception as failure:  # noqa: BLE001 - whatever Spark says of a job is a finding
        return root_cause_of(failure)
    return None


def _follows_from(cause: ErrorSummary, undefined: list[str]) -> bool:
    """A step that reads one that failed adds nothing."""
    return cause.error_class.startswith("TABLE_OR_VIEW_NOT_FOUND") and any(
        f"`{name}`" in cause.message for name in undefined
    )


def _finding(spec: JobSpec, step: str, cause: ErrorSummary) -> Finding:
    return Finding(address=spec.address, step=step, message=cause.message, error_class=cause.error_class)
