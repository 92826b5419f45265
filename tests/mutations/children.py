"""A child process that works through numbers and writes a line for each; it may die or hang."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

HANGING = 90.0
"""Seconds without a line after which a child counts as hanging."""


@dataclass(slots=True)
class Child:
    """A child that runs ``work`` with a stream for its lines. ``end`` says how it ended, once the lines have
    been read.
    """

    work: Callable[[TextIO], None]
    end: str = ""

    def lines(self) -> Iterator[bytes]:
        """The lines as they come; they stop where the child ends, and it is ended where none comes."""
        reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _run(self.work, writer)
        os.close(writer)
        try:
            yield from _lines(reader)
        finally:
            os.close(reader)
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
            exited = os.WIFEXITED(status)
            self.end = f"exit {os.WEXITSTATUS(status)}" if exited else f"signal {os.WTERMSIG(status)}"


def _run(work: Callable[[TextIO], None], writer: int) -> None:
    try:
        with os.fdopen(writer, "w", encoding="utf-8") as lines:
            work(lines)
    except BaseException as problem:  # noqa: BLE001 - this process must not go on as its parent does
        sys.stderr.write(f"{type(problem).__name__}: {problem}\n")
        os._exit(70)
    os._exit(0)


def _lines(reader: int) -> Iterator[bytes]:
    rest, until = b"", time.monotonic() + HANGING
    while select.select([reader], [], [], max(0.0, until - time.monotonic()))[0]:
        got = os.read(reader, 1 << 20)
        if not got:
            return
        *lines, rest = (rest + got).split(b"\n")
        yield from lines
        until = time.monotonic() + HANGING
