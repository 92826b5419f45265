"""``checkpoint show`` and ``checkpoint gc``: what a job has read, and generations that are of no more use."""

import json
import time
from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.locking import working
from flareiac.cli.options import Json

app = typer.Typer(help="Look into checkpoints, and tidy them up.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def show(address: Annotated[str, typer.Argument(help="The address of a checkpoint.", metavar="ADDRESS")], as_json: Json = False) -> int:
    """Show what a checkpoint holds: batches, offsets, watermark, state, pinned settings, generations."""
    from flareiac.app.bench import Bench
    from flareiac.app.checkpoint import show as look
    from flareiac.render.checkpoint_text import checkpoint_json, checkpoint_text

    bench = Bench(root=terminal.CURRENT.root)
    try:
        found = look(bench, address)
    finally:
        bench.close()
    if as_json:
        terminal.out(json.dumps(checkpoint_json(found.address, found.inside, found.holders), indent=2))
    else:
        terminal.out(checkpoint_text(found.address, found.inside, found.holders, now=time.time()))
    return ExitCode.DONE


@app.command()
def gc(
    address: Annotated[str | None, typer.Argument(help="The address of a checkpoint; without it, all.", metavar="[ADDRESS]")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
) -> int:
    """Remove generations past keep_generations; never one in use."""
    from flareiac.app.checkpoint import collect

    with working() as work:
        found = collect(work.bench, address, dry_run=dry_run, lock_timeout=work.lock_timeout, emit=work.emit)
    lines = [f"{name}: {line}" for name, items in found.items() for line in items]
    for line in lines or ["Nothing to remove: no checkpoint has more generations than it keeps."]:
        terminal.out(line)
    return ExitCode.DONE
