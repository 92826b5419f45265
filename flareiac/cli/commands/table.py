"""``table snapshots`` and ``table rollback``: earlier states of a table, and the way back to one."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from flareiac.app.table import rollback as roll_back
from flareiac.app.table import snapshots as snapshots_of
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import invocation_of
from flareiac.cli.locked_work import locked_work
from flareiac.cli.options import AutoApprove, Json
from flareiac.cli.project import opened
from flareiac.render.snapshots_text import snapshots_json, snapshots_text

Address = Annotated[str, typer.Argument(help="The address of a table.", metavar="ADDRESS")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many, from the newest on.")]
To = Annotated[
    int | None, typer.Option("--to", help="A snapshot id; without it, the one before the table was emptied.")
]


def snapshots(context: typer.Context, address: Address, as_json: Json = False, limit: Limit = 20) -> int:
    """Lists the snapshots of a table."""
    invocation = invocation_of(context)
    with opened(invocation) as workspace:
        rows = snapshots_of(workspace, address)
    if as_json:
        invocation.terminal.out(json.dumps(snapshots_json(address, rows[:limit]), indent=2))
    else:
        invocation.terminal.out(snapshots_text(address, rows[:limit], more=max(0, len(rows) - limit)))
    return ExitCode.DONE


def rollback(
    context: typer.Context, address: Address, to: To = None, auto_approve: AutoApprove = False
) -> int:
    """Shows what the way back does, asks, and goes it."""
    invocation = invocation_of(context)
    terminal = invocation.terminal

    def approve(texts: Sequence[str]) -> bool:
        for line in texts:
            terminal.out(line)
        return auto_approve or terminal.ask("\nDo you want to set it back?")

    with locked_work(invocation) as work:
        said = roll_back(
            work.workspace,
            address,
            to,
            approve=approve,
            lock_timeout=work.lock_timeout,
            emit=work.emit,
            progress=terminal.say,
        )
    if said is None:
        return ExitCode.CANCELLED
    for line in said:
        terminal.out(line)
    return ExitCode.DONE
