"""The liveness of an application: by its heartbeat where that is fresh, else by the operating system."""

from enum import StrEnum

from flareiac import __version__
from flareiac.kernel.host import Host, Sight, sight, this_host
from flareiac_spark_runtime.control import Moment, ProcessIdentity, Status, is_running, moment
from flareiac_spark_runtime.control.rhythm import fresh_seconds
from flareiac_spark_runtime.control.status import ASKED_TO_STOP

_FIRST = "0.1.0"
_AHEAD_SECONDS = 5.0
"""By which the clocks of two hosts may differ."""


class Liveness(StrEnum):
    ALIVE = "alive"
    UNKNOWN = "unknown"
    """Its process is there (or on another host) and has said nothing for a while."""
    GONE = "gone"


def liveness(status: Status | None, *, now: Moment | None = None) -> Liveness:
    """The liveness that follows from the last status and from this host's processes."""
    if status is None or status.application.phase == "ended":
        return Liveness.GONE
    seen = sight_of(status)
    if seen is Sight.BOOTED_SINCE or (seen is Sight.HERE and not is_running(driver_of(status))):
        return Liveness.GONE
    fresh = -_AHEAD_SECONDS < silent_seconds(status, now or moment()) < fresh_seconds(status.beat)
    return Liveness.ALIVE if fresh else Liveness.UNKNOWN


def was_stopped(status: Status | None) -> bool:
    """Returns True where an application has ended in order because someone asked it to."""
    about = status.application if status is not None else None
    return about is not None and about.phase == "ended" and about.reason == ASKED_TO_STOP


def is_alive(status: Status | None, *, now: Moment | None = None) -> bool:
    """Returns True if the application certainly runs; ``liveness`` tells "gone" from "unknown"."""
    return liveness(status, now=now) is Liveness.ALIVE


def silent_seconds(status: Status, now: Moment) -> float:
    """The seconds since its last heartbeat; negative if it lies in the future, as it does when clocks differ
    or one was set back.

    On the application's own host no clock that can be set is asked.
    """
    if status.uptime is not None and is_here(status):
        return now.uptime - status.uptime
    return now.wall - status.heartbeat


def why_unknown(status: Status, *, now: Moment | None = None) -> str:
    """The reason that it is neither called alive nor gone, in words."""
    about, silent = status.application, silent_seconds(status, now or moment())
    if silent < 0:
        when = f"its heartbeat lies {-silent:.0f} s in the future, so that clocks differ or one was set back"
    else:
        when = f"its last heartbeat is {silent:.0f} s old"
    what = (
        "is there: suspended, or on an overloaded machine" if is_here(status) else "cannot be seen from here"
    )
    if not is_here(status) and about.host == this_host().name:
        what += " (another container, or another machine, has the name of this host)"
    return f"{when}, and its process {about.pid} on {about.host} {what}"


def silence(status: Status | None) -> str:
    """The reason that an application is neither called alive nor gone; empty where it is one of them."""
    return why_unknown(status) if status is not None and liveness(status) is Liveness.UNKNOWN else ""


def other_release(status: Status | None) -> str:
    """The driver that runs and is not of this release, in words; empty where none does. An application that
    does not name its release is of 0.1.0.
    """
    about = status.application if status is not None else None
    if about is None or about.phase == "ended" or (about.release or _FIRST) == __version__:
        return ""
    return f"the driver (process {about.pid} on {about.host}) is FlareIaC {about.release or _FIRST}"


def is_here(status: Status) -> bool:
    """Returns True if its processes can be looked for from here."""
    return sight_of(status) is Sight.HERE


def sight_of(status: Status) -> Sight:
    about = status.application
    return sight(about.place or Host(name=about.host), status.heartbeat)


def driver_of(status: Status) -> ProcessIdentity:
    return ProcessIdentity(pid=status.application.pid, started=status.application.pid_started)


def jvm_of(status: Status) -> ProcessIdentity | None:
    about = status.application
    if about.jvm_pid is None or about.jvm_pid_started is None:
        return None
    return ProcessIdentity(pid=about.jvm_pid, started=about.jvm_pid_started)
