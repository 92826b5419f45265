"""Masks secrets in what this process and its JVM print. Touches the process's descriptors.

Spark and Iceberg log through the standard output of the JVM, which is a child and inherits the pipes made
here. A JVM that runs this process (``spark-submit``) has its own output, which nothing here can see.
"""

import os
import select
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from flareiac.sdk.secrets import masked

_AT_ONCE: Final = 64 * 1024
_PARTIAL_SECONDS: Final = 0.5
"""So long a line may take to end before its beginning is written."""
_LAST_SECONDS: Final = 2.0
"""So long the last lines may take at the end, where something else keeps the pipe open."""


@contextmanager
def masked_output() -> Iterator[None]:
    """Both outputs pass a thread of this process until the end; what was printed by then is written."""
    pumps = [_Pump(number) for number in (1, 2)]
    try:
        yield
    finally:
        for pump in pumps:
            pump.end()


class _Pump:
    """Copies one output line by line. Never raises: an output that takes nothing ends no driver."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._out = os.dup(number)
        self._in, writing = os.pipe()
        os.dup2(writing, number)
        os.close(writing)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._copy, name=f"output {number}", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Gives the output back, and waits for the last lines."""
        with suppress(OSError, ValueError):
            (sys.stdout if self._number == 1 else sys.stderr).flush()
        os.dup2(self._out, self._number)
        self._ending.set()
        self._thread.join(_LAST_SECONDS)

    def _copy(self) -> None:
        rest = b""
        while True:
            ending = self._ending.is_set()
            ready = select.select([self._in], [], [], 0 if ending else _PARTIAL_SECONDS)[0]
            given = os.read(self._in, _AT_ONCE) if ready else b""
            lines, newline, part = (rest + given).rpartition(b"\n")
            # A line without an end is held back while more of it comes: a secret in it must not be cut.
            whole = lines + newline if given and len(part) < _AT_ONCE else rest + given
            rest = part if given and len(part) < _AT_ONCE else b""
            self._write(whole)
            if (ready and not given) or (ending and not ready):
                return

    def _write(self, text: bytes) -> None:
        if not text:
            return
        shown = masked(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        view = memoryview(shown)
        with suppress(OSError):
            while view:
                view = view[os.write(self._out, view) :]
