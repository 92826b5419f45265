"""Named points at which a test can have the process killed, or one attempt fail, to prove that nothing is
lost there. Unset, a point costs one look.

``FLAREIAC_KILL_AT=apply.intent:3`` sends SIGKILL the third time that ``apply.intent`` is reached;
``FLAREIAC_FAIL_AT`` raises ``Interrupted`` there instead, which ends the attempt as a lost connection would.
Both take several, parted by commas, of one point too; ``driver.in-merge@daily:2`` counts the times of one
output (or job) alone. The points of a micro-batch in the Spark driver, in their order::

    driver.batch-begun             nothing of the batch is written
    driver.before-output-write     this output is not written, those before it are
    driver.in-merge                the merge is put together, its statement not run
    driver.after-output-write      Iceberg has the commit, Spark's log of commits does not
    driver.between-outputs         as before, and another output of the same batch is still to be written
    driver.before-commit-log       every output is written, Spark's log of commits does not say so

A merge with tombstones passes those of ``tombstones.NAME`` before those of its output ``NAME``.
"""

import os
import signal
import threading
from collections import Counter


class Interrupted(Exception):
    """A test wanted it so."""


def _wanted(variable: str) -> frozenset[tuple[str, int]]:
    """The points, each with the time at which it is meant."""
    listed = (
        word.rpartition(":") if word.rpartition(":")[2].isdigit() else (word, ":", "1")
        for word in _words(variable)
    )
    return frozenset((name, int(count)) for name, _, count in listed)


def _words(variable: str) -> list[str]:
    return [word.strip() for word in os.environ.get(variable, "").split(",") if word.strip()]


_KILL, _FAIL = _wanted("FLAREIAC_KILL_AT"), _wanted("FLAREIAC_FAIL_AT")
_reached: Counter[str] = Counter()
_lock = threading.Lock()


def look_again() -> None:
    """Takes the points that the environment has now: a forked process has another one than its parent."""
    global _KILL, _FAIL
    _KILL, _FAIL = _wanted("FLAREIAC_KILL_AT"), _wanted("FLAREIAC_FAIL_AT")


def reach(name: str, of: str = "") -> None:
    """Says that execution is at this point, of an output or job if there are several."""
    if not _KILL and not _FAIL:
        return
    for point in (name, f"{name}@{of}"):
        with _lock:
            _reached[point] += 1
            times = _reached[point]
        if (point, times) in _KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if (point, times) in _FAIL:
            raise Interrupted(f"interrupted at {point}, time {times}")
