"""``state list``, ``state show``, ``state mv`` and ``state rm``: single records."""

from typing import Annotated

import typer

from flareiac.app.discovery import installed
from flareiac.app.state.edit import move, remove
from flareiac.app.state.recorded import addresses, recorded
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.kernel.records import encode
from flareiac.render.state_text import record_text
from flareiac.sdk.command_options import Json

Patterns = Annotated[list[str] | None, typer.Argument(help="Addresses or globs.")]
Recorded = Annotated[str, typer.Argument(help="A recorded address.")]
Removed = Annotated[
    list[str],
    typer.Argument(
        help="Recorded addresses, or what was dropped; ADDRESS@UUID names one of several of that address.",
        metavar="ADDRESS[@UUID]...",
    ),
]
Source = Annotated[str, typer.Argument(help="A recorded address.", metavar="FROM")]
Target = Annotated[str, typer.Argument(help="The address that it gets.", metavar="TO")]


def list_(invocation: Invocation, pattern: Patterns = None, as_json: Json = False) -> int:
    """Lists the recorded addresses that match."""
    with opened(invocation) as workspace:
        matching = addresses(workspace.load_state(even_moved=True).snapshot, pattern or ())
    if as_json:
        invocation.terminal.out(write_json({"format_version": "1.0", "addresses": matching}, indent=2))
    else:
        for address in matching:
            invocation.terminal.out(address)
    return ExitCode.DONE


def show(invocation: Invocation, address: Recorded, as_json: Json = False) -> int:
    """Shows one record."""
    with opened(invocation) as workspace:
        record = recorded(workspace.load_state(even_moved=True).snapshot, address)
    if as_json:
        invocation.terminal.out(write_json(encode(record), indent=2))
    else:
        invocation.terminal.out(record_text(record, schemas=installed().registry.schemas))
    return ExitCode.DONE


def mv(invocation: Invocation, source: Source, target: Target) -> int:
    """Records a resource under another address."""
    with locked_work(invocation) as work:
        done = move(work.workspace, source, target, lock_timeout=work.lock_timeout, emit=work.emit)
    invocation.terminal.out(done)
    return ExitCode.DONE


def rm(invocation: Invocation, address: Removed) -> int:
    """Forgets recorded resources, or gives up dropped ones."""
    with locked_work(invocation) as work:
        lines = remove(work.workspace, address, lock_timeout=work.lock_timeout, emit=work.emit)
    for line in lines:
        invocation.terminal.out(line)
    return ExitCode.DONE
