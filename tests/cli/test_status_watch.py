"""``status -watch``: redrawn on a terminal, one block after the other elsewhere, until it is interrupted."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment
from tests.support.pseudo_terminal import on_terminal


def test_a_watched_status_is_drawn_over_itself(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "status", "-watch") as screen:
        screen.until(lambda: screen.text.count("No jobs are recorded.") >= 2)
        assert sum("No jobs are recorded." in line for line in screen.lines) == 1
        screen.type("\x03")
        assert screen.end() == 0, screen.text
        assert "Cancelled" not in screen.text
        assert screen.lines.count("No jobs are recorded.") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("words", [(), ("-json",)], ids=["text", "json"])
def test_without_a_terminal_a_watched_status_is_one_block_after_the_other(
    tmp_path: Path, words: tuple[str, ...], number: signal.Signals
) -> None:
    command = arguments("status", "-watch", *words)
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        if words:
            first = "".join(iter(process.stdout.readline, "}\n")) + "}"
            assert json.loads(first)["jobs"] == []
        else:
            assert [process.stdout.readline() for _ in range(3)] == [
                "No jobs are recorded.\n",
                "\n",
                "No jobs are recorded.\n",
            ]
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(timeout=60) == 0
        assert "\x1b" not in rest
