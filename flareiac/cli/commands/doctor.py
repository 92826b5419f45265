"""``doctor``: does this machine have what the project needs?"""

from flareiac.app.setup import declared, examine, examine_machine
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.kernel import codes
from flareiac.kernel.data import write_json
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.render.diagnostics import as_json as diagnostics_json
from flareiac.sdk.capabilities import Verdict
from flareiac.sdk.command_options import Json


def doctor(invocation: Invocation, *, as_json: Json = False, variables: VariableOptions) -> int:
    """Shows the verdicts of every provider."""
    diagnostics = Diagnostics()
    terminal = invocation.terminal
    with opened(invocation, variables) as workspace:
        configuration, references = declared(workspace, diagnostics)
        if any(diagnostic.code == codes.NO_CONFIGURATION.id for diagnostic in diagnostics):
            # The machine is examined before there is a project.
            diagnostics = Diagnostics()
            checks = examine_machine(workspace)
        else:
            checks = examine(workspace, references, diagnostics)
    if as_json:
        rows = [
            {"name": check.name, "verdict": check.verdict.value, "text": check.text, "fix": check.fix}
            for check in checks
        ]
        complaints = diagnostics_json(diagnostics, configuration.sources)
        document = {"format_version": "1.0", "checks": rows, "diagnostics": complaints}
        terminal.out(write_json(document, indent=2))
    else:
        complain(terminal, diagnostics, configuration.sources)
        for check in checks:
            fix = f"\n      fix: {check.fix}" if check.fix else ""
            terminal.out(f"{check.verdict.value:<5} {check.name}: {check.text}{fix}")
    bad = diagnostics.has_errors or any(check.verdict is Verdict.FAIL for check in checks)
    return ExitCode.ERROR if bad else ExitCode.DONE
