"""``undrop``: brings back what was dropped."""

from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode

Address = Annotated[
    str, typer.Argument(help="The address that the table had; ADDRESS@UUID names an earlier one of that address.", metavar="ADDRESS")
]


def register(app: typer.Typer) -> None:
    """Adds the command to the tree."""
    app.command()(undrop)


def undrop(address: Address) -> int:
    """Bring back a table that was dropped from its catalog, from the metadata file that the state has kept."""
    from flareiac.app.bench import Bench
    from flareiac.app.undrop import undrop as bring_back
    from flareiac.model.events import Event
    from flareiac.render.apply_text import event_line
    from flareiac.sdk.validators import parse_duration

    def emit(event: Event) -> None:
        terminal.say(event_line(event, colour=False) or "")

    timeout = parse_duration(terminal.CURRENT.lock_timeout)
    if timeout is None:
        raise typer.BadParameter(f'-lock-timeout={terminal.CURRENT.lock_timeout} is not a duration such as "60s".')
    bench = Bench(root=terminal.CURRENT.root)
    try:
        said = bring_back(bench, address, lock_timeout=timeout / 1000, emit=emit, progress=terminal.say)
    finally:
        bench.close()
    for line in said:
        terminal.out(line)
    return ExitCode.DONE
