"""``state list``, ``state show`` and ``state rm``: what is recorded, and what is kept no longer."""

import json
from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.locking import working
from flareiac.cli.options import Json

app = typer.Typer(help="Look at the state, and give up what it keeps of dropped tables.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_(pattern: Annotated[list[str] | None, typer.Argument(help="Addresses or globs.")] = None, as_json: Json = False) -> int:
    """List the recorded addresses."""
    from flareiac.app.bench import Bench
    from flareiac.planning.make_plan import matches

    snapshot = Bench(root=terminal.CURRENT.root).load_state().snapshot
    found = [address for address in sorted(snapshot.resources) if not pattern or any(matches(address, item) for item in pattern)]
    if as_json:
        terminal.out(json.dumps({"format_version": "1.0", "addresses": found}, indent=2))
    else:
        for address in found:
            terminal.out(address)
    return ExitCode.DONE


@app.command()
def show(address: Annotated[str, typer.Argument(help="A recorded address.")], as_json: Json = False) -> int:
    """Show what is recorded of one resource."""
    from flareiac.app.bench import Bench
    from flareiac.app.discovery import installed
    from flareiac.app.steer import recorded
    from flareiac.kernel.records import encode
    from flareiac.render.state_text import record_text

    record = recorded(Bench(root=terminal.CURRENT.root).load_state().snapshot, address)
    terminal.out(json.dumps(encode(record), indent=2) if as_json else record_text(record, schemas=installed().registry.schemas))
    return ExitCode.DONE


@app.command()
def rm(
    address: Annotated[
        str, typer.Argument(help="What was dropped; ADDRESS@UUID names one of several of that address.", metavar="ADDRESS[@UUID]")
    ],
) -> int:
    """Give up a table that was dropped: undrop brings it back no longer, and its files are kept for it no longer."""
    from flareiac.app.undrop import give_up

    with working() as work:
        terminal.out(give_up(work.bench, address, lock_timeout=work.lock_timeout, emit=work.emit))
    return ExitCode.DONE
