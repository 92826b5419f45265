"""The output of ``drift -remediate``: the plan that brings back what drifted, what it leaves out, and its
file.
"""

import shlex
from collections.abc import Iterator

from flareiac.app.drift import RESTORABLE, Found
from flareiac.app.plan_files import plan_content, write_plan_files
from flareiac.app.workspace import Workspace
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.plan_options import DisplayOptions
from flareiac.cli.plan_output import print_report, print_report_json
from flareiac.model.drift import DriftClass
from flareiac.render.control_characters import printable


def remediation_shown(
    invocation: Invocation, workspace: Workspace, compared: Found, *, out: str | None, as_json: bool
) -> ExitCode:
    """Prints the plan and saves it to ``out``, relative to the project. Raises ``Failure``."""
    report, terminal = compared.remediation, invocation.terminal
    assert report is not None, "there is something to bring back"
    if as_json:
        print_report_json(terminal, report)
    else:
        print_report(terminal, report, DisplayOptions())
    for line in _left_out(compared):
        terminal.say(printable(line))
    if report.plan is None or report.diagnostics.has_errors:
        return ExitCode.ERROR
    if out is not None:
        write_plan_files(workspace.root, {out: plan_content(report.plan, workspace.root)})
    if report.plan.blocked or report.plan.is_refused:
        return ExitCode.BLOCKED
    if out is not None and not as_json:
        folder = f"-chdir={shlex.quote(invocation.directory)} " if invocation.directory else ""
        terminal.out(
            f"\nSaved the plan to {out}. To do exactly this, run:\n"
            f"  flareiac {folder}apply {shlex.quote(out)}"
        )
    return ExitCode.DRIFT


def _left_out(compared: Found) -> Iterator[str]:
    """Yields a line for each kind of difference that the plan does nothing about."""
    assert compared.drift is not None, "there is something to bring back"
    if compared.pending:
        names = ", ".join(compared.pending)
        yield f"Left out: changes of the configuration that were not applied yet: {names}."
    restored = {each.address for each in compared.drift.findings if each.kind in RESTORABLE}
    ignored = [each.finding.address for each in compared.drift.ignored]
    if names := ", ".join(dict.fromkeys(each for each in ignored if each not in restored)):
        yield f"Left out: what drift_ignore blocks name: {names}."
    for kind, what in (
        (DriftClass.UNMANAGED, "what is not declared"),
        (DriftClass.UNHEALTHY, "what is unhealthy, which no plan mends"),
    ):
        addresses = dict.fromkeys(each.address for each in compared.drift.findings if each.kind is kind)
        if addresses:
            yield f"Left out: {what}: {', '.join(addresses)}."
