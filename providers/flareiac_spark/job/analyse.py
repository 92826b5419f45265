"""Has the application analyze the planned definitions on empty frames. Touches the application, no data."""

from collections.abc import Sequence

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.paths import Path
from flareiac.sdk.requests import ApplyRequest
from flareiac_spark import codes
from flareiac_spark.application import run_operation
from flareiac_spark.control import Finding, Operation, job_spec_to_json
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.code import publish
from flareiac_spark.engine.application import Applications

TIMEOUT = 300.0


def analyse(requests: Sequence[ApplyRequest], applications: Applications) -> tuple[Diagnostic, ...]:
    """One error for each finding. Jobs whose definition does not change are not asked about. Raises
    ``Failure``.
    """
    by_place: dict[str, list[ApplyRequest]] = {}
    for request in requests:
        if request.planned is not None and (request.payload or {}).get("analyse"):
            by_place.setdefault(request.planned["application"]["runtime_location"], []).append(request)
    found: list[Diagnostic] = []
    for group in by_place.values():
        found.extend(_analyse(group, applications))
    return tuple(found)


def _analyse(requests: Sequence[ApplyRequest], applications: Applications) -> list[Diagnostic]:
    first = requests[0].planned
    assert first is not None, "only changed definitions are analysed"
    engine = first["application"]
    specs = [
        spec_of(request.address, request.planned, request.references, applications.project, analysis=True)
        for request in requests
        if request.planned is not None
    ]
    control, cancel = applications.control(engine), requests[0].cancel
    applications.want(engine, requests[0].references, lambda current: current)
    for request in requests:
        publish(request.planned or {}, applications.project)
    if applications.bring_up(engine, cancel, requests[0].progress) is None:
        return []
    jobs = tuple(job_spec_to_json(spec) for spec in specs)
    operation = Operation(id=f"analyse-{digest([requests[0].key, list(jobs)])}", jobs=jobs)
    result = run_operation(control, operation, timeout=TIMEOUT, cancel=cancel)
    if result is None:
        return [] if cancel.is_set() else [_silent()]
    if result.status == "failed":
        raise Failure(error(codes.ANALYSIS_FAILED, str(result.error)))
    steps = {request.address: (request.planned or {}).get("steps") or {} for request in requests}
    return [_finding(item, steps.get(item.address, {})) for item in result.findings]


def _finding(finding: Finding, steps: Attributes) -> Diagnostic:
    where = f" in step {finding.step}" if finding.step and "." not in finding.step else ""
    legacy = finding.error_class.startswith("_LEGACY_ERROR_TEMP_")
    misfit = finding.step.startswith("outputs.")
    message = finding.message if legacy else f"{finding.error_class}: {finding.message}"
    return error(
        codes.OUTPUT_DOES_NOT_FIT if misfit else codes.SQL_NOT_UNDERSTOOD,
        f"{finding.address}{where}: {message}",
        address=finding.address,
        attribute=_attribute(finding.step, steps),
    )


def _attribute(step: str, steps: Attributes) -> Path:
    kind, dot, name = step.partition(".")
    if dot and kind in ("inputs", "outputs"):
        return (kind.removesuffix("s"), name)
    written = "python" if (steps.get(step) or {}).get("python") else "sql"
    return ("step", step, written) if step else ()


def _silent() -> Diagnostic:
    return error(
        codes.ANALYSIS_TOO_SLOW,
        f"The Spark application did not answer within {TIMEOUT:.0f} s. Nothing was changed.",
    )
