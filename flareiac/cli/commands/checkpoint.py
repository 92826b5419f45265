"""``checkpoint show`` and ``checkpoint gc``: what a job has read, and generations past their use."""

import json
import time
from typing import Annotated

import typer

from flareiac.app.checkpoint import collect
from flareiac.app.checkpoint import show as look_into
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import invocation_of
from flareiac.cli.locked_work import locked_work
from flareiac.cli.options import Json
from flareiac.cli.project import opened
from flareiac.render.checkpoint_text import checkpoint_json, checkpoint_text

Address = Annotated[str, typer.Argument(help="The address of a checkpoint.", metavar="ADDRESS")]
AnyAddress = Annotated[
    str | None, typer.Argument(help="The address of a checkpoint; without it, all.", metavar="[ADDRESS]")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")]


def show(context: typer.Context, address: Address, as_json: Json = False) -> int:
    """Shows what is in a checkpoint."""
    invocation = invocation_of(context)
    with opened(invocation) as workspace:
        found = look_into(workspace, address)
    if as_json:
        document = checkpoint_json(found.address, found.inside, found.holders)
        invocation.terminal.out(json.dumps(document, indent=2))
    else:
        invocation.terminal.out(checkpoint_text(found.address, found.inside, found.holders, now=time.time()))
    return ExitCode.DONE


def gc(context: typer.Context, address: AnyAddress = None, dry_run: DryRun = False) -> int:
    """Removes generations that are no longer needed."""
    invocation = invocation_of(context)
    with locked_work(invocation) as work:
        found = collect(
            work.workspace, address, dry_run=dry_run, lock_timeout=work.lock_timeout, emit=work.emit
        )
    lines = [f"{name}: {line}" for name, items in found.items() for line in items]
    for line in lines or ["Nothing to remove: no checkpoint has more generations than it keeps."]:
        invocation.terminal.out(line)
    return ExitCode.DONE
