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
        help="Addresses or globs, or what was dropped; ADDRESS@UUID names one of several of that address.",
        metavar="ADDRESS[@UUID]...",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would do, and change nothing.")]
Source = Annotated[
    str, typer.Argument(help="A recorded address, or a glob with one *: 'module.a.*'.", metavar="FROM")
]
Target = Annotated[
    str, typer.Argument(help="The address that it gets; with one * where FROM has one.", metavar="TO")
]


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


def mv(invocation: Invocation, source: Source, target: Target, dry_run: DryRun = False) -> int:
    """Records a resource under another address."""
    with locked_work(invocation) as work:
        lines = move(
            work.workspace,
            source,
            target,
            dry_run=dry_run,
            lock_timeout=work.lock_timeout,
            emit=work.emit,
        )
    for line in lines:
        invocation.terminal.out(line)
    return ExitCode.DONE


def rm(invocation: Invocation, address: Removed, dry_run: DryRun = False) -> int:
    """Forgets recorded resources, or gives up dropped ones."""
    with locked_work(invocation) as work:
        lines = remove(
            work.workspace, address, dry_run=dry_run, lock_timeout=work.lock_timeout, emit=work.emit
        )
    for line in lines:
        invocation.terminal.out(line)
    return ExitCode.DONE
