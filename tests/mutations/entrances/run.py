"""Throws many inputs at entrances, in contained processes with bounds on time and memory, and says which of
them did not end well.
"""

import contextlib
import io
import json
import os
import random
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TextIO

from tests.mutations.children import HANGING, Child
from tests.mutations.contain import bound_memory, contain
from tests.mutations.entrances.entrance import Entrance

LONGEST = 10.0
"""Seconds of work that one input may take."""
BATCH = 2_000
"""Inputs of one process. A command that ends with its process may keep what libraries remember (PyIceberg's types,
Typer's commands: 170 KiB a command), and many of them in one process come to its bound on memory.
"""
_MEMORY = 2**30
"""Bytes for the inputs of one process, beside what the program has when it begins."""
_DONE = "done "


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """An input that did not end well, repeated by entrance, seed and number. ``place`` is the innermost line
    of the product that raised.
    """

    entrance: str
    number: int
    what: str
    place: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A process that came to its end; ``slowest`` input in seconds."""

    slowest: float


class NotContained(Exception):
    """An entrance whose inputs are at a fixed place, where that place cannot be this process's alone."""


class TooLong(BaseException):
    """An input that takes longer than ``LONGEST``. No handler of errors catches it."""


def throw(entrance: Entrance, numbers: range, seed: int) -> Generator[Fall | Passed, None, None]:
    """Throws inputs at one entrance. Yields each that did not end well, and each process that came to its
    end.
    """
    begun = numbers.start
    while begun < numbers.stop:
        batch = range(begun, min(begun + BATCH, numbers.stop))
        begun = yield from _batch(entrance, batch, seed)


def _batch(entrance: Entrance, numbers: range, seed: int) -> Generator[Fall | Passed, None, int]:
    """Returns the number that the next process begins with: one that dies or hangs is left out."""
    with tempfile.TemporaryDirectory(prefix="flareiac-entrance-", dir=_memory()) as folder:
        child = Child(lambda lines: _work(entrance, numbers, seed, Path(folder), lines))
        current: int | None = None
        for line in child.lines():
            text = line.decode()
            if text.startswith(_DONE):
                yield Passed(slowest=float(text.removeprefix(_DONE)))
                return numbers.stop
            if text.startswith("{"):
                yield Fall(**json.loads(text))
            else:
                current = int(text)
    if current is None:
        raise RuntimeError(f"{entrance.name} cannot be opened: {child.end}")
    what = f"no end after {HANGING:.0f} s, or the process ended by itself: {child.end}"
    yield Fall(entrance=entrance.name, number=current, what=what)
    return current + 1


def _memory() -> Path | None:
    """A folder in memory where the system has one: most inputs are a file, and disks are slow."""
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) else None


def _work(entrance: Entrance, numbers: range, seed: int, folder: Path, lines: TextIO) -> None:
    contained = contain(folder, entrance.memory)
    if entrance.memory is not None and not contained:
        raise NotContained(f"{entrance.name}: this needs a process with folders of its own (root)")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None
    (folder / "entrance").mkdir()
    with _quiet():
        gate = entrance.open(folder / "entrance")
        bound_memory(_MEMORY)
        slowest = 0.0
        for number in numbers:
            lines.write(f"{number}\n")
            lines.flush()
            begun = time.process_time()
            try:
                given = gate.make(random.Random(f"{seed}/{entrance.name}/{number}"))
            except RecursionError:
                continue  # nested too deeply for the maker itself
            try:
                with _bounded_time():
                    gate.enter(given)
            except BaseException as problem:  # noqa: BLE001 - whatever it is, it is what is looked for
                lines.write(json.dumps(asdict(_fall(entrance.name, number, problem))) + "\n")
            slowest = max(slowest, time.process_time() - begun)
    lines.write(f"{_DONE}{slowest}\n")


def _fall(name: str, number: int, problem: BaseException) -> Fall:
    frames = traceback.extract_tb(problem.__traceback__)
    ours = [frame for frame in frames if "/flareiac" in frame.filename and "/tests/" not in frame.filename]
    return Fall(
        entrance=name,
        number=number,
        what=f"{type(problem).__name__}: {problem}"[:1000],
        place=f"{ours[-1].filename}:{ours[-1].lineno}" if ours else "",
        trace="".join(traceback.format_exception(problem))[-4000:],
    )


@contextlib.contextmanager
def _bounded_time() -> Generator[None, None, None]:
    """Work counts, not waiting: other processes may have the processor."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooLong(f"no end after {LONGEST:.0f} s")

    signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextlib.contextmanager
def _quiet() -> Generator[None, None, None]:
    """Hides the output and the warnings of libraries."""
    nothing = io.StringIO()
    with (
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(nothing),
        warnings.catch_warnings(action="ignore"),
    ):
        yield
