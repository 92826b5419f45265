"""Does an application live? Its heartbeat speaks where it is fresh; where it is not, only the operating system can tell."""

import socket
import time
from enum import StrEnum

from flareiac_spark.control import ProcessIdentity, Status, is_running

FRESH_SECONDS = 20.0
"""A heartbeat comes every 2 s; a busy machine may delay some."""


class Liveness(StrEnum):
    ALIVE = "alive"
    UNKNOWN = "unknown"
    """Its process is there (or on another host) and has said nothing for a while."""
    GONE = "gone"


def liveness(status: Status | None, *, now: float | None = None) -> Liveness:
    """What the last status and this host's processes tell together."""
    if status is None or status.application.phase == "ended":
        return Liveness.GONE
    about = status.application
    here = about.host == socket.gethostname()
    if here and not is_running(ProcessIdentity(pid=about.pid, started=about.pid_started)):
        return Liveness.GONE
    fresh = (time.time() if now is None else now) - status.heartbeat < FRESH_SECONDS
    return Liveness.ALIVE if fresh else Liveness.UNKNOWN


def is_alive(status: Status | None, *, now: float | None = None) -> bool:
    """Whether the application certainly runs; ``liveness`` tells "gone" from "unknown"."""
    return liveness(status, now=now) is Liveness.ALIVE


def driver_of(status: Status) -> ProcessIdentity:
    return ProcessIdentity(pid=status.application.pid, started=status.application.pid_started)


def jvm_of(status: Status) -> ProcessIdentity | None:
    about = status.application
    if about.jvm_pid is None or about.jvm_pid_started is None:
        return None
    return ProcessIdentity(pid=about.jvm_pid, started=about.jvm_pid_started)
