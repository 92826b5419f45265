"""The terminal: results to standard output, the rest to standard error. Touches the process's streams."""

import io
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from flareiac.kernel import codes
from flareiac.kernel.data import write_json
from flareiac.kernel.diagnostics import Failure, Severity, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.render.control_characters import visible


def prepare_output() -> None:
    """Makes the streams usable: a closed one reads and writes nothing, odd characters are spelled out."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - open as long as the process
            setattr(sys, name, nothing)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@dataclass(slots=True, kw_only=True)
class Terminal:
    """The terminal on which a command prints and asks."""

    no_color: bool = False
    may_ask: bool = True
    json_begun: bool = False
    """True if a line of JSON has been printed."""
    is_asking: bool = False
    """True while it waits for an answer: a signal then ends the command at once, for nothing is under way."""
    page_named: Severity | None = None
    """The severity of the complaint whose page has been named; None while none has."""

    def colour(self, stream_is_terminal: bool | None = None) -> bool:
        """Returns True if standard output takes colour, or another stream of which the caller says whether it
        is a terminal.
        """
        terminal = sys.stdout.isatty() if stream_is_terminal is None else stream_is_terminal
        unwanted = self.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return terminal and not unwanted

    def animated(self) -> bool:
        """Returns True if standard output can be drawn over: a terminal that a person looks at."""
        return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")

    def width(self) -> int:
        """Columns of the terminal; 100 where there is none, so that logs read the same everywhere."""
        return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100

    def columns(self) -> int | None:
        """Columns of the terminal; None where there is none, so that a table keeps its lines in a file."""
        return self.width() if sys.stdout.isatty() else None

    def out(self, text: str) -> None:
        """Prints a result. Raises ``Failure`` where there is no room, ``BrokenPipeError`` where its reader is
        gone.
        """
        _write(visible(text, colour=self.colour()))

    def out_as_is(self, text: str) -> None:
        """Prints a result byte for byte; on a terminal as ``out``. Raises what ``out`` raises."""
        _write(visible(text) if sys.stdout.isatty() else text)

    def out_exactly(self, text: str) -> None:
        """Prints the text of a file byte for byte, without a newline that it does not have; on a terminal as
        ``out``. Raises what ``out`` raises.
        """
        if sys.stdout.isatty() or not isinstance(sys.stdout, io.TextIOWrapper):
            _write(visible(text))
        else:
            sys.stdout.flush()
            with _no_room():
                sys.stdout.buffer.write(text.encode())
                sys.stdout.buffer.flush()

    def out_json(self, line: Mapping[str, object]) -> None:
        """Prints one line of JSON. Raises what ``out`` raises."""
        self.json_begun = True
        _write(visible(write_json(line)))

    def say(self, text: str) -> None:
        """Something for the person, not part of the result."""
        sys.stdout.flush()
        shown = visible(text, colour=self.colour(sys.stderr.isatty()))
        sys.stderr.write(shown if shown.endswith("\n") else shown + "\n")
        sys.stderr.flush()

    def ask(self, question: str, way_out: str = "Use -auto-approve, or apply a saved plan.") -> bool:
        """A yes/no question; only "yes" is yes. No terminal, or -input=false, is no."""
        self.say(question)
        if not self.may_ask or not sys.stdin.isatty():
            self.say(f"Cannot prompt for approval without a terminal. {way_out}")
            return False
        sys.stderr.write('  Only "yes" is accepted: ')
        sys.stderr.flush()
        self.is_asking = True
        try:
            return sys.stdin.readline().strip() == "yes"
        finally:
            self.is_asking = False


def _write(text: str) -> None:
    with _no_room():
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()


@contextmanager
def _no_room() -> Iterator[None]:
    """Turns what a full disk answers into ``Failure``; a reader that is gone stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise Failure(error(codes.OUTPUT_NOT_WRITTEN, f"{problem.strerror or problem}.")) from problem
