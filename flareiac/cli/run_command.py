"""Runs one command: every way in which it can end becomes an exit code, and every complaint a diagnostic."""

import datetime as dt
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

import typer
from typer.exceptions import TyperException

import flareiac
from flareiac.cli.command_tree import command_of, command_tree, command_words, one_dash, provided_for
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.terminal import Terminal
from flareiac.kernel import codes
from flareiac.kernel.data import write_json
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.signals import SignalRelay
from flareiac.kernel.sources import Source
from flareiac.render.diagnostics import as_json, validate_json
from flareiac.sdk.commands import Command
from flareiac.sdk.state import LockHeld


def run_command(arguments: Sequence[str], invocation: Invocation) -> int:
    """The exit code of a command line whose global options have been taken out."""
    if (gone := _without_directory(invocation)) is not None:
        return _Failing(invocation.terminal, arguments, None).end([gone], ExitCode.ERROR)
    try:
        provided = provided_for(arguments)
    except Failure as failure:
        return _Failing(invocation.terminal, arguments, None).end(failure.diagnostics, ExitCode.ERROR)
    command = command_of(arguments, provided)
    failing = _Failing(invocation.terminal, arguments, command)
    reads_only = command is not None and command.reads_only
    words = "" if command is None or reads_only else command_words(arguments, provided)
    invocation = replace(invocation, command=words)
    try:
        with _cancelled_by_signals(invocation, reads_only=reads_only):
            result = command_tree(invocation, provided).main(
                args=list(arguments), prog_name="flareiac", standalone_mode=False
            )
    except TyperException as problem:
        return failing.usage(problem)
    except typer.Exit as done:
        return int(done.exit_code)
    except (typer.Abort, KeyboardInterrupt, _Left):
        return int(ExitCode.CANCELLED)
    except Failure as failure:
        return failing.end(failure.diagnostics, ExitCode.ERROR, failure.sources)
    except LockHeld as held:
        return failing.end([_held(held)], ExitCode.LOCKED)
    except BrokenPipeError:
        # The reader of our output is gone: what the interpreter flushes at exit must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.ERROR)
    except Exception as bug:  # noqa: BLE001 - the last resort: no user should have to read a traceback
        return failing.end([_unexpected(bug, invocation)], ExitCode.ERROR)
    return int(result) if isinstance(result, int) else int(ExitCode.DONE)


class _Left(BaseException):
    """A signal while a person is asked. The parser of options would turn ``KeyboardInterrupt`` into a code of
    its own.
    """


def _without_directory(invocation: Invocation) -> Diagnostic | None:
    """The error of a command that has no directory to work in: the current one was removed. One that -chdir
    names by an absolute path becomes the current one, because libraries ask for it.
    """
    try:
        Path.cwd()
    except OSError as problem:
        with suppress(OSError):
            if Path(invocation.directory).is_absolute():
                os.chdir(invocation.directory)
                return None
        why = f"The current directory cannot be used ({problem.strerror}): it was removed, perhaps."
        return error(codes.NO_SUCH_DIRECTORY, f"{why} Change to a directory that exists, and run it again.")
    return None


class _Failing:
    """Says why a command ends, in JSON where that was asked for."""

    def __init__(self, terminal: Terminal, arguments: Sequence[str], command: Command | None) -> None:
        self._terminal, self._arguments, self._command = terminal, arguments, command

    def end(
        self,
        diagnostics: Sequence[Diagnostic],
        code: ExitCode,
        sources: Mapping[str, Source] | None = None,
    ) -> int:
        if not self._wants_json():
            complain(self._terminal, diagnostics, sources)
            return int(code)
        try:
            self._in_json(diagnostics, sources or {})
        except (Failure, BrokenPipeError):  # standard output takes nothing, standard error may
            complain(self._terminal, diagnostics, sources)
        return int(code)

    def usage(self, problem: TyperException) -> int:
        # "Value error" is what the library says before the reason.
        text = one_dash(problem.format_message()).replace("Value error, ", "")
        if text.startswith("Usage:"):
            self._terminal.say(problem.format_message())  # a group without a command: the whole help
        elif self._wants_json():
            return self.end([error(codes.WRONG_USAGE, text)], ExitCode.USAGE)
        else:
            self._terminal.say(f"Error: {text}")
            self._terminal.say("Run flareiac -help, or flareiac COMMAND -help, to see what there is.")
        return int(ExitCode.USAGE)

    def _wants_json(self) -> bool:
        end = self._arguments.index("--") if "--" in self._arguments else None
        return "--json" in self._arguments[1:end]

    def _in_json(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
        if self._command is not None and self._command.json_lines:
            # Imported here: it brings the records of plans, which most commands do not need.
            from flareiac.render.ui_json import failure_lines

            begun = self._terminal.json_begun
            for line in failure_lines(diagnostics, tool_version=flareiac.__version__, begun=begun):
                self._terminal.out_json(line)
            return
        validating = self._arguments[0] == "validate"
        document = {"format_version": "1.0", "diagnostics": as_json(diagnostics, sources)}
        self._terminal.out(
            write_json(validate_json(diagnostics, sources) if validating else document, indent=2)
        )


@contextmanager
def _cancelled_by_signals(invocation: Invocation, *, reads_only: bool) -> Iterator[None]:
    """The first signal cancels: what only reads ends at once. A second one ends the process."""
    cancel, terminal = invocation.cancel, invocation.terminal
    relay = SignalRelay(cancel.set)  # before the first signal comes: a handler must not begin a thread

    def handle(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        if reads_only:
            # Nothing to bring to an end: work in this thread and questions in others are left where they are.
            with suppress(Exception):
                terminal.say("\nCancelled.")
            os._exit(int(ExitCode.CANCELLED))
        if terminal.is_asking:
            with suppress(Exception):
                terminal.say("\nCancelled. Nothing was done.")
            cancel.set()  # no lock of this event is held while a person is asked
            raise _Left
        relay(number, frame)
        terminal.say(
            "\nCancelling: what runs is brought to an end, nothing more is started. A second signal leaves "
            "at once."
        )

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        relay.close()


def _unexpected(problem: Exception, invocation: Invocation) -> Diagnostic:
    """The diagnostic of an exception that no code expected."""
    if os.environ.get("FLAREIAC_DEBUG"):
        invocation.terminal.say("".join(traceback.format_exception(problem)))
        return _bug(problem)
    # Imported here: only a failure needs it.
    from flareiac.app.state.edited_by_hand import edited_state

    return edited_state(invocation.root, problem) or _bug(problem)


def _bug(problem: Exception) -> Diagnostic:
    place = traceback.extract_tb(problem.__traceback__)[-1]
    what = " ".join(f"{type(problem).__name__}: {problem}".split())
    return error(
        codes.BUG,
        f"{what} (in {place.name}, {place.filename}:{place.lineno}). What an apply has done until now is in "
        "the state, and what it had begun is settled by the next one. Please report this together with the "
        "output under FLAREIAC_DEBUG=1.",
    )


def _held(held: LockHeld) -> Diagnostic:
    info = held.info
    until = dt.datetime.fromtimestamp(info.expires, dt.UTC).strftime("%H:%M:%S UTC")
    by = f" by the clock of {info.clock}" if info.clock else ""
    return error(
        codes.STATE_LOCKED,
        f"{info.owner} on {info.host} holds it for {info.operation} (lock {info.id}; it runs out at {until}"
        f"{by} unless renewed). Wait for it with -lock-timeout=60s; plan needs no lock.",
    )
