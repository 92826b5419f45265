"""Identity of processes: whether one that was seen once is still running. A pid alone cannot tell, since
pids are reused.
"""

import os
import subprocess
import time
from pathlib import Path

from flareiac.kernel.host import start_ticks, this_host
from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """``started`` is opaque: equal texts for one pid on one host mean the same process."""

    pid: int
    started: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A reading of two clocks. ``wall`` is UTC seconds since 1970, which anybody may set; ``uptime`` is in
    seconds of a clock that only grows and that all processes of one boot of a host share.
    """

    wall: float
    uptime: float


def moment() -> Moment:
    return Moment(wall=time.time(), uptime=time.monotonic())


def this_process() -> ProcessIdentity:
    return ProcessIdentity(pid=os.getpid(), started=start_of(os.getpid()) or "")


def start_of(pid: int) -> str | None:
    """The start of a running process, as a text that tells it from others of the same number; None if it does
    not run (a zombie runs no more).
    """
    if pid <= 0:
        return None
    if not Path("/proc/self/stat").exists():
        return _start_by_ps(pid)
    ticks = start_ticks(pid)
    # Ticks alone repeat after a restart of the machine.
    return None if ticks is None else f"{this_host().boot[:8] or 'boot'}.{ticks}"


def is_running(identity: ProcessIdentity) -> bool:
    """Returns True if that very process runs on this host."""
    return start_of(identity.pid) == identity.started


def _start_by_ps(pid: int) -> str | None:
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = shown.stdout.strip().partition(" ")
    return started.strip() if shown.returncode == 0 and not state.startswith("Z") else None
