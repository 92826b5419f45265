"""``apply``, ``destroy`` and ``maintain``: plan (or take a saved plan), ask, carry out."""

import os
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import fields
from typing import Annotated, Literal

import typer

from flareiac.app.apply import (
    ApplyOptions,
    ApplyOutcome,
    ApplyReport,
    allow_saved,
    apply_fresh,
    apply_saved,
)
from flareiac.app.plan import PlanReport, PlanRequest
from flareiac.app.plan_files import read_plan
from flareiac.app.state_place.selection import DEFAULT
from flareiac.cli.apply_output import ApplyOutput, JsonOutput, TextOutput
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import lock_timeout
from flareiac.cli.options import WorkOptions
from flareiac.cli.plan_options import DisplayOptions, PlanOptions, RemovalOptions
from flareiac.cli.project import opened
from flareiac.cli.terminal import Terminal
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.events import Event
from flareiac.model.plan import Plan
from flareiac.planning.make_plan import Maintenance
from flareiac.render.losses_text import losses_text
from flareiac.sdk.command_options import AutoApprove, Json

_CODES = {
    ApplyOutcome.NOTHING_TO_DO: ExitCode.DONE,
    ApplyOutcome.INVALID: ExitCode.ERROR,
    ApplyOutcome.BLOCKED: ExitCode.BLOCKED,
    ApplyOutcome.DECLINED: ExitCode.CANCELLED,
    ApplyOutcome.STALE: ExitCode.STALE,
    ApplyOutcome.REFUTED: ExitCode.STALE,
    ApplyOutcome.REFUTED_AND_BLOCKED: ExitCode.BLOCKED,
    ApplyOutcome.DONE: ExitCode.DONE,
    ApplyOutcome.PARTLY: ExitCode.PARTLY,
    ApplyOutcome.FAILED: ExitCode.ERROR,
    ApplyOutcome.CANCELLED: ExitCode.CANCELLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyMode:
    """The manner in which an apply works."""

    auto_approve: AutoApprove = False
    on_error: Annotated[
        Literal["continue", "stop"],
        typer.Option("--on-error", help="What a failure means for independent operations."),
    ] = "continue"
    as_json: Json = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One apply from the command line."""

    invocation: Invocation
    mode: ApplyMode
    work: WorkOptions
    display: DisplayOptions


def apply(
    invocation: Invocation,
    *,
    file: Annotated[
        str | None,
        typer.Argument(help="A saved plan. Without one, apply plans first and asks.", metavar="[PLAN]"),
    ] = None,
    mode: ApplyMode,
    choice: PlanOptions,
    work: WorkOptions,
    display: DisplayOptions,
) -> int:
    """Carries out a saved plan, or plans and asks."""
    run = _Run(invocation=invocation, mode=mode, work=work, display=display)
    if file is None:
        return _apply_fresh(run, choice.request())
    if typed := [*_typed(choice), *(name for name in _typed(work) if name != "-parallelism")]:
        why = "cannot be used with a saved plan: everything was decided when it was made."
        raise typer.BadParameter(f"{', '.join(typed)} {why}")
    return _apply_saved(run, file)


def destroy(
    invocation: Invocation,
    *,
    mode: ApplyMode,
    choice: RemovalOptions,
    work: WorkOptions,
    display: DisplayOptions,
) -> int:
    """Plans the removal of everything, asks, and carries it out."""
    return _apply_fresh(_Run(invocation=invocation, mode=mode, work=work, display=display), choice.request())


def maintain(
    invocation: Invocation,
    *,
    addresses: Annotated[
        list[str] | None, typer.Argument(help="Only these addresses or globs.", metavar="[ADDRESS]...")
    ] = None,
    mode: ApplyMode,
    work: WorkOptions,
    display: DisplayOptions,
) -> int:
    """Plans the maintenance that is due, asks, and carries it out."""
    choice = PlanOptions(target=addresses, maintenance=Maintenance.ONLY)
    return _apply_fresh(_Run(invocation=invocation, mode=mode, work=work, display=display), choice.request())


def _typed(options: PlanOptions | WorkOptions) -> list[str]:
    """The options that differ from their defaults, as they are written."""
    return [
        f"-{field.name.replace('_', '-')}"
        for field in fields(options)
        if getattr(options, field.name) != field.default
    ]


def _apply_fresh(run: _Run, request: PlanRequest) -> int:
    output = _output(run)

    def approve(planned: PlanReport) -> bool:
        output.plan(planned)
        assert planned.plan is not None, "only a whole plan is put to a person"
        asked = run.mode.auto_approve or planned.plan.state_only
        approved = asked or _ask(run.invocation.terminal, planned.plan)
        if approved:
            output.begin(planned.plan)
        return approved

    options = _options(run, output, approve)
    with opened(run.invocation, run.work, run.work.parallelism) as workspace, closing(output):
        report = apply_fresh(workspace, request, options)
    if report.end in (ApplyOutcome.INVALID, ApplyOutcome.BLOCKED, ApplyOutcome.NOTHING_TO_DO):
        output.plan(report.planned)
    _conclude(run, output, report)
    made = report.planned.plan
    if report.end is ApplyOutcome.NOTHING_TO_DO and made is not None and made.unknown:
        return ExitCode.ERROR  # that nothing is to be done is not known
    return _CODES[report.end]


def _apply_saved(run: _Run, file: str) -> int:
    saved = read_plan(run.invocation.root, file)
    output = _output(run)

    def approve(planned: PlanReport) -> bool:
        if run.mode.as_json:
            output.plan(planned)
        output.begin(saved)
        return True  # it was looked at when it was saved

    options = _options(run, output, approve)
    with opened(run.invocation, parallelism=run.work.parallelism) as workspace, closing(output):
        allow_saved(workspace, saved, os.environ)
        report = apply_saved(workspace, saved, file, options)
    if report.end in (ApplyOutcome.INVALID, ApplyOutcome.BLOCKED):
        output.plan(report.planned)
    _conclude(run, output, report)
    return _CODES[report.end]


def _conclude(run: _Run, output: ApplyOutput, report: ApplyReport) -> None:
    output.conclusion(report)
    if report.report.emergency_file is not None:
        run.invocation.terminal.say(report.report.emergency_file)  # the last line, for scripts


def _ask(terminal: Terminal, plan: Plan) -> bool:
    """Asks for approval, after what is gone once it is given."""
    losses = losses_text(plan, width=terminal.width(), colour=terminal.colour(sys.stderr.isatty()))
    if losses:
        terminal.say(f"\n{losses}")
    where = "" if plan.workspace == DEFAULT else f" in the workspace {plan.workspace}"
    return terminal.ask(f"\nDo you want to perform these actions{where}?")


def _output(run: _Run) -> ApplyOutput:
    terminal = run.invocation.terminal
    if run.mode.as_json:
        return JsonOutput(terminal)
    if terminal.animated():
        # Imported here: drawing costs a part of the start, and a pipe or a CI job has no use for it.
        from flareiac.cli.live_output import LiveOutput

        return LiveOutput(terminal, run.display)
    return TextOutput(terminal, run.display)


def _options(run: _Run, output: ApplyOutput, approve: Callable[[PlanReport], bool]) -> ApplyOptions:
    def emit(event: Event) -> None:
        # A reader that stops reading (a pager, a full log disk) must not stop an apply half-way.
        with suppress(BrokenPipeError, Failure):
            output.event(event)

    return ApplyOptions(
        approve=approve,
        emit=emit,
        cancel=run.invocation.cancel,
        lock_timeout=lock_timeout(run.invocation),
        parallelism=run.work.parallelism,
        stop_on_error=run.mode.on_error == "stop",
    )
