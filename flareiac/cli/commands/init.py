"""``init``: what the project needs, fetched."""

from flareiac.app.setup import declared, initialise
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.kernel.diagnostics import Diagnostics


def init(invocation: Invocation, variables: VariableOptions) -> int:
    """Lets every provider fetch what the configuration needs."""
    diagnostics = Diagnostics()
    terminal = invocation.terminal
    with opened(invocation, variables) as workspace:
        configuration, references = declared(workspace, diagnostics)
        complain(terminal, diagnostics, configuration.sources)
        if diagnostics.has_errors:
            return ExitCode.ERROR
        for line in initialise(workspace, references, terminal.say):
            terminal.out(line)
    terminal.out("FlareIaC is initialised here.")
    return ExitCode.DONE
