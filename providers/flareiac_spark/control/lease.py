"""Who drives an application? One process at a time, by a lease with an expiry that its heartbeat renews."""

import socket
from dataclasses import dataclass, replace

from flareiac_spark.control.processes import ProcessIdentity, is_running


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """``epoch`` grows with every taking. ``expires`` in UTC seconds since 1970; a released lease has expired at 0."""

    owner: str
    host: str
    pid: int
    pid_started: str
    epoch: int
    expires: float

    def is_held(self, now: float) -> bool:
        """Whether nobody else may take it: not expired and, where that can be seen, its owner's process runs."""
        if now >= self.expires:
            return False
        return self.host != socket.gethostname() or is_running(ProcessIdentity(pid=self.pid, started=self.pid_started))

    def renewed(self, expires: float) -> "Lease":
        return replace(self, expires=expires)
