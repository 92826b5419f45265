"""Runs one command: every way in which it can end becomes an exit code, and every complaint a diagnostic."""

import datetime as dt
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from functools import cache
from types import FrameType

import typer
from typer.exceptions import TyperException

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.signals import SignalRelay
from flareiac.sdk.state import LockHeld

CANCEL = threading.Event()
"""Set by the first SIGINT or SIGTERM; a second one leaves at once."""


def run_command(arguments: Sequence[str]) -> int:
    """The exit code of a command line whose global options have been taken out."""
    from flareiac.cli.commands import app

    _relay()
    signal.signal(signal.SIGINT, _cancel)
    signal.signal(signal.SIGTERM, _cancel)
    command = typer.main.get_command(app)
    try:
        result = command.main(args=list(arguments), prog_name="flareiac", standalone_mode=False)
    except TyperException as problem:
        _complain_of_usage(problem)
        return int(ExitCode.USAGE)
    except typer.Exit as done:
        return int(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return int(ExitCode.CANCELLED)
    except Failure as failure:
        terminal.complain(failure.diagnostics)
        return int(ExitCode.ERROR)
    except LockHeld as held:
        terminal.complain([_held(held)])
        return int(ExitCode.LOCKED)
    except BrokenPipeError:
        # Whoever read our output has left; what the interpreter still flushes at exit must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.ERROR)
    except Exception as bug:  # noqa: BLE001 - the last resort: nobody but us should have to read a traceback
        terminal.complain([_bug(bug)])
        return int(ExitCode.ERROR)
    return int(result) if isinstance(result, int) else int(ExitCode.DONE)


def _complain_of_usage(problem: TyperException) -> None:
    describe = getattr(problem, "format_message", None)
    text = describe() if describe else str(problem)
    if text.startswith("Usage:"):
        terminal.say(text)  # a group without a command: the whole help
        return
    terminal.say(f"Error: {text}")
    terminal.say("Run flareiac --help, or flareiac COMMAND --help, to see what there is.")


@cache
def _relay() -> SignalRelay:
    """Made before the first signal comes: a handler must not begin a thread."""
    return SignalRelay(CANCEL.set)


def _cancel(number: int, frame: FrameType | None) -> None:
    if CANCEL.is_set():
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    _relay()(number, frame)
    terminal.say("\nCancelling: what runs is brought to an end, nothing more is started. A second signal leaves at once.")


def _bug(problem: Exception) -> Diagnostic:
    if os.environ.get("FLAREIAC_DEBUG"):
        terminal.say("".join(traceback.format_exception(problem)))
    place = traceback.extract_tb(problem.__traceback__)[-1]
    what = " ".join(f"{type(problem).__name__}: {problem}".split())
    return error(
        "FIX099",
        "This is a bug in FlareIaC",
        f"{what} (in {place.name}, {place.filename}:{place.lineno}). What an apply has done until now is in the state, and what it "
        "had begun is settled by the next one. Please report this together with the output under FLAREIAC_DEBUG=1.",
    )


def _held(held: LockHeld) -> Diagnostic:
    info = held.info

    until = dt.datetime.fromtimestamp(info.expires, dt.UTC).strftime("%H:%M:%S UTC")
    return error(
        "FIS010",
        "The state is locked",
        f"{info.owner} on {info.host} holds it for {info.operation} (lock {info.id}; it runs out at {until} unless renewed). Wait for it "
        "with -lock-timeout=60s; plan and drift need no lock.",
    )
