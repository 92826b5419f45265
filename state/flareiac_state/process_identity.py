"""Who this process is, and whether a process that wrote down the same is still alive. Reads ``/proc`` where there is one."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """``boot`` names one run of one kernel, ``namespace`` the process numbers that ``pid`` belongs to; both empty where unknown.

    ``started`` is in seconds since the boot, so that setting the clock does not change it.
    """

    host: str
    boot: str
    namespace: str
    pid: int
    started: float


def this_process() -> ProcessIdentity:
    """The identity of the running process (also right in a forked child)."""
    pid = os.getpid()
    boot, namespace = _kernel()
    return ProcessIdentity(host=socket.gethostname(), boot=boot, namespace=namespace, pid=pid, started=_started(pid) or 0.0)


def is_gone(other: ProcessIdentity) -> bool:
    """Whether the process has certainly ended. False when this place can not know."""
    here = this_process()
    if not here.boot or (here.boot, here.namespace) != (other.boot, other.namespace):
        return False
    return _started(other.pid) != other.started


CI_JOB_VARIABLES = ("CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL")
"""What GitLab, Jenkins, Buildkite and CircleCI set to the address of the running job."""


def ci_job(environment: Mapping[str, str]) -> str:
    """The address of the CI job that runs this, or an empty text."""
    github = [environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    if all(github):
        return f"{github[0]}/{github[1]}/actions/runs/{github[2]}"
    return next((environment[name] for name in CI_JOB_VARIABLES if environment.get(name)), "")


def user_name(environment: Mapping[str, str]) -> str:
    """Who runs this, as the environment or the account tells."""
    for name in ("LOGNAME", "USER", "USERNAME"):
        if environment.get(name):
            return environment[name]
    return f"uid {os.getuid()}"


@cache
def _kernel() -> tuple[str, str]:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return "", ""
    return boot, namespace


def _started(pid: int) -> float | None:
    """When a process started, in seconds since the boot; None when there is none, or only one that ended and was not waited for."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    state, ticks = fields[0], int(fields[19])
    return None if state in "ZX" else ticks / os.sysconf("SC_CLK_TCK")
