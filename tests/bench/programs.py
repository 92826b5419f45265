"""Runs programs and measures them: wall time, processor time, peak memory.

Two programs are run in turns, so that both meet the same machine.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

IDLE_PROVIDER = Path(__file__).parent / "idle_dist"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Seconds and megabytes of one run of a program."""

    wall: float
    processor: float
    memory: float
    output: str


_MEASURES: Final = """
import json, os, sys, time
started = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
figures = [time.perf_counter() - started, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]
os.write(int(sys.argv[1]), json.dumps(figures).encode())
"""
"""A program counts the memory of the process that started it as its own (Linux takes over the peak at exec),
so a small one starts it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program as it is started."""

    words: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str]

    def run(self) -> Run:
        """Runs it to its end. Raises ``RuntimeError`` with its output when it fails."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as measured:
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", _MEASURES, str(measured.fileno()), *self.words],
                cwd=self.directory,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[measured.fileno()],
                check=True,
            )
            output.seek(0)
            measured.seek(0)
            text = output.read().decode(errors="replace")
            wall, status, processor, memory = json.load(measured)
        if code := os.waitstatus_to_exitcode(int(status)):
            raise RuntimeError(f"{' '.join(self.words)} ended with {code}:\n{text[-4000:]}")
        return Run(wall=wall, processor=processor, memory=_megabytes(memory), output=text)


def flareiac(directory: Path, *words: str, cache: Path | None = None, idle: bool = False) -> Command:
    """FlareIaC's command line in a project; ``idle`` with the provider that does nothing, ``cache`` for a
    cache directory of its own.
    """
    environment = {**os.environ, "NO_COLOR": "1"}
    if idle:
        environment["PYTHONPATH"] = str(IDLE_PROVIDER)
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    program = Path(sys.executable).parent / "flareiac"
    return Command(words=(str(program), *words), directory=directory, environment=environment)


def terraform(directory: Path, *words: str) -> Command | None:
    """Terraform in a project, or None where it is not on PATH. Its user configuration is left out."""
    program = shutil.which("terraform")
    if program is None:
        return None
    settings = directory / "terraform.rc"
    settings.touch()
    environment = {
        **os.environ,
        "TF_CLI_CONFIG_FILE": str(settings),
        "CHECKPOINT_DISABLE": "1",
        "TF_IN_AUTOMATION": "1",
    }
    return Command(words=(program, *words), directory=directory, environment=environment)


def in_turns(
    rounds: int, commands: Sequence[Command], before: Callable[[], None] | None = None
) -> list[list[Run]]:
    """The runs of each command; ``before`` is called before every single run."""
    runs: list[list[Run]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, found in zip(commands, runs, strict=True):
            if before is not None:
                before()
            found.append(command.run())
    return runs


def median_wall(runs: Sequence[Run]) -> float:
    return statistics.median(run.wall for run in runs)


def median_processor(runs: Sequence[Run]) -> float:
    """Seconds of CPU: other work on the machine changes them least."""
    return statistics.median(run.processor for run in runs)


def spread(runs: Sequence[Run]) -> dict[str, object]:
    """The figures beside a median: the load of the machine, and the seconds of CPU of each run."""
    return {
        "load": round(os.getloadavg()[0], 1),
        "processor seconds": [round(run.processor, 2) for run in runs],
    }


def peak_memory(runs: Sequence[Run]) -> float:
    return max(run.memory for run in runs)


def _megabytes(memory: float) -> float:
    return memory / (1024 if sys.platform == "linux" else 1024 * 1024)
