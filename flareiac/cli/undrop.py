"""``undrop``: brings back what was dropped."""

from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.locking import working

Address = Annotated[
    str, typer.Argument(help="The address that the table had; ADDRESS@UUID names an earlier one of that address.", metavar="ADDRESS")
]


def register(app: typer.Typer) -> None:
    """Adds the command to the tree."""
    app.command()(undrop)


def undrop(address: Address) -> int:
    """Bring back a table that was dropped from its catalog, from the metadata file that the state has kept."""
    from flareiac.app.undrop import undrop as bring_back

    with working() as work:
        said = bring_back(work.bench, address, lock_timeout=work.lock_timeout, emit=work.emit, progress=terminal.say)
    for line in said:
        terminal.out(line)
    return ExitCode.DONE
