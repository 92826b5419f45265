"""Ends Spark's JVM when its driver has not held the lease for most of its term: another driver may take over
then, and what this JVM still commits would be written twice.

A process of its own watches, because the driver cannot: it may hang, be stopped, or freeze with its whole
machine. The driver says with each renewal when it began that renewal; a byte that waited through a freeze
therefore counts as old as it is. Without this no check helps: between the last look at a table and the commit
any time may pass. What is left is a commit that the catalog already has before it at the moment of a freeze.
"""

import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

_SHARE = 0.75
"""The share of the lease's term after which the fence falls: the rest is for ending the JVM."""
_FORMAT = "d"
_LONGEST_LOOK = 1.0
_ROOT = str(Path(__file__).parents[2])
"""A folder of modules, or an archive of them."""
_RUN = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    f"runpy.run_module({__name__!r}, run_name='__main__')"
)


class Fence:
    """Watches one JVM from its making to ``end``. ``term``: that of the lease in seconds."""

    def __init__(self, jvm_pid: int, term: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _RUN, _ROOT, str(jvm_pid), str(term * _SHARE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.renewed(now())

    def renewed(self, begun: float) -> None:
        """The lease is good for a term from this moment (of ``now``) on."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has done its work
            os.write(self._process.stdin.fileno(), struct.pack(_FORMAT, begun))

    @property
    def has_fallen(self) -> bool:
        """Returns True if the fence has ended the JVM, or could not watch it."""
        return self._process.poll() is not None

    def end(self) -> None:
        """The JVM is no longer watched."""
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()


def now() -> float:
    """Seconds of a clock that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def watch(jvm: int, seconds: float) -> None:
    """The watching process, until its standard input is closed or the JVM had to be ended. ``jvm``: a
    descriptor of the process, so that no other one of the same number is ever meant.
    """
    size, pending, until = struct.calcsize(_FORMAT), b"", now() + seconds
    while now() < until:
        ready, _, _ = select.select([0], [], [], min(_LONGEST_LOOK, max(0.0, until - now())))
        if not ready or now() >= until:
            continue
        given = os.read(0, 4096)
        if not given:
            return
        pending += given
        while len(pending) >= size:
            until = struct.unpack(_FORMAT, pending[:size])[0] + seconds
            pending = pending[size:]
    signal.pidfd_send_signal(jvm, signal.SIGKILL)


if __name__ == "__main__":
    watch(os.pidfd_open(int(sys.argv[1])), float(sys.argv[2]))
