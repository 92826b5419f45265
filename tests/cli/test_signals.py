"""A signal that comes amid a wait neither hangs nor ends the process that waits."""

import os
import signal
import subprocess
import sys

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
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        assert waiting.stderr is not None
        assert waiting.stdout.readline() == "ready\n"
        while waiting.poll() is None:
            os.kill(waiting.pid, signal.SIGUSR1)
        assert (waiting.stdout.read(), waiting.stderr.read()) == ("heard\n", "")
