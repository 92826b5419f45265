"""``driver``: the driver of an engine in the foreground."""

from typing import Annotated

import typer

from flareiac.app.discovery import installed
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.sdk.capabilities import Serving

Location = Annotated[
    str, typer.Argument(help="The control directory of the engine.", metavar="RUNTIME_LOCATION")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until a first apply has written what should run.")]


def driver(invocation: Invocation, location: Location, wait: Wait = False) -> int:
    """Runs the driver of the first provider that has one, until it ends."""
    for provider in installed().providers.values():
        if isinstance(provider, Serving):
            place = location if "://" in location else str((invocation.root / location).resolve())
            return provider.serve(place, invocation.root, wait=wait)
    invocation.terminal.say("Error: no installed provider has a driver.")
    return ExitCode.ERROR
