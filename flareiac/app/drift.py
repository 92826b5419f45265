"""The use case of ``drift``: what changed behind the team's back. Reads only; needs no lock and writes
nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from flareiac.app.plan import PlanRequest, plan
from flareiac.app.service_levels import outside_readers
from flareiac.app.workspace import Workspace
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.sources import Source
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport
from flareiac.model.plan import Plan
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.planning.drift import drift_findings, finding_of
from flareiac.planning.fan_out import Unanswered, answers, workers
from flareiac.planning.make_plan import Inputs
from flareiac.planning.observe import TIMEOUT
from flareiac.planning.propose import references_for
from flareiac.sdk.capabilities import Tracing
from flareiac.sdk.driver import Driver
from flareiac.sdk.requests import TraceRequest
from flareiac.sdk.results import NOT_TRACED, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The drift (None when the configuration has errors), and all complaints."""

    drift: DriftReport | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]


def drift(workspace: Workspace, request: PlanRequest) -> Found:
    """Compares what is recorded with what is there. Raises ``Failure`` when the state cannot be read."""
    report = plan(workspace, replace(request, confirm=True, policies=False))
    if report.plan is None or report.inputs is None:
        return Found(drift=None, diagnostics=report.diagnostics, sources=report.sources)
    compared_report = compared(report.plan, report.inputs, report.recorded)
    traced_findings = _traced(workspace, report.inputs, compared_report.findings)
    levels = outside_readers(workspace, report.inputs.snapshot, only_bounded=True)
    return Found(
        drift=replace(compared_report, findings=(*traced_findings, *unkept(report.inputs, levels))),
        diagnostics=report.diagnostics,
        sources=report.sources,
    )


def compared(made: Plan, inputs: Inputs, recorded: int) -> DriftReport:
    """Returns the differences from what was recorded. ``recorded``: how many resources the state holds.
    Pure.
    """
    checked = sum(1 for resource in made.resources if resource.recorded is not None)
    return DriftReport(findings=drift_findings(inputs, made), checked=checked, unchecked=recorded - checked)


def _traced(
    workspace: Workspace, inputs: Inputs, findings: Sequence[DriftFinding]
) -> tuple[DriftFinding, ...]:
    """Returns the findings with what their systems tell about when and by whom. A system that does not tell,
    or fails, hides no finding.
    """
    paths: dict[str, list[Path]] = {}
    for finding in findings:
        if finding.kind in (DriftClass.CHANGED, DriftClass.UNMANAGED):
            paths.setdefault(finding.address, []).append(finding.path)
    calls: dict[str, Callable[[], Mapping[Path, Trace]]] = {}
    for address, wanted in paths.items():
        record = inputs.snapshot.resources[address]
        driver = _driver(workspace, record.provider, record.type)
        if isinstance(driver, Tracing):
            request = TraceRequest(
                address=address,
                recorded=record.recorded(),
                references=references_for(inputs.desired, inputs.snapshot, address, inputs.observations),
                paths=tuple(wanted),
            )
            calls[address] = partial(driver.trace, request)
    with workers("trace", workspace.parallelism) as pool:
        traces = answers(pool, calls, TIMEOUT)

    def trace_of(finding: DriftFinding) -> Trace:
        known = traces.get(finding.address)
        if known is None or isinstance(known, Unanswered):
            return NOT_TRACED
        return known.get(finding.path, NOT_TRACED)

    return tuple(replace(finding, trace=trace_of(finding)) for finding in findings)


def unkept(inputs: Inputs, levels: Iterable[ReaderStatus]) -> Iterator[DriftFinding]:
    """Yields a finding for each reason why the service level of a reader outside is broken, or not known to
    be kept. Pure.
    """
    for level in levels:
        if level.verdict not in (None, Verdict.KEPT):
            for reason in level.reasons:
                text = f"{level.subject}: {reason}"
                yield finding_of(inputs, level.reader, DriftClass.UNHEALTHY, text)


def _driver(workspace: Workspace, provider: str, kind: str) -> Driver | None:
    try:
        return workspace.driver(provider, kind)
    except Failure:
        return None
