"""``plan``: what an apply would do. Shows it, and saves it where asked."""

import shlex
from dataclasses import replace
from typing import Annotated

import typer

import flareiac
from flareiac.app.plan import PlanReport
from flareiac.app.plan import plan as make_plan
from flareiac.app.plan_files import plan_content, write_plan_files
from flareiac.app.prices import read_prices, with_costs
from flareiac.app.prove import prove_plan
from flareiac.app.workspace import Workspace
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import WorkOptions
from flareiac.cli.plan_options import Cost, DisplayOptions, PlanOptions
from flareiac.cli.plan_output import print_report, print_report_json
from flareiac.cli.project import opened
from flareiac.cli.proving import asking_here
from flareiac.kernel.data import write_json
from flareiac.model.plan import Plan
from flareiac.render.plan_json import plan_json
from flareiac.sdk.command_options import Json


def plan(
    invocation: Invocation,
    *,
    out: Annotated[str | None, typer.Option("--out", help="Save the plan to this file.")] = None,
    destroy: Annotated[bool, typer.Option("--destroy", help="Plan to remove everything.")] = False,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit with 2 when there are changes.")
    ] = False,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Check on this machine what apply would check first, and prove which texts mean the same.",
        ),
    ] = False,
    as_json: Json = False,
    json_into: Annotated[
        str | None, typer.Option("--json-into", help="Write the plan as JSON to this file.")
    ] = None,
    choice: PlanOptions,
    work: WorkOptions,
    display: DisplayOptions,
    cost: Cost = None,
    timings: Annotated[bool, typer.Option("--timings", help="Print the time of each phase.")] = False,
) -> int:
    """Plans without the lock."""
    terminal = invocation.terminal
    prices = read_prices(invocation.root, cost) if cost else None
    with opened(invocation, work, work.parallelism) as workspace:
        request = choice.request(destroy=destroy)
        report = make_plan(workspace, request)
        if prove:
            report = prove_plan(workspace, request, report, asking_here(invocation))
    if report.plan is not None:
        report = replace(report, plan=with_costs(report.plan, prices, cost))
    if as_json:
        print_report_json(terminal, report)
    else:
        print_report(terminal, report, display)
    whole = report.plan is not None and not report.plan.errored and not report.refused
    if report.plan is not None and whole:
        _save(workspace, report.plan, out, json_into)
    if timings:
        phases = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in workspace.timings.items())
        terminal.say(f"Timings: {phases}")
    if out and not as_json and whole and report.plan is not None:
        terminal.out(f"\n{_saved(invocation, report.plan, out)}")
    return _exit_code(report, detailed=detailed_exitcode)


def _saved(invocation: Invocation, made: Plan, out: str) -> str:
    if made.blocked or made.is_refused:
        why = "is blocked" if made.blocked else "does not meet the rules of the team"
        return f"Saved the plan to {out} for review. It {why}, so that no apply carries it out."
    folder = f"-chdir={shlex.quote(invocation.directory)} " if invocation.directory else ""
    return f"Saved the plan to {out}. To do exactly this, run:\n  flareiac {folder}apply {shlex.quote(out)}"


def _exit_code(report: PlanReport, *, detailed: bool) -> ExitCode:
    if report.refused:
        return ExitCode.BLOCKED
    if report.plan is None or report.diagnostics.has_errors:
        return ExitCode.ERROR
    if report.plan.blocked or report.plan.is_refused:
        return ExitCode.BLOCKED
    changed = bool(
        report.plan.changes or report.plan.output_changes or report.plan.protection or report.plan.moves
    )
    if report.plan.unknown and not changed:
        return ExitCode.ERROR  # that nothing changes is not known
    return ExitCode.CHANGES if detailed and changed else ExitCode.DONE


def _save(workspace: Workspace, made: Plan, out: str | None, json_into: str | None) -> None:
    """Writes the files that were asked for, once the content of all is known."""
    files: dict[str, bytes] = {}
    if out:
        files[out] = plan_content(made, workspace.root)
    if json_into:
        schemas = workspace.installed.registry.schemas
        document = plan_json(made, tool_version=flareiac.__version__, schemas=schemas)
        files[json_into] = write_json(document, indent=1).encode() + b"\n"
    write_plan_files(workspace.root, files)
