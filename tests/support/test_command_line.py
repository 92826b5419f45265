"""A command that is a fork of a process with the program's imports is the command that a user starts."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.command_line import Ended, environment, started
from tests.support.forks import Forks

PROJECT = 'thing "a" { value = "1" }\noutput "a" { value = thing.a.value }\n'
COMMANDS = [
    ("version",),
    ("validate", "-json"),
    ("apply",),
    ("apply", "-auto-approve"),
    ("plan", "-detailed-exitcode"),
    ("output", "-json"),
    ("state", "show", "thing.b"),
    ("no-such-command",),
]
WATCH = ("status", "-watch")


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    made = Forks(environment())
    yield made
    made.end()


def test_forked_and_started_commands_answer_alike(tmp_path: Path, forks: Forks) -> None:
    def forked(root: Path, *words: str, **extra: str) -> Ended:
        code, out, err = forks.run(root, words, environment(**extra), timeout=120)
        return Ended(code=code, out=out.decode(), err=err.decode())

    def story(root: Path, run: Callable[..., Ended]) -> list[Ended]:
        root.mkdir()
        (root / "main.flare.hcl").write_text(PROJECT)
        return [run(root, *words) for words in COMMANDS]

    assert story(tmp_path / "forked", forked) == story(tmp_path / "started", started)


def test_commands_run_side_by_side_each_in_its_own_folder(tmp_path: Path, forks: Forks) -> None:
    def value(number: int) -> tuple[int, bytes, bytes]:
        root = tmp_path / str(number)
        root.mkdir()
        (root / "main.flare.hcl").write_text(f'output "n" {{ value = "{number}" }}\n')
        applied = forks.run(root, ["apply", "-auto-approve"], environment(), timeout=120)
        assert applied[0] == 0, applied
        return forks.run(root, ["output", "-raw", "n"], environment(), timeout=120)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(value, range(8)))
    assert [(code, out.strip()) for code, out, _err in found] == [(0, str(n).encode()) for n in range(8)]


def test_a_command_has_the_variables_that_it_is_given(tmp_path: Path, forks: Forks) -> None:
    (tmp_path / "main.flare.hcl").write_text('variable "n" {}\noutput "n" { value = var.n }\n')
    given = {**environment(), "FLAREIAC_VAR_n": "of this command"}
    assert b"of this command" in forks.run(tmp_path, ["plan"], given, timeout=120)[1]
    assert forks.run(tmp_path, ["plan"], environment(), timeout=120)[0] == 1


def test_a_command_dies_at_the_point_that_it_is_given(tmp_path: Path, forks: Forks) -> None:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    deadly = environment(FLAREIAC_KILL_AT="apply.before-result")
    assert forks.run(tmp_path, ["apply", "-auto-approve"], deadly, timeout=120)[0] == -9
    assert forks.run(tmp_path, ["apply", "-auto-approve"], environment(), timeout=120)[0] == 0


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path, forks: Forks) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        forks.run(tmp_path, WATCH, environment(), timeout=3)
    until(lambda: not processes_in(tmp_path))


def test_commands_end_with_the_process_that_forks_them(tmp_path: Path) -> None:
    forks = Forks(environment())
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(forks.run, tmp_path, WATCH, environment(), timeout=120)
        until(lambda: bool(processes_in(tmp_path)))
        forks.end()
        with pytest.raises(AssertionError, match="has ended"):
            watching.result()
    until(lambda: not processes_in(tmp_path))


def processes_in(folder: Path) -> list[Path]:
    """Processes whose working directory is this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if process.readlink() == folder:
                found.append(process.parent)
    return found


def until(answer: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not answer():
        assert time.monotonic() < deadline
        time.sleep(0.02)
