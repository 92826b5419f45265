"""The lease of an application: one process drives it at a time, and its heartbeat renews the lease.

No wall clock decides: it can be set, and two hosts never agree. On the owner's host its process and the
host's own uptime tell; elsewhere a lease is over for who has watched it unchanged for its whole term.
"""

from dataclasses import replace
from enum import StrEnum

from flareiac.kernel.data import Seconds
from flareiac.kernel.host import Host, Sight, sight
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control.processes import Moment, ProcessIdentity, is_running


class LeaseState(StrEnum):
    """The state of a lease, as far as one look can know it."""

    HELD = "held"
    FREE = "free"
    UNCLEAR = "unclear"
    """Its owner cannot be looked for from here (another host, or another container of this one): only
    watching tells.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """``epoch`` grows with every taking. ``seconds`` is its term since the last renewal: at ``uptime`` of its
    host, ``renewed`` in UTC seconds since 1970. A released one has the term 0. ``place`` is where its owner
    runs; early versions wrote only the ``host``'s name.
    """

    owner: str
    host: str
    pid: int
    pid_started: str
    epoch: int
    seconds: float
    uptime: float
    renewed: Seconds
    place: Host | None = None

    def standing(self, now: Moment) -> LeaseState:
        """The state of the lease at ``now``: free if it was released, or if its owner's process is gone or
        silent for its whole term; unclear if its owner runs where this process cannot look.
        """
        if self.seconds <= 0:
            return LeaseState.FREE
        seen = sight(self.place or Host(name=self.host), self.renewed)
        if seen is not Sight.HERE:
            return LeaseState.UNCLEAR if seen is Sight.ELSEWHERE else LeaseState.FREE
        runs = is_running(ProcessIdentity(pid=self.pid, started=self.pid_started))
        return LeaseState.HELD if runs and now.uptime - self.uptime < self.seconds else LeaseState.FREE

    def renew(self, now: Moment, seconds: float) -> "Lease":
        return replace(self, seconds=seconds, uptime=now.uptime, renewed=now.wall)
