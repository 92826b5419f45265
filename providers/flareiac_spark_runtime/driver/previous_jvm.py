"""Waits until the JVM of the application that ran here before is gone. Nothing starts until then."""

import contextlib
import os
import signal
import time
from logging import Logger

from flareiac.kernel.host import Host, Sight, sight
from flareiac_spark_runtime.control import ProcessIdentity, Status, is_running

_PATIENCE_SECONDS = 20.0
"""A JVM whose driver was killed ends by itself within seconds; one that has not by then is stuck."""


def wait_until_gone(previous: Status | None, log: Logger) -> None:
    """Waits for the JVM of a dead driver on this host, and ends one that does not end."""
    if previous is None:
        return
    seen = previous.application
    if sight(seen.place or Host(name=seen.host), previous.heartbeat) is not Sight.HERE:
        return
    if seen.jvm_pid is None or seen.jvm_pid_started is None:
        return
    jvm, deadline = (
        ProcessIdentity(pid=seen.jvm_pid, started=seen.jvm_pid_started),
        time.monotonic() + _PATIENCE_SECONDS,
    )
    while is_running(jvm):
        if time.monotonic() > deadline:
            log.warning("the JVM %s of a dead driver does not end; killing it", jvm.pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(jvm.pid, signal.SIGKILL)
            deadline += _PATIENCE_SECONDS
        time.sleep(0.1)
