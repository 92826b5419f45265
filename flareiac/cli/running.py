"""``status``, ``logs``, ``stop``, ``start``, ``restart``, ``driver``: what runs."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.locking import working
from flareiac.cli.options import Json

Address = Annotated[str, typer.Argument(help="The address of a job.", metavar="ADDRESS")]

Runs = Annotated[str, typer.Argument(help="The address of a job, or of an engine.", metavar="ADDRESS")]


def register(app: typer.Typer) -> None:
    """Adds these commands to the tree."""
    for command in (status, logs, stop, start, restart, driver):
        app.command()(command)


def status(
    as_json: Json = False,
    watch: Annotated[bool, typer.Option("--watch", help="Draw it again every two seconds.")] = False,
) -> int:
    """Show what the jobs are doing (phase, batch, lag, last commit, failures) and how the tables are kept."""
    from flareiac.app.bench import Bench
    from flareiac.app.inspect import status as look
    from flareiac.app.survey import surveys
    from flareiac.cli.run_command import CANCEL
    from flareiac.render.status_text import status_json, status_text
    from flareiac.render.survey_text import survey_json, survey_text

    while True:
        bench = Bench(root=terminal.CURRENT.root)
        try:
            snapshot = bench.load_state().snapshot
            rows, tables = look(bench, snapshot), surveys(bench, snapshot)
        finally:
            bench.close()
        if as_json:
            terminal.out(json.dumps({**status_json(rows), "tables": survey_json(tables)}, indent=2))
        else:
            jobs = [status_text(rows, now=time.time())] if rows or not tables else []
            shown = [*jobs, *filter(None, [survey_text(tables, now=time.time())])]
            terminal.out(("\x1b[2J\x1b[H" if watch and terminal.colour() else "") + "\n".join(shown))
        if not watch or CANCEL.wait(2.0):
            return ExitCode.DONE


def logs(
    address: Address,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on printing what is added.")] = False,
) -> int:
    """Print the log of a job."""
    from flareiac.app.bench import Bench
    from flareiac.app.inspect import row
    from flareiac.cli.run_command import CANCEL

    bench = Bench(root=terminal.CURRENT.root)
    try:
        found = row(bench, bench.load_state().snapshot, address).get("log")
    finally:
        bench.close()
    if not found or not Path(found).is_file():
        terminal.say(f"{address} has written no log yet.")
        return ExitCode.DONE
    with Path(found).open(encoding="utf-8", errors="replace") as stream:
        while True:
            if text := stream.read():
                terminal.out(text)
            if not follow or CANCEL.wait(0.5):
                return ExitCode.DONE


def stop(address: Runs) -> int:
    """Stop a job, or end the application of an engine. The next apply starts it again; to keep a job stopped set stopped = true."""
    return _steer("stop", address)


def start(address: Runs) -> int:
    """Start a stopped job on its recorded definition, or the application of an engine with all its jobs."""
    return _steer("start", address)


def restart(address: Runs) -> int:
    """Stop a job, or end the application of an engine, and start it again as it is recorded."""
    return _steer("restart", address)


def driver(location: Annotated[str, typer.Argument(help="The control directory of the engine.", metavar="RUNTIME_LOCATION")]) -> int:
    """Run the driver of an engine in the foreground, as a service unit would."""
    from flareiac.app.discovery import installed
    from flareiac.sdk.capabilities import Serving

    for provider in installed().providers.values():
        if isinstance(provider, Serving):
            return provider.serve((terminal.CURRENT.root / location).resolve(), terminal.CURRENT.root.resolve())
    terminal.say("Error: no installed provider has a driver.")
    return ExitCode.ERROR


def _steer(verb: str, address: str) -> int:
    from flareiac.app.steer import steer
    from flareiac.cli.run_command import CANCEL
    from flareiac.sdk.capabilities import Steer

    with working() as work:
        messages = steer(
            work.bench,
            Steer(verb),
            address,
            lock_timeout=work.lock_timeout,
            emit=work.emit,
            progress=terminal.say,
            cancel=CANCEL,
        )
    for message in messages or (f"{address}: {verb} done.",):
        terminal.out(message)
    return ExitCode.DONE
