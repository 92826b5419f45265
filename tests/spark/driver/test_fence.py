"""The JVM of a driver that was stopped, hangs or froze ends before another driver may take over."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from flareiac_spark_runtime.driver import fence
from flareiac_spark_runtime.driver.fence import Fence

DEADLINE = 30.0


@pytest.fixture
def victim() -> Iterator["subprocess.Popen[bytes]"]:
    """Stands for the JVM."""
    process = subprocess.Popen(["sleep", "600"])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ended(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(DEADLINE)
    except subprocess.TimeoutExpired:
        return False
    return True


def test_a_lease_that_is_renewed_keeps_it(victim: "subprocess.Popen[bytes]") -> None:
    watch = Fence(victim.pid, 2.0)
    until = time.monotonic() + 4.0
    while time.monotonic() < until:
        watch.renewed(fence.now())
        time.sleep(0.05)
    assert victim.poll() is None
    watch.end()
    assert victim.poll() is None


def test_a_driver_that_says_nothing_loses_it(victim: "subprocess.Popen[bytes]") -> None:
    watch = Fence(victim.pid, 1.0)
    assert ended(victim)
    watch.renewed(fence.now())
    watch.end()


def test_a_driver_that_is_gone_leaves_it_to_itself(victim: "subprocess.Popen[bytes]") -> None:
    """A JVM ends with its driver; one that does not is ended by the next driver on the host."""
    Fence(victim.pid, 600.0).end()
    assert victim.poll() is None


def test_what_was_said_before_a_freeze_counts_as_old_as_it_is(victim: "subprocess.Popen[bytes]") -> None:
    """The watching process stands still with all others, and a renewal waits for it."""
    watch = Fence(victim.pid, 4.0)
    pid = watch._process.pid
    os.kill(pid, signal.SIGSTOP)
    watch.renewed(fence.now())
    time.sleep(4.0)
    os.kill(pid, signal.SIGCONT)
    assert ended(victim)
    watch.end()


def test_another_process_of_the_same_number_is_never_ended() -> None:
    gone = subprocess.Popen(["sleep", "600"])
    watch = Fence(gone.pid, 600.0)
    gone.kill()
    gone.wait()
    watch.end()
    late = Fence(gone.pid, 600.0)
    assert late._process.wait(DEADLINE) != 0, "there is no such process to watch"
    late.end()
