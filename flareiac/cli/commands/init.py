"""``init``: what the project needs, fetched."""

from flareiac.app.setup import declared, initialise
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableFiles, Variables
from flareiac.cli.project import opened
from flareiac.kernel.diagnostics import Diagnostics


def init(invocation: Invocation, var: Variables = None, var_file: VariableFiles = None) -> int:
    """Lets every provider fetch what the configuration needs."""
    diagnostics = Diagnostics()
    terminal = invocation.terminal
    with opened(invocation, var=var, var_file=var_file) as workspace:
        configuration, references = declared(workspace, diagnostics)
        complain(terminal, diagnostics, configuration.sources)
        if diagnostics.has_errors:
            return ExitCode.ERROR
        for line in initialise(workspace, references, terminal.say):
            terminal.out(line)
    terminal.out("FlareIaC is initialised here.")
    return ExitCode.DONE
