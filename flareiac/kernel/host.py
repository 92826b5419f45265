"""Identifies the host of a process, and what can be said from here of a process that ran on another one.
Reads ``/proc`` where there is one.

Names of hosts prove little: containers share them with their host or with each other, and so do machines that
were copied. So a process can be looked for only from where its number means the same, and it has certainly
ended only where its machine was booted since.
"""

import socket
import time
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass

_FIRST_NAMESPACE: Final = "pid:[4026531836]"
"""The process numbers of the machine itself, in no container. Linux gives it this number in every boot."""


class Sight(StrEnum):
    """The knowledge that is possible from here about the processes of a place."""

    HERE = "here"
    """They can be looked for by their numbers."""
    BOOTED_SINCE = "booted since"
    """It is this machine before its last boot: none of them is left."""
    ELSEWHERE = "elsewhere"
    """Nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """``machine`` names an installation of a system, ``boot`` one run of its kernel, ``namespace`` the
    process numbers in use there.

    Each is empty where it is not known.
    """

    name: str
    machine: str = ""
    boot: str = ""
    namespace: str = ""


def this_host() -> Host:
    """The place of this process."""
    machine, boot, namespace = _kernel()
    return Host(name=socket.gethostname(), machine=machine, boot=boot, namespace=namespace)


def sight(other: Host, last_sign: float, *, here: Host | None = None, booted: float | None = None) -> Sight:
    """Returns what can be said of the processes of a place whose last sign of life was written then (UTC
    seconds since 1970).

    ``booted`` is when this machine was booted, by the same clock. Where one of both sides has no ``/proc``,
    the host's name decides.
    """
    here = here or this_host()
    if not (here.boot and other.boot):
        return Sight.HERE if here.name == other.name else Sight.ELSEWHERE
    if here.boot == other.boot:
        return Sight.HERE if here.namespace == other.namespace else Sight.ELSEWHERE
    since = booted_at() if booted is None else booted
    is_same = bool(here.machine) and (here.name, here.machine) == (other.name, other.machine)
    in_no_container = here.namespace == other.namespace == _FIRST_NAMESPACE
    # A machine that gave a sign after this one was booted is another one, whatever it is called: a copy.
    return Sight.BOOTED_SINCE if is_same and in_no_container and last_sign < since else Sight.ELSEWHERE


def has_clock_of_here(other: Host, *, here: Host | None = None) -> bool:
    """Returns True if processes that run in a place now read the clock of this machine: they run under the
    same kernel, in whatever container. Where one of both sides has no ``/proc``, the host's name decides.
    """
    here = here or this_host()
    if not (here.boot and other.boot):
        return here.name == other.name
    return here.boot == other.boot


def booted_at() -> float:
    """Returns the time at which this machine was booted, in UTC seconds since 1970, as its clock says now."""
    return time.time() - (
        time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
    )


def start_ticks(pid: int) -> int | None:
    """Returns the start of a process of this host, in the kernel's ticks since the boot. None where there is
    no such process, or only one that ended and was not waited for, or no ``/proc``.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command name in parentheses may hold anything, so fields are counted from the last parenthesis.
    state, *fields = text.rpartition(")")[2].split()
    return None if state in "ZXx" else int(fields[18])


@cache
def _kernel() -> tuple[str, str, str]:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return "", "", ""
    return _machine(), boot, namespace


def _machine() -> str:
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
