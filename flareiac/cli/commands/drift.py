"""``drift``: what changed outside of FlareIaC?"""

import typer

import flareiac
from flareiac.app.drift import drift as find_drift
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import WorkOptions
from flareiac.cli.plan_options import PlanOptions, Refreshed
from flareiac.cli.project import opened
from flareiac.planning.make_plan import Maintenance
from flareiac.render.drift import drift_text, without_secrets
from flareiac.render.ui_json import drift_lines
from flareiac.sdk.command_options import Json


def drift(
    invocation: Invocation, *, as_json: Json = False, refresh: Refreshed = "changed", work: WorkOptions
) -> int:
    """Compares what is there with what is recorded."""
    terminal = invocation.terminal
    if refresh in ("none", "false"):
        why = "drift compares what is recorded with what is there, so it cannot do without asking."
        raise typer.BadParameter(why)
    request = PlanOptions(refresh=refresh, maintenance=Maintenance.EXCLUDE).request()
    with opened(invocation, work, work.parallelism) as workspace:
        report = find_drift(workspace, request)
    shown = (
        None if report.drift is None else without_secrets(report.drift, workspace.installed.registry.schemas)
    )
    if as_json:
        version = flareiac.__version__
        for line in drift_lines(shown, report.diagnostics, report.sources, tool_version=version):
            terminal.out_json(line)
    else:
        complain(terminal, report.diagnostics, report.sources)
        if shown is not None:
            errored = report.diagnostics.has_errors
            terminal.out(drift_text(shown, colour=terminal.colour(), errored=errored))
    if shown is None or report.diagnostics.has_errors:
        return ExitCode.ERROR
    return ExitCode.DRIFT if shown.drifted else ExitCode.DONE
