"""``logs``: the log of a job, or of what runs the jobs of a connection."""

from typing import Annotated

import typer

from flareiac.app.inspect import log_of
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.project import opened

Address = Annotated[
    str,
    typer.Argument(help="The address of a job, or of the connection that runs it.", metavar="ADDRESS"),
]
Follow = Annotated[bool, typer.Option("-f", "--follow", help="Go on printing what is added.")]


def logs(invocation: Invocation, address: Address, follow: Follow = False) -> int:
    """Prints the log of a job, or of what runs the jobs of a connection, and what is added to it."""
    with opened(invocation) as workspace:
        log = log_of(workspace, workspace.load_state().snapshot, address)
        if log is None:
            invocation.terminal.say(f"{address} has written no log yet.")
            return ExitCode.DONE
        while True:
            if text := log.read():
                invocation.terminal.out(text)
            if not follow or invocation.cancel.wait(log.pause):
                return ExitCode.DONE
