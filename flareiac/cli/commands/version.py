"""``version``: the version, and the installed providers."""

import flareiac
from flareiac.app.discovery import installed
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.kernel.data import write_json
from flareiac.sdk.command_options import Json


def version(invocation: Invocation, as_json: Json = False) -> int:
    """Prints the version; as JSON with the names of the providers."""
    terminal = invocation.terminal
    if as_json:
        document = {"flareiac_version": flareiac.__version__, "providers": sorted(installed().providers)}
        terminal.out(write_json(document, indent=2))
    else:
        terminal.out(f"FlareIaC v{flareiac.__version__}")
    return ExitCode.DONE
