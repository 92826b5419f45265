"""Two commands at once, and signals: who has to wait is told for whom, and what was begun is brought to an
end and recorded.
"""

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac

SLOW = """
thing "a" {
  value    = "1"
  wait_for = "go"
}
thing "b" {
  value = "2"
  needs = [thing.a]
}
"""


@contextlib.contextmanager
def running(root: Path, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that goes on beside the test; its output is in ``log``."""
    with (root / "log").open("w") as log:
        command = arguments(*words)
        with subprocess.Popen(
            command, cwd=root, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()


def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, for as long as a busy machine may need."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_who_holds_the_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(SLOW)
    with running(tmp_path, "apply", "-auto-approve") as first:
        until(lambda: "thing.a: Creating" in (tmp_path / "log").read_text())
        second = flareiac(tmp_path, "apply", "-auto-approve")
        assert second.code == 5, second.text
        assert "FIS010" in second.err
        assert "for apply" in second.err
        assert flareiac(tmp_path, "plan").code == 0
        (tmp_path / "go").touch()
        assert first.wait(timeout=60) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_what_runs_and_starts_nothing_more(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "main.flare.hcl").write_text(SLOW)
    with running(tmp_path, "apply", "-auto-approve") as process:
        until(lambda: "thing.a: Creating" in (tmp_path / "log").read_text())
        process.send_signal(number)
        until(lambda: "Cancelling" in (tmp_path / "log").read_text())
        (tmp_path / "go").touch()
        assert process.wait(timeout=60) == 8, (tmp_path / "log").read_text()
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.a"]
    again = flareiac(tmp_path, "apply", "-auto-approve")
    assert again.code == 0, again.text
    assert "Resources: 1 added" in again.out
    assert "interrupted" not in again.text


def test_what_was_cancelled_does_not_count_as_failed(tmp_path: Path) -> None:
    impatient = 'thing "c" {\n  value    = "impatient"\n  wait_for = "never"\n}\n'
    (tmp_path / "main.flare.hcl").write_text(SLOW + impatient)
    with running(tmp_path, "apply", "-auto-approve") as process:
        until(lambda: (tmp_path / "log").read_text().count("Creating...") == 2)
        process.send_signal(signal.SIGINT)
        until(lambda: "cancelled, not confirmed" in (tmp_path / "log").read_text())
        (tmp_path / "go").touch()
        assert process.wait(timeout=60) == 8, (tmp_path / "log").read_text()
    said = (tmp_path / "log").read_text()
    assert "Apply incomplete: 1 done, 0 failed, 1 cancelled, not confirmed, 1 skipped." in said


def test_a_change_that_is_cancelled_between_its_stages_is_not_left_open(tmp_path: Path) -> None:
    first = 'thing "a" {\n  value = "1"\n  wait_for = "go"\n  stages = ["wipe", "start"]\n}\n'
    (tmp_path / "main.flare.hcl").write_text(first)
    with running(tmp_path, "apply", "-auto-approve") as process:
        until(lambda: "thing.a: Wipe thing.a..." in (tmp_path / "log").read_text())
        process.send_signal(signal.SIGINT)
        until(lambda: "Cancelling" in (tmp_path / "log").read_text())
        (tmp_path / "go").touch()
        assert process.wait(timeout=60) == 8, (tmp_path / "log").read_text()
    said = (tmp_path / "log").read_text()
    assert "Wipe thing.a: complete" in said
    assert "thing.a: Skipped (start thing.a): the apply was cancelled" in said
    assert "interrupted" not in flareiac(tmp_path, "plan").text
    again = flareiac(tmp_path, "apply", "-auto-approve")
    assert again.code == 0, again.text
    assert (tmp_path / ".toy" / "stages.log").read_text().split() == [
        *("thing.a", "wipe", "0"),
        *("thing.a", "wipe", "0"),
        *("thing.a", "start", "1"),
    ]


def test_nobody_who_stops_reading_stops_an_apply(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(SLOW)
    command = arguments("apply", "-auto-approve")
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert any("thing.a: Creating" in line for line in iter(process.stdout.readline, ""))
        process.stdout.close()
        (tmp_path / "go").touch()
        process.wait(timeout=60)
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.a", "thing.b"]
    assert "interrupted" not in flareiac(tmp_path, "plan").text
