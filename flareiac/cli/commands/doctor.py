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
        if any(item.code == codes.NO_CONFIGURATION.id for item in diagnostics):
            # The machine is examined before there is a project.
            diagnostics = Diagnostics()
            checks = examine_machine(workspace)
        else:
            checks = examine(workspace, references, diagnostics)
    if as_json:
        rows = [
            {"name": item.name, "verdict": item.verdict.value, "text": item.text, "fix": item.fix}
            for item in checks
        ]
        complaints = diagnostics_json(diagnostics, configuration.sources)
        document = {"format_version": "1.0", "checks": rows, "diagnostics": complaints}
        terminal.out(write_json(document, indent=2))
    else:
        complain(terminal, diagnostics, configuration.sources)
        for item in checks:
            fix = f"\n      fix: {item.fix}" if item.fix else ""
            terminal.out(f"{item.verdict.value:<5} {item.name}: {item.text}{fix}")
    bad = diagnostics.has_errors or any(item.verdict is Verdict.FAIL for item in checks)
    return ExitCode.ERROR if bad else ExitCode.DONE
