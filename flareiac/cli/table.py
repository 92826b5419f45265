"""``table snapshots`` and ``table rollback``: earlier states of a table, and the way back to one."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.locking import working
from flareiac.cli.options import AutoApprove, Json

app = typer.Typer(help="Look at the snapshots of tables, and go back to one.", no_args_is_help=True, rich_markup_mode=None)
Address = Annotated[str, typer.Argument(help="The address of a table.", metavar="ADDRESS")]


@app.command()
def snapshots(
    address: Address,
    as_json: Json = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, from the newest on.")] = 20,
) -> int:
    """List the snapshots of a table, newest first: when, who wrote, how many rows."""
    from flareiac.app.bench import Bench
    from flareiac.app.table import snapshots as look
    from flareiac.render.snapshots_text import snapshots_json, snapshots_text

    bench = Bench(root=terminal.CURRENT.root)
    try:
        rows = look(bench, address)
    finally:
        bench.close()
    if as_json:
        terminal.out(json.dumps(snapshots_json(address, rows[:limit]), indent=2))
    else:
        terminal.out(snapshots_text(address, rows[:limit], more=max(0, len(rows) - limit)))
    return ExitCode.DONE


@app.command()
def rollback(
    address: Address,
    to: Annotated[int | None, typer.Option("--to", help="A snapshot id; without it, the one before the table was emptied.")] = None,
    auto_approve: AutoApprove = False,
) -> int:
    """Set a table back to an earlier snapshot, after showing what that does. Jobs that write it or stream from it must have stopped."""
    from flareiac.app.table import rollback as go_back

    def approve(texts: Sequence[str]) -> bool:
        for line in texts:
            terminal.out(line)
        return auto_approve or terminal.ask("\nDo you want to set it back?")

    with working() as work:
        said = go_back(work.bench, address, to, approve=approve, lock_timeout=work.lock_timeout, emit=work.emit, progress=terminal.say)
    if said is None:
        return ExitCode.CANCELLED
    for line in said:
        terminal.out(line)
    return ExitCode.DONE
