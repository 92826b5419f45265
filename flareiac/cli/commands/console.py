"""``console``: expressions on a prompt, or from standard input."""

import io
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Final

import typer

from flareiac.app.console import Console, is_unfinished, open_console
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.cli.terminal import Terminal
from flareiac.kernel.diagnostics import Severity
from flareiac.lang.values import string
from flareiac.render.console_text import type_text, value_json, value_text
from flareiac.render.diagnostics import diagnostic_json

_PROMPT: Final = "> "
_CONTINUED: Final = ". "
_ENDING: Final = frozenset({"exit", "quit"})
_HELP: Final = """\
Type an expression to see its value, type(EXPRESSION) to see its type. An open bracket or heredoc goes on in
the next line. Tab completes names. Ctrl-C leaves the line, exit or Ctrl-D the console.
"""


def console(
    invocation: Invocation,
    *,
    scope: Annotated[
        str | None,
        typer.Option("--scope", help="A module, such as module.sales: its names are seen.", metavar="MODULE"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One expression on each line, and one line of JSON for each.")
    ] = False,
    variables: VariableOptions,
) -> int:
    """Evaluates expressions. Changes nothing."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")  # no valid text has such an escape: that is said
    with opened(invocation, variables) as workspace:
        opened_console = open_console(workspace, scope)
        if as_json:
            return _json_lines(invocation.terminal, opened_console)
        if sys.stdin.isatty() and sys.stdout.isatty() and invocation.terminal.may_ask:
            return _prompt(invocation.terminal, opened_console)
        return _piped(invocation.terminal, opened_console)


def _json_lines(terminal: Terminal, console: Console) -> int:
    """Answers each line; those with an error do not end it, and make the exit code that of an error."""
    code = ExitCode.DONE
    for line in sys.stdin:
        answer = console.answer(line.rstrip("\r\n"))
        errors = [each for each in answer.diagnostics if each.severity is Severity.ERROR]
        if errors:
            code = ExitCode.ERROR
            terminal.out_json({"error": diagnostic_json(errors[0], answer.sources)})
        elif answer.value is not None:
            text = string(type_text(answer.value)) if answer.asks_type else answer.value
            terminal.out_json(value_json(text))
    return code


def _piped(terminal: Terminal, console: Console) -> int:
    """Answers the expressions of standard input up to the first one with an error."""
    for text in _expressions(lambda _prompt: next(sys.stdin, None)):
        if text.strip() in _ENDING:
            break
        if not _answered(terminal, console, text):
            return ExitCode.ERROR
    return ExitCode.DONE


def _prompt(terminal: Terminal, console: Console) -> int:
    """Answers a person. An error does not end it."""
    with _editing(console), _interrupting():
        while True:
            try:
                for text in _expressions(_typed):
                    if text.strip() in _ENDING:
                        return ExitCode.DONE
                    if text.strip() == "help":
                        terminal.out(_HELP)
                    else:
                        _answered(terminal, console, text)
            except KeyboardInterrupt:
                terminal.out("")
                continue
            terminal.out("")
            return ExitCode.DONE


def _expressions(read: Callable[[str], str | None]) -> Iterator[str]:
    """Yields one expression after the other; an open bracket or heredoc goes on in the next line. ``read``:
    a line after a prompt, None at the end.
    """
    text = ""
    while (line := read(_CONTINUED if text else _PROMPT)) is not None:
        text += line if line.endswith("\n") else line + "\n"
        if not text.strip():
            text = ""
        elif not is_unfinished(text):
            yield text
            text = ""
    if text:
        yield text


def _typed(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        return None


def _answered(terminal: Terminal, console: Console, text: str) -> bool:
    answer = console.answer(text)
    complain(terminal, answer.diagnostics, answer.sources)
    if answer.value is None:
        return False
    terminal.out(type_text(answer.value) if answer.asks_type else value_text(answer.value))
    return True


@contextmanager
def _editing(console: Console) -> Iterator[None]:
    """Gives the prompt a history, which ends with the command since expressions may hold secrets, and
    completion. A Python without the library for that reads plain lines.
    """
    try:
        # Imported here: it takes hold of the terminal, which no other command may have.
        import readline
    except ImportError:
        yield
        return
    names = sorted(console.names())

    def complete(word: str, state: int) -> str | None:
        with suppress(Exception):  # the library prints a traceback into the prompt
            return next((each for at, each in enumerate(_beginning(names, word)) if at == state), None)
        return None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n(){}+*/%,:=<>&|!?")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)


def _beginning(names: list[str], word: str) -> Iterator[str]:
    """Yields the names that begin with a word, up to the next dot."""
    dots = word.count(".")
    parts = (".".join(name.split(".")[: dots + 1]) for name in names if name.startswith(word))
    yield from dict.fromkeys(parts)


@contextmanager
def _interrupting() -> Iterator[None]:
    """Has Ctrl-C leave a line, or an evaluation, and not the command."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
