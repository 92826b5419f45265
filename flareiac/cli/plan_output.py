"""A plan on the terminal: as text with its complaints, or as JSON, one object a line."""

import flareiac
from flareiac.app.discovery import installed
from flareiac.app.plan import PlanReport
from flareiac.cli.complaints import complain
from flareiac.cli.plan_options import DisplayOptions
from flareiac.cli.terminal import Terminal
from flareiac.kernel.diagnostics import Severity
from flareiac.model.plan import Plan
from flareiac.render.plan_text import plan_text
from flareiac.render.ui_json import plan_lines


def print_plan_text(terminal: Terminal, plan: Plan, display: DisplayOptions) -> None:
    """A plan for people."""
    text = plan_text(
        plan,
        colour=terminal.colour(),
        width=terminal.width(),
        detail=display.detail,
        show_steps=display.show_steps,
        types=installed().registry.types,
    )
    terminal.out(text)
    if plan.blocked:
        terminal.page_named = Severity.ERROR  # the plan names the page of its first code


def print_report(terminal: Terminal, report: PlanReport, display: DisplayOptions) -> None:
    """A plan for people, and what is to be said about it."""
    if report.plan is not None:
        print_plan_text(terminal, report.plan, display)
    complain(terminal, report.diagnostics, report.sources)


def print_report_json(terminal: Terminal, report: PlanReport) -> None:
    """A plan for programs, with its diagnostics. The line of the version is the first one, once."""
    begun = terminal.json_begun
    for line in plan_lines(
        report.plan, report.diagnostics, report.sources, tool_version=flareiac.__version__
    ):
        if not (begun and line["type"] == "version"):
            terminal.out_json(line)
