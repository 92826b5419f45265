"""The identity of this process, and the check that a process which wrote down the same is still alive."""

import os
from collections.abc import Mapping

from flareiac.kernel.host import Host, Sight, sight, start_ticks, this_host
from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """``started`` is in seconds since the boot, so that setting the clock does not change it."""

    host: Host
    pid: int
    started: float


def this_process() -> ProcessIdentity:
    """The identity of the running process (also right in a forked child)."""
    pid = os.getpid()
    return ProcessIdentity(host=this_host(), pid=pid, started=_started(pid) or 0.0)


def is_gone(other: ProcessIdentity, last_sign: float) -> bool:
    """Returns True if the process has certainly ended. False when this place cannot know. ``last_sign``: the
    time of its last write, in UTC seconds.
    """
    if not other.host.boot or not this_host().boot:
        return False
    match sight(other.host, last_sign):
        case Sight.HERE:
            return _started(other.pid) != other.started
        case Sight.BOOTED_SINCE:
            return True
        case Sight.ELSEWHERE:
            return False


CI_JOB_VARIABLES = ("CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL")
"""The variables that GitLab, Jenkins, Buildkite and CircleCI set to the address of the running job."""


def ci_job(environment: Mapping[str, str]) -> str:
    """The address of the CI job that runs this, or an empty text."""
    github = [
        environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    ]
    if all(github):
        return f"{github[0]}/{github[1]}/actions/runs/{github[2]}"
    return next((environment[name] for name in CI_JOB_VARIABLES if environment.get(name)), "")


def user_name(environment: Mapping[str, str]) -> str:
    """The name of the user who runs this, by the environment or the account."""
    for name in ("LOGNAME", "USER", "USERNAME"):
        if environment.get(name):
            return environment[name]
    return f"uid {os.getuid()}"


def _started(pid: int) -> float | None:
    """In seconds since the boot."""
    ticks = start_ticks(pid)
    return None if ticks is None else ticks / os.sysconf("SC_CLK_TCK")
