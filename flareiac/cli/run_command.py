"""Runs one command: every way in which it can end becomes an exit code, and every complaint a diagnostic."""

import datetime as dt
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from types import FrameType

import typer
from typer.exceptions import TyperException

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.signals import SignalRelay
from flareiac.sdk.state import LockHeld

CANCEL = threading.Event()
"""Set by the first SIGINT or SIGTERM; a second one leaves at once."""


_LINES = frozenset({"plan", "apply", "destroy", "maintain", "drift"})
"""The commands whose JSON is one object a line."""
_READING = frozenset({"validate", "plan", "drift", "status", "show", "output", "logs", "doctor", "version", "explain"})
_READING_OF_GROUPS = frozenset({("state", "list"), ("state", "show"), ("checkpoint", "show"), ("table", "snapshots")})
"""The commands that change nothing: the first signal ends them."""
_harmless = False


def run_command(arguments: Sequence[str]) -> int:
    """The exit code of a command line whose global options have been taken out."""
    from flareiac.cli.commands import app

    _relay()
    signal.signal(signal.SIGINT, _cancel)
    signal.signal(signal.SIGTERM, _cancel)
    command = typer.main.get_command(app)
    global _harmless  # noqa: PLW0603 - one command runs in a process, and a signal handler has no other way to know of it
    _harmless = not _changes(arguments)
    try:
        result = command.main(args=list(arguments), prog_name="flareiac", standalone_mode=False)
    except TyperException as problem:
        _complain_of_usage(problem, arguments)
        return int(ExitCode.USAGE)
    except typer.Exit as done:
        return int(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return int(ExitCode.CANCELLED)
    except Failure as failure:
        return _fail(failure.diagnostics, arguments, ExitCode.ERROR)
    except LockHeld as held:
        return _fail([_held(held)], arguments, ExitCode.LOCKED)
    except BrokenPipeError:
        # Whoever read our output has left; what the interpreter still flushes at exit must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.ERROR)
    except Exception as bug:  # noqa: BLE001 - the last resort: nobody but us should have to read a traceback
        return _fail([_unvouched(bug) or _bug(bug)], arguments, ExitCode.ERROR)
    return int(result) if isinstance(result, int) else int(ExitCode.DONE)


def _fail(diagnostics: Sequence[Diagnostic], arguments: Sequence[str], code: ExitCode) -> int:
    """Says why a command ends, in JSON where that was asked for."""
    if not _wants_json(arguments):
        terminal.complain(diagnostics)
        return int(code)
    try:
        _fail_in_json(diagnostics, arguments[0])
    except (Failure, BrokenPipeError):  # standard output takes nothing: the reason goes where it can still be read
        terminal.complain(diagnostics)
    return int(code)


def _fail_in_json(diagnostics: Sequence[Diagnostic], command: str) -> None:
    import flareiac
    from flareiac.render.diagnostics import as_json, validate_json
    from flareiac.render.ui_json import failure_lines

    if command in _LINES:
        for line in failure_lines(diagnostics, tool_version=flareiac.__version__, begun=terminal.CURRENT.begun):
            terminal.out_json(line)
        return
    found = validate_json(diagnostics, {}) if command == "validate" else {"format_version": "1.0", "diagnostics": as_json(diagnostics, {})}
    terminal.out(json.dumps(found, indent=2))


def _wants_json(arguments: Sequence[str]) -> bool:
    return "--json" in arguments[1 : arguments.index("--") if "--" in arguments else None]


def _changes(arguments: Sequence[str]) -> bool:
    """Whether a command may be amid a change when a signal comes."""
    words = [item for item in arguments if not item.startswith("-")][:2]
    return words[:1] != [] and words[0] not in _READING and tuple(words) not in _READING_OF_GROUPS


def _complain_of_usage(problem: TyperException, arguments: Sequence[str]) -> None:
    describe = getattr(problem, "format_message", None)
    text = describe() if describe else str(problem)
    if text.startswith("Usage:"):
        terminal.say(text)  # a group without a command: the whole help
        return
    if _wants_json(arguments):
        _fail([error(codes.WRONG_USAGE, text)], arguments, ExitCode.USAGE)
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
    if _harmless:
        # Nothing to bring to an end: evaluation in this thread and questions in others are left where they are.
        with suppress(Exception):
            terminal.say("\nCancelled.")
        os._exit(int(ExitCode.CANCELLED))
    _relay()(number, frame)
    terminal.say("\nCancelling: what runs is brought to an end, nothing more is started. A second signal leaves at once.")


def _unvouched(problem: Exception) -> Diagnostic | None:
    """The blame of a state that carries no digest: it was edited, and nothing vouches for the shape of its parts."""
    from flareiac.app.bench import Bench
    from flareiac.model.damage import UNREADABLE

    if os.environ.get("FLAREIAC_DEBUG") or not isinstance(problem, (*UNREADABLE, AssertionError)):
        return None
    try:
        bench = Bench(root=terminal.CURRENT.root)
        if bench.load_state().snapshot.sealed:
            return None
    except Exception:  # noqa: BLE001 - then the first problem is what counts
        return None
    what = " ".join(f"{type(problem).__name__}: {problem}".split())
    return error(
        codes.STATE_UNREADABLE,
        f"{bench.store.describe()}: it carries no digest, so it was edited or comes from an early version, and a part of it has the wrong "
        f"shape ({what}). Put back the newest intact snapshot from the history directory beside it, or restore it from a backup.",
    )


def _bug(problem: Exception) -> Diagnostic:
    if os.environ.get("FLAREIAC_DEBUG"):
        terminal.say("".join(traceback.format_exception(problem)))
    place = traceback.extract_tb(problem.__traceback__)[-1]
    what = " ".join(f"{type(problem).__name__}: {problem}".split())
    return error(
        codes.BUG,
        f"{what} (in {place.name}, {place.filename}:{place.lineno}). What an apply has done until now is in the state, and what it "
        "had begun is settled by the next one. Please report this together with the output under FLAREIAC_DEBUG=1.",
    )


def _held(held: LockHeld) -> Diagnostic:
    info = held.info

    until = dt.datetime.fromtimestamp(info.expires, dt.UTC).strftime("%H:%M:%S UTC")
    return error(
        codes.STATE_LOCKED,
        f"{info.owner} on {info.host} holds it for {info.operation} (lock {info.id}; it runs out at {until} unless renewed). Wait for it "
        "with -lock-timeout=60s; plan and drift need no lock.",
    )
