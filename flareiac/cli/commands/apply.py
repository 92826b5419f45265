"""``apply``, ``destroy`` and ``maintain``: plan (or take a saved plan), ask, carry out."""

import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Annotated

import typer

from flareiac.app.apply import ApplyOptions, ApplyOutcome, apply_fresh, apply_saved
from flareiac.app.plan import PlanReport, PlanRequest
from flareiac.app.plan_files import read_plan
from flareiac.cli.apply_output import ApplyOutput, JsonOutput, TextOutput
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import lock_timeout
from flareiac.cli.options import OnError, Parallelism, VariableFiles, Variables
from flareiac.cli.plan_options import (
    Detail,
    Excluded,
    MaintenanceMode,
    MaxDestroys,
    Refreshed,
    Replaced,
    ShowSteps,
    Targets,
    plan_request,
)
from flareiac.cli.project import opened
from flareiac.cli.terminal import Terminal
from flareiac.kernel.diagnostics import Failure
from flareiac.model.events import Event
from flareiac.model.plan import Plan
from flareiac.planning.make_plan import Maintenance
from flareiac.render import resource_text
from flareiac.render.losses_text import losses_text
from flareiac.sdk.command_options import AutoApprove, Json

_CODES = {
    ApplyOutcome.NOTHING_TO_DO: ExitCode.DONE,
    ApplyOutcome.INVALID: ExitCode.ERROR,
    ApplyOutcome.BLOCKED: ExitCode.BLOCKED,
    ApplyOutcome.DECLINED: ExitCode.CANCELLED,
    ApplyOutcome.STALE: ExitCode.STALE,
    ApplyOutcome.DONE: ExitCode.DONE,
    ApplyOutcome.PARTLY: ExitCode.PARTLY,
    ApplyOutcome.FAILED: ExitCode.ERROR,
    ApplyOutcome.CANCELLED: ExitCode.CANCELLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mode:
    """How an apply goes about it and what it shows, as its options say."""

    auto_approve: bool
    on_error: OnError
    as_json: bool
    parallelism: int
    detail: resource_text.Detail
    show_steps: bool
    var: list[str] | None = None
    var_file: list[str] | None = None


def apply(
    invocation: Invocation,
    file: Annotated[
        str | None,
        typer.Argument(help="A saved plan. Without one, apply plans first and asks.", metavar="[PLAN]"),
    ] = None,
    auto_approve: AutoApprove = False,
    on_error: OnError = "continue",
    as_json: Json = False,
    target: Targets = None,
    exclude: Excluded = None,
    replace: Replaced = None,
    refresh: Refreshed = "changed",
    maintenance: MaintenanceMode = Maintenance.INCLUDE,
    max_destroys: MaxDestroys = None,
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
) -> int:
    """Carries out a saved plan, or plans and asks."""
    mode = _Mode(
        auto_approve=auto_approve,
        on_error=on_error,
        as_json=as_json,
        parallelism=parallelism,
        detail=detail,
        show_steps=show_steps,
        var=var,
        var_file=var_file,
    )
    if file is None:
        request = plan_request(
            target=target,
            exclude=exclude,
            replace=replace,
            refresh=refresh,
            maintenance=maintenance,
            max_destroys=max_destroys,
        )
        return _apply_fresh(invocation, request, mode)
    decided = {
        "-target": target,
        "-exclude": exclude,
        "-replace": replace,
        "-var": var,
        "-var-file": var_file,
        "-max-destroys": max_destroys,
        "-refresh": None if refresh == "changed" else refresh,
        "-maintenance": None if maintenance is Maintenance.INCLUDE else maintenance,
    }
    if wrong := [name for name, value in decided.items() if value is not None]:
        why = "cannot be used with a saved plan: everything was decided when it was made."
        raise typer.BadParameter(f"{', '.join(wrong)} {why}")
    return _apply_saved(invocation, file, mode)


def destroy(
    invocation: Invocation,
    auto_approve: AutoApprove = False,
    on_error: OnError = "continue",
    as_json: Json = False,
    target: Targets = None,
    exclude: Excluded = None,
    refresh: Refreshed = "changed",
    max_destroys: MaxDestroys = None,
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
) -> int:
    """Plans the removal of everything, asks, and carries it out."""
    request = plan_request(
        target=target, exclude=exclude, refresh=refresh, max_destroys=max_destroys, destroy=True
    )
    mode = _Mode(
        auto_approve=auto_approve,
        on_error=on_error,
        as_json=as_json,
        parallelism=parallelism,
        detail=detail,
        show_steps=show_steps,
        var=var,
        var_file=var_file,
    )
    return _apply_fresh(invocation, request, mode)


def maintain(
    invocation: Invocation,
    addresses: Annotated[
        list[str] | None, typer.Argument(help="Only these addresses or globs.", metavar="[ADDRESS]...")
    ] = None,
    auto_approve: AutoApprove = False,
    on_error: OnError = "continue",
    as_json: Json = False,
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
) -> int:
    """Plans the maintenance that is due, asks, and carries it out."""
    mode = _Mode(
        auto_approve=auto_approve,
        on_error=on_error,
        as_json=as_json,
        parallelism=parallelism,
        detail=detail,
        show_steps=show_steps,
        var=var,
        var_file=var_file,
    )
    return _apply_fresh(invocation, plan_request(target=addresses, maintenance=Maintenance.ONLY), mode)


def _apply_fresh(invocation: Invocation, request: PlanRequest, mode: _Mode) -> int:
    output = _output(invocation, mode)

    def approve(planned: PlanReport) -> bool:
        output.plan(planned)
        assert planned.plan is not None, "only a whole plan is put to a person"
        approved = mode.auto_approve or planned.plan.state_only or _ask(invocation.terminal, planned.plan)
        if approved:
            output.begin(planned.plan)
        return approved

    conduct = _conduct(invocation, mode, output, approve)
    with (
        opened(invocation, var=mode.var, var_file=mode.var_file, parallelism=mode.parallelism) as workspace,
        closing(output),
    ):
        report = apply_fresh(workspace, request, conduct)
    if report.end in (ApplyOutcome.INVALID, ApplyOutcome.BLOCKED, ApplyOutcome.NOTHING_TO_DO):
        output.plan(report.planned)
    output.conclusion(report)
    return _CODES[report.end]


def _apply_saved(invocation: Invocation, file: str, mode: _Mode) -> int:
    saved = read_plan(invocation.root, file)
    output = _output(invocation, mode)

    def approve(planned: PlanReport) -> bool:
        if mode.as_json:
            output.plan(planned)
        output.begin(saved)
        return True  # it was looked at when it was saved

    conduct = _conduct(invocation, mode, output, approve)
    with opened(invocation, parallelism=mode.parallelism) as workspace, closing(output):
        report = apply_saved(workspace, saved, conduct)
    if report.end in (ApplyOutcome.INVALID, ApplyOutcome.BLOCKED):
        output.plan(report.planned)
    output.conclusion(report)
    return _CODES[report.end]


def _ask(terminal: Terminal, plan: Plan) -> bool:
    """Asks for approval, after what is gone once it is given."""
    losses = losses_text(plan, width=terminal.width(), colour=terminal.colour(sys.stderr.isatty()))
    if losses:
        terminal.say(f"\n{losses}")
    return terminal.ask("\nDo you want to perform these actions?")


def _output(invocation: Invocation, mode: _Mode) -> ApplyOutput:
    if mode.as_json:
        return JsonOutput(invocation.terminal)
    if invocation.terminal.animated():
        # Imported here: drawing costs a part of the start, and a pipe or a CI job has no use for it.
        from flareiac.cli.live_output import LiveOutput

        return LiveOutput(invocation.terminal, detail=mode.detail, show_steps=mode.show_steps)
    return TextOutput(invocation.terminal, detail=mode.detail, show_steps=mode.show_steps)


def _conduct(
    invocation: Invocation, mode: _Mode, output: ApplyOutput, approve: Callable[[PlanReport], bool]
) -> ApplyOptions:
    def emit(event: Event) -> None:
        # A reader that stops reading (a pager, a full log disk) must not stop an apply half-way.
        with suppress(BrokenPipeError, Failure):
            output.event(event)

    return ApplyOptions(
        approve=approve,
        emit=emit,
        cancel=invocation.cancel,
        lock_timeout=lock_timeout(invocation),
        parallelism=mode.parallelism,
        stop_on_error=mode.on_error == "stop",
    )
