"""The terminal: results to standard output, everything else to standard error. Touches the process's streams."""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.sources import Source


@dataclass(slots=True)
class Globals:
    """The options that every command takes, wherever they stand on the command line."""

    chdir: str = ""
    no_color: bool = False
    input: bool = True
    lock_timeout: str = "0s"
    command_line: tuple[str, ...] = ()

    @property
    def root(self) -> Path:
        return Path(self.chdir or ".").resolve()


CURRENT = Globals()
"""Set once by ``main`` before a command runs."""


def colour(stream_is_terminal: bool | None = None) -> bool:
    """Whether to use colour on standard output (or on what the caller says of another stream)."""
    terminal = sys.stdout.isatty() if stream_is_terminal is None else stream_is_terminal
    return terminal and not CURRENT.no_color and not os.environ.get("NO_COLOR")


def width() -> int:
    """Columns of the terminal; 100 where there is none, so that logs read the same everywhere."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100


def out(text: str) -> None:
    """A result. Raises ``Failure`` when there is no room for it, ``BrokenPipeError`` when nobody reads it any more."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as trouble:
        raise Failure(error("FIX033", "The output can not be written", f"Standard output: {trouble.strerror or trouble}.")) from trouble


def say(text: str) -> None:
    """Something for the person, not part of the result."""
    sys.stdout.flush()
    sys.stderr.write(text if text.endswith("\n") else text + "\n")
    sys.stderr.flush()


def complain(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
    """Diagnostics to standard error."""
    from flareiac.render.diagnostics import text

    found = list(diagnostics)
    if found:
        say(text(found, sources or {}, width=width(), colour=colour(sys.stderr.isatty())))


def ask(question: str) -> bool:
    """A yes/no question; only "yes" is yes. No terminal, or -input=false, is no."""
    if not CURRENT.input or not sys.stdin.isatty():
        say(question)
        say("There is nobody to ask: use -auto-approve, or apply a saved plan.")
        return False
    say(question)
    sys.stderr.write('  Only "yes" is accepted: ')
    sys.stderr.flush()
    return sys.stdin.readline().strip() == "yes"
