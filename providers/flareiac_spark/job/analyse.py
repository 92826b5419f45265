"""Has the application analyze the planned definitions on empty frames. Touches the application, no data."""

from collections.abc import Sequence
from typing import NamedTuple

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.paths import Path
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark import codes
from flareiac_spark.application import run_operation
from flareiac_spark.control import Finding, Operation, job_spec_to_json
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.code import publish
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.streaming_limits import instead_for_streams

TIMEOUT = 300.0


def analyse(requests: Sequence[ChangeRequest], applications: Applications) -> tuple[Diagnostic, ...]:
    """One error for each finding. Jobs whose definition does not change are not asked about. Raises
    ``Failure``.
    """
    by_place: dict[str, list[_Question]] = {}
    for request in requests:
        if JobPayload.of(request.action.payload).analyse:
            question = _Question(request, request.action.planned, JobDefinition.of(request.action.planned))
            by_place.setdefault(question.definition.runs_in.runtime_location, []).append(question)
    return tuple(item for group in by_place.values() for item in _analyse(group, applications))


class _Question(NamedTuple):
    """A new or changed definition."""

    request: ChangeRequest
    planned: Attributes
    definition: JobDefinition


def _analyse(questions: Sequence[_Question], applications: Applications) -> list[Diagnostic]:
    requests, engine = [item.request for item in questions], questions[0].definition.runs_in
    specs = [
        spec_of(request.address, planned, request.references, applications.project, analysis=True)
        for request, planned, _definition in questions
    ]
    control, cancel = applications.control(engine), requests[0].cancel
    applications.want(engine, requests[0].references, lambda current: current)
    for item in questions:
        publish(item.planned, applications.project)
    if applications.bring_up(engine, cancel, requests[0].progress) is None:
        return []
    jobs = tuple(job_spec_to_json(spec) for spec in specs)
    operation = Operation(id=f"analyse-{digest([requests[0].key, list(jobs)])}", jobs=jobs)
    result = run_operation(control, operation, timeout=TIMEOUT, cancel=cancel)
    if result is None:
        return [] if cancel.is_set() else [_silent()]
    if result.status == "failed":
        raise Failure(error(codes.ANALYSIS_FAILED, str(result.error)))
    definitions = {item.request.address: item.definition for item in questions}
    return [_finding(item, definitions[item.address]) for item in result.findings]


def _finding(finding: Finding, definition: JobDefinition) -> Diagnostic:
    where = f" in step {finding.step}" if finding.step and "." not in finding.step else ""
    legacy = finding.error_class.startswith("_LEGACY_ERROR_TEMP_")
    message = finding.message if legacy else f"{finding.error_class}: {finding.message}"
    instead = instead_for_streams(f"{finding.error_class}: {finding.message}")
    if instead is not None:
        code, message = codes.NOT_FOR_STREAMS, f"{message.rstrip('.')}. {instead} Nothing was changed."
    elif finding.step.startswith("outputs."):
        code = codes.OUTPUT_DOES_NOT_FIT
    else:
        code = codes.SQL_NOT_UNDERSTOOD
    return error(
        code,
        f"{finding.address}{where}: {message}",
        address=finding.address,
        attribute=_attribute(finding.step, definition),
    )


def _attribute(step: str, definition: JobDefinition) -> Path:
    kind, dot, name = step.partition(".")
    if kind == "outputs" and name in definition.outputs:
        name = definition.outputs[name].tombstones_of or name
    if dot and kind in ("inputs", "outputs"):
        return (kind.removesuffix("s"), name)
    written = "python" if step in definition.python_steps else "sql"
    return ("step", step, written) if step else ()


def _silent() -> Diagnostic:
    return error(
        codes.ANALYSIS_TOO_SLOW,
        f"The Spark application did not answer within {TIMEOUT:.0f} s. Nothing was changed.",
    )
