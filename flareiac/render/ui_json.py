"""One JSON object for each thing worth telling while a command runs, in the shape of Terraform's
machine-readable UI, version 1.2.

A reader that does not know a ``type`` shows ``@message``. Times come from the clock that is handed in.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from flareiac.kernel.addresses import module_text
from flareiac.kernel.data import Json
from flareiac.kernel.diagnostics import Diagnostic, Severity
from flareiac.kernel.records import encode
from flareiac.kernel.sources import Source
from flareiac.model.desired import OutputValue
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport, IgnoredFinding
from flareiac.model.events import Completed, Event, Failed, Note, Progressed, Skipped, Started
from flareiac.model.plan import Operation, OutputChange, Plan, PlannedResource, PlannedTask, Verb
from flareiac.model.policy import Answer, Finding
from flareiac.render.apply_text import event_line
from flareiac.render.counts import Counts, EndedChanges, applied, counts, plan_line
from flareiac.render.diagnostics import diagnostic_json
from flareiac.render.drift import classes_text, finding_json
from flareiac.render.json_values import TERRAFORM_VERSION, parsed
from flareiac.render.output_text import outputs_json
from flareiac.render.plan_json import task_json
from flareiac.render.policy_text import finding_line, refused_by
from flareiac.sdk.changes import Action

Clock = Callable[[], float]
Line = dict[str, Json]

UI_VERSION = "1.2"
_MODULE = "flareiac.ui"

_ACTIONS = {
    Action.NO_OP: "noop",
    Action.CREATE: "create",
    Action.ADOPT: "import",
    Action.UPDATE: "update",
    Action.REPLACE: "replace",
    Action.DELETE: "delete",
    Action.FORGET: "remove",
    Action.RECORD: "noop",
}
_VERBS = {
    Verb.CREATE: "create",
    Verb.ADOPT: "import",
    Verb.UPDATE: "update",
    Verb.DELETE: "delete",
    Verb.FORGET: "remove",
    Verb.RECORD: "noop",
    Verb.QUIESCE: "update",
    Verb.STAGE: "update",
    Verb.MAINTAIN: "update",
}
_DRIFT_ACTIONS = {DriftClass.MISSING: "delete", DriftClass.UNMANAGED: "noop"}
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warn"}


def plan_lines(
    plan: Plan | None,
    diagnostics: Iterable[Diagnostic],
    sources: Mapping[str, Source],
    *,
    tool_version: str,
    clock: Clock = time.time,
) -> list[Line]:
    """Everything that ``plan`` tells: version, drift, planned changes, summary (none of a plan with errors),
    outputs, complaints.
    """
    lines = [version_line(tool_version, clock)]
    if plan is not None:
        lines.extend(_drifted(resource, clock) for resource in plan.resources if resource.proposal.drift)
        lines.extend(_planned(resource, clock) for resource in plan.resources if _is_told(resource))
        lines.extend(_due(due, clock) for due in plan.due)
        if not plan.errored:
            lines.append(_plan_summary(plan, clock))
        if plan.output_changes:
            lines.append(_output_lines(plan.output_changes, clock))
        if plan.policy is not None:
            lines.extend(_policy(finding, clock) for finding in plan.policy.findings)
    lines.extend(diagnostic_record(diagnostic, sources, clock=clock) for diagnostic in diagnostics)
    return lines


def _plan_summary(plan: Plan, clock: Clock) -> Line:
    totals = counts(plan)
    cost: Line = {} if plan.costs is None else {"cost": encode(plan.costs)}
    return {**_summary(_plan_message(plan, totals), totals, "plan", clock), **cost}


def _policy(finding: Finding, clock: Clock) -> Line:
    level = "error" if finding.refuses else "info" if finding.answer is Answer.EXCEPTED else "warn"
    return _line(level, finding_line(finding), clock, {"type": "policy", "policy": encode(finding)})


def _plan_message(plan: Plan, totals: Counts) -> str:
    if refused := refused_by(plan.policy):
        return f"{refused} Nothing can be applied. {plan_line(totals)}"
    if plan.unknown and not (plan.changes or plan.output_changes or totals.blocked):
        planned = "Only maintenance is" if totals.due else "No changes are"
        return f"{planned} planned, but not everything is known."
    something = plan.changes or plan.output_changes or totals.blocked or totals.due or totals.moved
    return plan_line(totals) if something else "No changes."


def version_line(tool_version: str, clock: Clock = time.time) -> Line:
    """The first line: ``terraform`` is the version whose format this is."""
    versions: Line = {"terraform": TERRAFORM_VERSION, "flareiac": tool_version, "ui": UI_VERSION}
    return _line("info", f"FlareIaC {tool_version}", clock, {"type": "version", **versions})


def event_record(
    event: Event, *, changes: EndedChanges | None = None, clock: Clock = time.time
) -> Line | None:
    """The line for one event of an apply. ``changes``: how far the apply is."""
    message = event_line(event, False, every=True) or ""
    match event:
        case Started(operation=operation):
            return _hook("start", message, operation, clock)
        case Progressed(operation=operation):
            text = message or f"{operation.address}: {event.message or 'Still working...'}"
            return _hook("progress", text, operation, clock, _timed(event.elapsed, changes))
        case Completed(operation=operation, elapsed=elapsed):
            return _hook("complete", message, operation, clock, _timed(elapsed, changes))
        case Failed(operation=operation, elapsed=elapsed):
            return _hook("errored", message, operation, clock, _timed(elapsed, changes), level="error")
        case Skipped(operation=operation, reason=reason):
            skipped = {"reason": reason, **_timed(None, changes)}
            return _hook("skipped", message, operation, clock, skipped, level="warn")
        case Note():
            return _line("info", message, clock, {"type": "log"})


def _timed(elapsed: float | None, changes: EndedChanges | None) -> Line:
    """Seconds since an operation began, and how many changes of the apply have ended. No operation knows how
    much of its own work is done, so a line has no share of that.
    """
    line: Line = {}
    if elapsed is not None:
        line = {"elapsed_seconds": int(elapsed), "seconds": round(elapsed, 3)}
    if changes is not None and changes.total:
        ended, total = changes.ended, changes.total
        line["apply"] = {"ended": ended, "total": total, "percent": 100 * ended // total}
    return line


def summary_record(plan: Plan, done: Collection[str], *, clock: Clock = time.time) -> Line:
    """The last line of an apply: what it did. ``done`` are the ids of the operations that succeeded."""
    totals = applied(plan, done)
    word = "Destroy" if plan.destroy else "Apply"
    message = (
        f"{word} complete! Resources: {totals.add} added, {totals.change} changed, "
        f"{totals.destroy} destroyed."
    )
    if len(done) < len(plan.operations):
        message = f"Apply incomplete: {len(done)} of {len(plan.operations)} operations done."
    return _summary(message, totals, "destroy" if plan.destroy else "apply", clock)


def drift_lines(
    report: DriftReport | None,
    diagnostics: Iterable[Diagnostic] = (),
    sources: Mapping[str, Source] | None = None,
    *,
    tool_version: str,
    clock: Clock = time.time,
) -> list[Line]:
    """Everything that ``drift`` tells: version, a line for each finding, a summary unless something could not
    be checked, complaints.
    """
    lines, complaints = [version_line(tool_version, clock)], list(diagnostics)
    if report is not None:
        lines.extend(_drift_finding(finding, clock) for finding in report.findings)
        lines.extend(_ignored_finding(ignored, clock) for ignored in report.ignored)
        if not any(complaint.severity is Severity.ERROR for complaint in complaints):
            lines.append(_drift_summary(report, clock))
    lines.extend(diagnostic_record(complaint, sources or {}, clock=clock) for complaint in complaints)
    return lines


def failure_lines(
    diagnostics: Iterable[Diagnostic], *, tool_version: str, begun: bool, clock: Clock = time.time
) -> list[Line]:
    """Returns the last lines of a command that fails; ``begun``: it has printed its first line already."""
    first = [] if begun else [version_line(tool_version, clock)]
    return [*first, *(diagnostic_record(diagnostic, {}, clock=clock) for diagnostic in diagnostics)]


def outputs_record(outputs: Mapping[str, OutputValue], *, clock: Clock = time.time) -> Line:
    """The outputs after an apply, with their values; never the value of a sensitive one."""
    return _line(
        "info", f"Outputs: {len(outputs)}", clock, {"type": "outputs", "outputs": outputs_json(outputs)}
    )


def diagnostic_record(
    diagnostic: Diagnostic, sources: Mapping[str, Source], *, clock: Clock = time.time
) -> Line:
    """One complaint."""
    label = "Error" if diagnostic.severity is Severity.ERROR else "Warning"
    return _line(
        _LEVELS[diagnostic.severity],
        f"{label}: {diagnostic.summary}",
        clock,
        {"type": "diagnostic", "diagnostic": diagnostic_json(diagnostic, sources)},
    )


def _is_told(resource: PlannedResource) -> bool:
    is_quiet = resource.action in (Action.NO_OP, Action.RECORD) and not resource.previous_address
    return not is_quiet or bool(resource.proposal.blockers)


def _planned(resource: PlannedResource, clock: Clock) -> Line:
    action = _ACTIONS[resource.action]
    if resource.previous_address and action == "noop":
        action = "move"
    change: Line = {"resource": resource_record(resource.address, resource.provider), "action": action}
    if resource.previous_address:
        change["previous_resource"] = resource_record(resource.previous_address, resource.provider)
    if resource.action is Action.REPLACE:
        change["reason"] = (
            "replace_triggered_by"
            if resource.triggered_by
            else "requested"
            if resource.replace
            else "cannot_update"
        )
    if resource.action in (Action.DELETE, Action.FORGET) and resource.desired is None:
        change["reason"] = "delete_because_no_resource_config"
    if resource.action is Action.ADOPT:
        change["importing"] = {"id": resource.import_id or resource.address}
    blocked = bool(resource.proposal.blockers)
    change["flareiac"] = {
        "restart": resource.restarts,
        "blocked": blocked,
        "reasons": list(resource.proposal.reasons),
    }
    what = "Blocked, cannot be applied as written" if blocked else f"Plan to {action}"
    if action == "move" and not blocked:
        what = f"Plan to move from {resource.previous_address} to {resource.address}"
    return _line("info", f"{resource.address}: {what}", clock, {"type": "planned_change", "change": change})


def _due(planned_task: PlannedTask, clock: Clock) -> Line:
    due = {"resource": resource_record(planned_task.address, ""), **task_json(planned_task)}
    return _line(
        "info", f"{planned_task.address}: {planned_task.task.name} is due", clock, {"type": "due", "due": due}
    )


def _drifted(resource: PlannedResource, clock: Clock) -> Line:
    gone = resource.observed is None
    change: Line = {
        "resource": resource_record(resource.address, resource.provider),
        "action": "delete" if gone else "update",
        "flareiac": {"drift": list(resource.proposal.drift)},
    }
    return _line(
        "info",
        f"{resource.address}: Drift detected ({change['action']})",
        clock,
        {"type": "resource_drift", "change": change},
    )


def _drift_finding(finding: DriftFinding, clock: Clock) -> Line:
    change: Line = {
        "resource": resource_record(finding.address, ""),
        "action": _DRIFT_ACTIONS.get(finding.kind, "update"),
        "flareiac": finding_json(finding),
    }
    return _line(
        "info",
        f"{finding.address}: Drift detected ({finding.kind.value}): {finding.text}",
        clock,
        {"type": "resource_drift", "change": change},
    )


def _ignored_finding(ignored: IgnoredFinding, clock: Clock) -> Line:
    finding, rule = ignored.finding, ignored.rule
    change: Line = {
        "resource": resource_record(finding.address, ""),
        "action": "noop",
        "flareiac": {
            **finding_json(finding),
            "ignored": {"reason": rule.reason, "expires": rule.until or None},
        },
    }
    message = f"{finding.address}: Drift ignored: {rule.reason}"
    return _line("info", message, clock, {"type": "drift_ignored", "change": change})


def _drift_summary(report: DriftReport, clock: Clock) -> Line:
    numbers = {kind.value: report.resources(kind) for kind in DriftClass}
    classes = classes_text(report)
    title = "Drift" if report.drifted else "No drift"
    message = f"{title}{': ' if classes else ''}{classes}; {report.checked} checked."
    summary = {
        "drifted": report.drifted,
        "checked": report.checked,
        "unchecked": report.unchecked,
        "findings": len(report.findings),
        "ignored": len(report.ignored),
        **numbers,
    }
    return _line("info", message, clock, {"type": "drift_summary", "drift": summary})


def _output_lines(changes: Mapping[str, OutputChange], clock: Clock) -> Line:
    outputs: Line = {}
    for name, change in changes.items():
        action = "create" if change.before is None else "delete" if change.after is None else "update"
        outputs[name] = {
            "sensitive": any(
                output is not None and output.sensitive for output in (change.before, change.after)
            ),
            "action": action,
        }
    return _line("info", f"Outputs: {len(outputs)}", clock, {"type": "outputs", "outputs": outputs})


def _summary(message: str, totals: Counts, operation: str, clock: Clock) -> Line:
    changes: Line = {
        "add": totals.add,
        "change": totals.change,
        "import": totals.imported,
        "remove": totals.destroy,
        "forget": totals.forget,
        "restart": totals.restart,
        "lose": totals.lose,
        "due": totals.due,
        "operation": operation,
    }
    return _line("info", message, clock, {"type": "change_summary", "changes": changes})


def _hook(
    kind: str,
    message: str,
    operation: Operation,
    clock: Clock,
    additions: Mapping[str, Json] = MappingProxyType({}),
    *,
    level: str = "info",
) -> Line:
    """``additions``: the parts of the line beside the operation. ``elapsed_seconds`` and ``reason`` are
    Terraform's keys, the others are ours.
    """
    hook: Line = {"resource": resource_record(operation.address, ""), "action": _VERBS[operation.verb]}
    hook.update({key: additions[key] for key in ("elapsed_seconds", "reason") if key in additions})
    hook["flareiac"] = {
        "operation": operation.id,
        "verb": operation.verb.value,
        **({"duty": operation.task} if operation.task else {}),
        **({"stage": operation.stage, "text": operation.text} if operation.stage else {}),
        **{key: additions[key] for key in ("seconds", "apply") if key in additions},
    }
    return _line(level, message, clock, {"type": _type(kind, operation), "hook": hook})


def _type(kind: str, operation: Operation) -> str:
    # As a provisioner's in Terraform: a resource has one line of its own that says it is complete
    return f"{'stage' if operation.verb is Verb.STAGE else 'apply'}_{kind}"


def resource_record(address: str, provider: str) -> Line:
    """The ``resource`` object of a line."""
    parts = parsed(address)
    module = module_text(parts.module)
    return {
        "addr": address,
        "module": module,
        "resource": address.removeprefix(f"{module}.") if module else address,
        "implied_provider": provider or "flareiac",
        "resource_type": parts.type,
        "resource_name": parts.name,
        "resource_key": parts.key,
    }


def _line(level: str, message: str, clock: Clock, extra: Line) -> Line:
    now = datetime.fromtimestamp(clock(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"@level": level, "@message": message, "@module": _MODULE, "@timestamp": now, **extra}
