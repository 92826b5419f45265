"""The use case of ``drift``: what changed behind the team's back. Reads only; needs no lock and writes
nothing.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from flareiac.app.plan import PlanReport, PlanRequest, plan, plan_instead
from flareiac.app.service_levels import outside_readers
from flareiac.app.workspace import Workspace, state_errors
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.sources import Source
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport
from flareiac.model.plan import Plan
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.planning.drift import drift_findings, finding_of, recorded_configuration
from flareiac.planning.drift_ignores import ignore_warnings, with_ignores
from flareiac.planning.fan_out import Unanswered, answers, workers
from flareiac.planning.make_plan import Inputs, Maintenance, Options
from flareiac.planning.observe import TIMEOUT
from flareiac.planning.propose import references_for
from flareiac.sdk.capabilities import Tracing
from flareiac.sdk.driver import Driver
from flareiac.sdk.requests import TraceRequest
from flareiac.sdk.results import NOT_TRACED, Trace
from flareiac.sdk.state import LockInfo

RESTORABLE: Final = (DriftClass.CHANGED, DriftClass.MISSING)
"""The classes of findings that an apply brings back."""
_PAUSE_S: Final = 0.5
_ATTEMPTS: Final = 3
"""A state that changes so often while drift reads is being worked at, though no one holds its lock by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The drift (None where it is not known), and all complaints. ``is_at_work``: another command is, so that
    nothing could be compared.
    """

    drift: DriftReport | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]
    is_at_work: bool = False
    remediation: PlanReport | None = None
    """The plan that brings back what drifted, where it was asked for."""
    pending: tuple[str, ...] = ()
    """The addresses that a plan of the files would change, and the remediation does not."""


def drift(
    workspace: Workspace, request: PlanRequest, *, timeout: float = 0.0, remediate: bool = False
) -> Found:
    """Compares what is recorded with what is there, and plans to bring it back with ``remediate``. Raises
    ``Failure`` when the state cannot be read.

    What another command is doing meanwhile is not drift, so nothing is reported that was read while one held
    the lock, or while the state changed. ``timeout``: seconds to wait for it.
    """
    deadline = time.monotonic() + timeout
    attempts = 0
    while True:
        with state_errors(workspace):
            holder, before = workspace.store.lock_info(), _moment(workspace)
        if holder is None:
            attempts += 1
            outcome = _compared_now(workspace, request, remediate=remediate)
            with state_errors(workspace):
                holder = workspace.store.lock_info()
                if holder is None and _moment(workspace) == before:
                    return outcome
        if time.monotonic() >= deadline and (holder is not None or attempts >= _ATTEMPTS):
            diagnostics = Diagnostics()
            diagnostics.error(codes.NOT_COMPARED, _at_work(holder))
            return Found(drift=None, diagnostics=diagnostics, sources={}, is_at_work=True)
        time.sleep(_PAUSE_S)


def _moment(workspace: Workspace) -> tuple[str | None, int]:
    """Returns what tells two moments of the state apart."""
    moment = workspace.store.read()
    revision = None if moment.snapshot is None else moment.snapshot.revision
    return revision, len(moment.journal.records)


def _at_work(holder: LockInfo | None) -> str:
    who = (
        "Other commands change the state again and again"
        if holder is None
        else f"{holder.owner} on {holder.host} runs {holder.operation} with process {holder.pid} "
        f"(lock {holder.id})"
    )
    return f"{who}, and what that has done by half is no drift. Wait for its end with -lock-timeout=10m."


def _compared_now(workspace: Workspace, request: PlanRequest, *, remediate: bool) -> Found:
    report = plan(workspace, replace(request, confirm=True, policies=False))
    if report.plan is None or report.inputs is None or report.configuration is None:
        return Found(drift=None, diagnostics=report.diagnostics, sources=report.sources)
    inputs, rules = report.inputs, report.configuration.settings.drift_ignores
    everything = compared(report.plan, inputs, report.recorded)
    levels = outside_readers(workspace, inputs.snapshot, only_bounded=True)
    everything = replace(everything, findings=(*everything.findings, *unkept(inputs, levels)))
    kept = with_ignores(everything, rules, inputs.time)
    known = (*inputs.snapshot.resources, *inputs.desired.resources)
    report.diagnostics.extend(ignore_warnings(rules, kept.findings, known, inputs.time))
    compared_now = Found(
        drift=replace(kept, findings=_traced(workspace, inputs, kept.findings)),
        diagnostics=report.diagnostics,
        sources=report.sources,
    )
    return _with_remediation(workspace, request, report, compared_now) if remediate else compared_now


def _with_remediation(
    workspace: Workspace, request: PlanRequest, report: PlanReport, compared_now: Found
) -> Found:
    """Adds the plan of what is recorded, for the resources of which something drifted that no rule names. Its
    outputs stay as recorded, and so does the record of what was applied last.
    """
    assert compared_now.drift is not None, "it was compared"
    assert report.plan is not None, "it was compared"
    assert report.inputs is not None, "it was compared"
    inputs, drifted = report.inputs, compared_now.drift
    targets = {finding.address for finding in drifted.findings if finding.kind in RESTORABLE}
    touched: set[str] = set()
    made: PlanReport | None = None
    if targets and not report.diagnostics.has_errors:
        options = Options(targets=tuple(sorted(targets)), maintenance=Maintenance.EXCLUDE, remediates=True)
        desired = replace(
            recorded_configuration(inputs.snapshot, inputs.types),
            outputs=inputs.snapshot.outputs,
            moves=inputs.desired.moves,
            variables=inputs.desired.variables,
            values=inputs.desired.values,
        )
        made = plan_instead(workspace, replace(request, options=options, policies=True), report, desired)
        touched = {resource.address for resource in made.plan.changes} if made.plan is not None else set()
    pending = {resource.address for resource in report.plan.changes} - touched
    return replace(compared_now, remediation=made, pending=tuple(sorted(pending)))


def compared(made: Plan, inputs: Inputs, recorded: int) -> DriftReport:
    """Returns the differences from what was recorded. ``recorded``: how many resources the state holds.
    Pure.
    """
    addresses = tuple(
        sorted(resource.address for resource in made.resources if resource.recorded is not None)
    )
    unchecked = recorded - len(addresses)
    return DriftReport(findings=drift_findings(inputs, made), addresses=addresses, unchecked=unchecked)


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
