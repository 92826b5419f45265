"""``validate``: is the configuration right?"""

from flareiac.app.validate import validate as validated
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.render.diagnostics import validate_json
from flareiac.sdk.command_options import Json


def validate(invocation: Invocation, *, as_json: Json = False, variables: VariableOptions) -> int:
    """Says what is wrong with the configuration."""
    terminal = invocation.terminal
    with opened(invocation, variables) as workspace:
        found = validated(workspace)
    sources = found.configuration.sources
    if as_json:
        terminal.out(write_json(validate_json(found.diagnostics, sources), indent=2))
    else:
        complain(terminal, found.diagnostics, sources)
        if not found.diagnostics.has_errors:
            terminal.out("Success! The configuration is valid.")
    return ExitCode.ERROR if found.diagnostics.has_errors else ExitCode.DONE
