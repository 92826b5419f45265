"""A signal that comes amid a wait neither hangs nor ends the process that waits."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import environment

WAITING = """
import signal, threading
from flareiac.kernel.signals import SignalRelay

heard = threading.Event()
signal.signal(signal.SIGUSR1, SignalRelay(heard.set))
print("ready", flush=True)
times = 0
while times < 2_000:
    times += heard.wait(0.0001)
    heard.clear()
print("heard", flush=True)
"""


def test_a_signal_amid_a_wait_is_heard() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as waiting:
        assert waiting.stdout is not None
        assert waiting.stderr is not None
        assert waiting.stdout.readline() == "ready\n"
        while waiting.poll() is None:
            os.kill(waiting.pid, signal.SIGUSR1)
        assert (waiting.stdout.read(), waiting.stderr.read()) == ("heard\n", "")


EVALUATING = """
import os, signal, sys
from flareiac.app import workspace
from flareiac.cli.main import main

def load(*_arguments, **_options):
    os.kill(os.getpid(), signal.{name})
    while True:
        pass

workspace.load_configuration = load
main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("command", ["validate", "plan", "drift", "doctor"])
def test_the_first_signal_ends_what_changes_nothing(tmp_path: Path, command: str, name: str) -> None:
    words = [sys.executable, "-c", EVALUATING.format(name=name), command]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 8, done
    assert done.stderr.strip() == "Cancelled."
