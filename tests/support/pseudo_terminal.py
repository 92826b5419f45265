"""A command on a pseudo terminal, and what a person would see there."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.command_line import arguments, environment

_TOKEN = re.compile(r"\x1b\[(?P<numbers>[?\d;]*)(?P<letter>[A-Za-z])|(?P<text>[\s\S])")


@dataclass(slots=True)
class Screen:
    """The output of a command on its terminal, and the command."""

    process: "subprocess.Popen[bytes]"
    columns: int
    terminal: int
    written: bytes = b""

    def read(self) -> bool:
        """Takes what is there, waiting a moment for it; False when the command has closed its terminal."""
        if not select.select([self.terminal], [], [], 0.05)[0]:
            return True
        try:
            found = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.written += found
        return bool(found)

    def until(self, condition: Callable[[], bool]) -> None:
        """Reads until the condition holds, for as long as a busy machine may need."""
        deadline = time.monotonic() + 120
        while not condition():
            if not self.read():
                self.process.wait(timeout=60)
                assert condition(), self.text
                return
            assert time.monotonic() < deadline, self.text

    def type(self, text: str) -> None:
        """Types on the keyboard."""
        os.write(self.terminal, text.encode())

    def end(self) -> int:
        """Reads to the end; the exit code of the command."""
        self.until(lambda: self.process.poll() is not None)
        while select.select([self.terminal], [], [], 0)[0] and self.read():
            pass
        return self.process.wait(timeout=60)

    @property
    def text(self) -> str:
        """Everything that was written, with its control sequences."""
        return self.written.decode(errors="replace")

    @property
    def lines(self) -> list[str]:
        """The lines on the screen now, as far as they were ever written; the cursor's movements are
        followed.
        """
        rows: list[list[str]] = [[]]
        row = column = 0
        for token in _TOKEN.finditer(self.text):
            match token["letter"], token["text"]:
                case "A", _:
                    row = max(0, row - int(token["numbers"] or 1))
                case "K", _:
                    rows[row] = []
                case None, "\r":
                    column = 0
                case None, "\n":
                    row += 1
                case None, str(character):
                    if column == self.columns:
                        row, column = row + 1, 0
                    rows.extend([] for _ in range(row + 1 - len(rows)))
                    rows[row].extend(" " for _ in range(column + 1 - len(rows[row])))
                    rows[row][column] = character
                    column += 1
                case _:  # colours, and the cursor shown or hidden
                    pass
            rows.extend([] for _ in range(row + 1 - len(rows)))
        return ["".join(row).rstrip() for row in rows]


@contextmanager
def on_terminal(
    root: Path, *words: str, columns: int = 80, rows: int = 24, variables: Mapping[str, str] | None = None
) -> Iterator[Screen]:
    """Runs a command with a terminal for all its streams; it ends with the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    whole = environment(**{"TERM": "xterm-256color", "NO_COLOR": "", **(variables or {})})
    whole = {name: value for name, value in whole.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        arguments(*words),
        cwd=root,
        env=whole,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - ctrl-c is a signal
    )
    os.close(theirs)
    try:
        yield Screen(process, columns, ours)
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            os.close(ours)
