"""The terminal: results to standard output, everything else to standard error. Touches the process's streams."""

import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity, error
from flareiac.kernel.sources import Source
from flareiac.render.control_characters import visible


@dataclass(slots=True)
class Globals:
    """The options that every command takes, wherever they stand on the command line."""

    chdir: str = ""
    no_color: bool = False
    input: bool = True
    lock_timeout: str = "0s"
    command_line: tuple[str, ...] = ()
    begun: bool = False
    """Whether a line of JSON has been printed."""
    pointed: bool = False
    """Whether the page of an error has been named: once for a command is enough."""

    @property
    def root(self) -> Path:
        return Path(self.chdir or ".").resolve()


CURRENT = Globals()
"""Set once by ``main`` before a command runs."""


def colour(stream_is_terminal: bool | None = None) -> bool:
    """Whether to use colour on standard output (or on what the caller says of another stream)."""
    terminal = sys.stdout.isatty() if stream_is_terminal is None else stream_is_terminal
    return terminal and not CURRENT.no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns of the terminal; 100 where there is none, so that logs read the same everywhere."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100


def out(text: str) -> None:
    """A result. Raises ``Failure`` when there is no room for it, ``BrokenPipeError`` when nobody reads it any more."""
    _write(visible(text))


def out_as_is(text: str) -> None:
    """A result byte for byte, for a program to read; on a terminal as ``out``. Raises what ``out`` raises."""
    _write(visible(text) if sys.stdout.isatty() else text)


def out_json(line: Mapping[str, object]) -> None:
    """One line of JSON. Raises what ``out`` raises."""
    CURRENT.begun = True
    _write(visible(json.dumps(line)))


def _write(text: str) -> None:
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as trouble:
        raise Failure(error(codes.OUTPUT_NOT_WRITTEN, f"{trouble.strerror or trouble}.")) from trouble


def say(text: str) -> None:
    """Something for the person, not part of the result."""
    sys.stdout.flush()
    shown = visible(text)
    sys.stderr.write(shown if shown.endswith("\n") else shown + "\n")
    sys.stderr.flush()


def prepare() -> None:
    """Makes the three streams usable: a closed one reads and writes nothing, a character that one cannot encode is spelled out."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def complain(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
    """Diagnostics to standard error."""
    from flareiac.render.diagnostics import text

    found = list(diagnostics)
    if found:
        say(text(found, sources or {}, width=width(), colour=colour(sys.stderr.isatty())))
        _point_to_page(found)


def _point_to_page(found: Iterable[Diagnostic]) -> None:
    """Names the page of the first error that has one."""
    if CURRENT.pointed:
        return
    from flareiac.app.codes import code_page

    with suppress(Failure):  # two installed providers that exclude each other: then this is the error, and it has no page
        code = next((item.code for item in found if item.severity is Severity.ERROR and code_page(item.code)), None)
        if code is not None:
            CURRENT.pointed = True
            say(f"Run flareiac explain {code} to read more.")


def ask(question: str) -> bool:
    """A yes/no question; only "yes" is yes. No terminal, or -input=false, is no."""
    if not CURRENT.input or not sys.stdin.isatty():
        say(question)
        say("Cannot prompt for approval without a terminal. Use -auto-approve, or apply a saved plan.")
        return False
    say(question)
    sys.stderr.write('  Only "yes" is accepted: ')
    sys.stderr.flush()
    return sys.stdin.readline().strip() == "yes"
