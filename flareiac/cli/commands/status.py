"""``status``: what the jobs are doing, and how the tables are kept."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from flareiac.app.inspect import status as running
from flareiac.app.service_levels import outside_readers
from flareiac.app.statistics import sheets, statistics
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.project import opened
from flareiac.cli.terminal import Terminal
from flareiac.kernel.data import write_json
from flareiac.render.control_characters import visible
from flareiac.render.reader_status_text import reader_status_json, reader_status_text
from flareiac.render.statistics_text import statistics_json, statistics_text
from flareiac.render.status_text import status_json, status_text
from flareiac.sdk.command_options import Json

_EVERY: Final = 2.0
"""Seconds between two looks of -watch."""

Watch = Annotated[bool, typer.Option("--watch", help="Show it again every two seconds, until ctrl-c.")]


def status(invocation: Invocation, as_json: Json = False, watch: Watch = False) -> int:
    """Shows the status once, or until it is interrupted."""
    terminal = invocation.terminal
    if not watch:
        terminal.out(_status(invocation, as_json=as_json))
        return ExitCode.DONE
    with _until_interrupted():
        if terminal.animated() and not as_json:
            _redraw(terminal, lambda: _status(invocation, as_json=False))
        else:
            _repeat(terminal, lambda: _status(invocation, as_json=as_json))
    return ExitCode.DONE


def _status(invocation: Invocation, *, as_json: bool) -> str:
    with opened(invocation) as workspace:
        snapshot = workspace.load_state().snapshot
        rows, by_sheet = running(workspace, snapshot), statistics(workspace, snapshot)
        readers = outside_readers(workspace, snapshot)
    if as_json:
        held = {sheet.name: statistics_json(by_sheet.get(sheet, {})) for sheet in sheets(workspace)}
        return write_json({**status_json(rows), **held, "readers": reader_status_json(readers)}, indent=2)
    width = invocation.terminal.columns()
    texts = [statistics_text(sheet, sheet_rows, width=width) for sheet, sheet_rows in by_sheet.items()]
    if readers:
        texts.append(reader_status_text(readers, width=width))
    return "\n".join(
        [*([status_text(rows, now=time.time(), width=width)] if rows or not texts else []), *texts]
    )


def _repeat(terminal: Terminal, look: Callable[[], str]) -> None:
    """Prints one block after the other, for a file or a pipe."""
    while True:
        terminal.out(f"{look()}\n")
        time.sleep(_EVERY)


def _redraw(terminal: Terminal, look: Callable[[], str]) -> None:
    """Draws each block over the one before."""
    # Imported here: only a terminal is drawn on.
    from rich.text import Text

    from flareiac.cli.rich_console import live_view

    shown = Text()
    with live_view(terminal, lambda: shown, transient=False) as live:
        while True:
            # Lines that are too long are cut: a table whose lines wrap cannot be read.
            shown = Text.from_ansi(visible(look()).rstrip("\n"), no_wrap=True, overflow="ellipsis")
            live.refresh()
            time.sleep(_EVERY)


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Ends the block at the first SIGINT or SIGTERM: that is how a watch ends, so it is no failure."""
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
