"""``undrop``: brings back a dropped table."""

from typing import Annotated

import typer

from flareiac.app.state.undrop import undrop as bring_back
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work

Address = Annotated[
    str,
    typer.Argument(
        help="The address that it had; ADDRESS@UUID names an earlier one of that address.",
        metavar="ADDRESS",
    ),
]


def undrop(invocation: Invocation, address: Address) -> int:
    """Brings back a table that the state still knows."""
    progress = invocation.terminal.say
    with locked_work(invocation) as work:
        said = bring_back(
            work.workspace, address, lock_timeout=work.lock_timeout, emit=work.emit, progress=progress
        )
    for line in said:
        invocation.terminal.out(line)
    return ExitCode.DONE
