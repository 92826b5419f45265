"""``stop``, ``start`` and ``restart``: jobs and engines by hand."""

from typing import Annotated

import typer

from flareiac.app.run_control import steer
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work
from flareiac.sdk.actions import RunCommand

Address = Annotated[str, typer.Argument(help="The address of a job, or of an engine.", metavar="ADDRESS")]


def stop(invocation: Invocation, address: Address) -> int:
    """Stops a job or an engine."""
    return _control(invocation, RunCommand.STOP, address)


def start(invocation: Invocation, address: Address) -> int:
    """Starts a job or an engine as it is recorded."""
    return _control(invocation, RunCommand.START, address)


def restart(invocation: Invocation, address: Address) -> int:
    """Stops a job or an engine, and starts it as it is recorded."""
    return _control(invocation, RunCommand.RESTART, address)


def _control(invocation: Invocation, verb: RunCommand, address: str) -> int:
    with locked_work(invocation) as work:
        messages = steer(
            work.workspace,
            verb,
            address,
            lock_timeout=work.lock_timeout,
            emit=work.emit,
            progress=invocation.terminal.say,
            cancel=invocation.cancel,
        )
    for message in messages or (f"{address}: {verb} done.",):
        invocation.terminal.out(message)
    return ExitCode.DONE
