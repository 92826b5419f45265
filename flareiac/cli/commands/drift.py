"""``drift``: what changed outside of FlareIaC?"""

from typing import Annotated, Literal, TypeAlias

import typer

import flareiac
from flareiac.app.drift import Found
from flareiac.app.drift import drift as find_drift
from flareiac.app.workspace import Workspace
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import lock_timeout
from flareiac.cli.options import Project, WorkOptions
from flareiac.cli.plan_options import PlanOptions, Refreshed
from flareiac.cli.project import opened
from flareiac.cli.remediation import remediation_shown
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.planning.make_plan import Maintenance
from flareiac.render.drift import drift_text, without_secrets
from flareiac.render.ui_json import drift_lines
from flareiac.sdk.command_options import Json

Format: TypeAlias = Literal["text", "json", "markdown", "junit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftOutput:
    """The options that decide how findings are printed."""

    form: Annotated[
        Format,
        typer.Option("--format", help="text, json (as -json), markdown (for an issue) or junit (XML)."),
    ] = "text"
    project: Project = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """The options of the plan that brings back what drifted."""

    remediate: Annotated[
        bool, typer.Option("--remediate", help="Plan to bring back what drifted, and nothing else.")
    ] = False
    out: Annotated[str | None, typer.Option("--out", help="Save the plan of -remediate to this file.")] = None

    def check(self, form: Format) -> None:
        """Raises ``typer.BadParameter`` for options that exclude each other."""
        if self.out is not None and not self.remediate:
            raise typer.BadParameter("-out saves the plan of -remediate: write both.")
        if self.remediate and form not in ("text", "json"):
            raise typer.BadParameter(f"-remediate makes a plan, which has no -format={form}.")


def drift(
    invocation: Invocation,
    *,
    as_json: Json = False,
    refresh: Refreshed = "changed",
    output: DriftOutput,
    remedy: Remedy,
    work: WorkOptions,
) -> int:
    """Compares what is there with what is recorded."""
    if refresh in ("none", "false"):
        why = "drift compares what is recorded with what is there, so it cannot do without asking."
        raise typer.BadParameter(why)
    form = output.form
    if as_json and form not in ("text", "json"):
        raise typer.BadParameter(f"-json and -format={form} exclude each other.")
    shown: Format = "json" if as_json else form
    remedy.check(shown)
    request = PlanOptions(refresh=refresh, maintenance=Maintenance.EXCLUDE).request()
    timeout = lock_timeout(invocation)
    with opened(invocation, work, work.parallelism) as workspace:
        try:
            report = find_drift(workspace, request, timeout=timeout, remediate=remedy.remediate)
        except Failure as failure:
            if shown not in ("markdown", "junit"):
                raise
            diagnostics = Diagnostics()
            diagnostics.extend(failure.diagnostics)
            report = Found(drift=None, diagnostics=diagnostics, sources={})
        if report.remediation is not None:
            return remediation_shown(invocation, workspace, report, out=remedy.out, as_json=shown == "json")
    _show(invocation, workspace, report, shown, output.project)
    if report.is_at_work:
        return ExitCode.LOCKED
    if report.drift is None or report.diagnostics.has_errors:
        return ExitCode.ERROR
    return ExitCode.DRIFT if report.drift.drifted else ExitCode.DONE


def _show(invocation: Invocation, workspace: Workspace, report: Found, form: Format, project: str) -> None:
    terminal, diagnostics = invocation.terminal, report.diagnostics
    schemas = workspace.installed.registry.schemas
    shown = None if report.drift is None else without_secrets(report.drift, schemas)
    match form:
        case "json":
            version = flareiac.__version__
            for line in drift_lines(shown, diagnostics, report.sources, tool_version=version):
                terminal.out_json(line)
        case "text":
            complain(terminal, diagnostics, report.sources)
            if shown is not None:
                errored = diagnostics.has_errors
                terminal.out(drift_text(shown, colour=terminal.colour(), errored=errored))
        case "markdown":
            # Imported here: a report for people at a terminal needs neither of the two.
            from flareiac.render.drift_markdown import drift_markdown

            complain(terminal, diagnostics, report.sources)
            text = drift_markdown(shown, diagnostics, workspace=workspace.workspace, project=project)
            terminal.out(text)
        case "junit":
            from flareiac.render.drift_junit import drift_junit

            complain(terminal, diagnostics, report.sources)
            terminal.out(drift_junit(shown, diagnostics))
