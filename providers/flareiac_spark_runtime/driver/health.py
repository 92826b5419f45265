"""The health of a driver: its progress, and its readiness for jobs. Pure: the same answer for probes, metrics
and the liveness file.
"""

from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass

LONGEST_TURN: Final = 60.0
"""Seconds for which the main loop may not come round: a turn takes milliseconds, one that waits for object
storage some seconds.
"""
LONGEST_START: Final = 600.0
"""Seconds for which Spark may be starting: a cluster may first have to find room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """Ages in seconds. ``turned``: since the main loop came round, None before its first turn; ``renewed``:
    since the lease was renewed, which lasts for ``term``; ``begun``: since the driver took the lease.

    ``ending``: its queries are being stopped. ``lost``: why it no longer has the lease. ``was_read``: it
    knows what should run; ``problem``: why that cannot be read at the moment.
    """

    begun: float
    turned: float | None
    renewed: float
    term: float
    runs: bool
    was_read: bool
    ending: bool = False
    lost: str = ""
    problem: str | None = None


def why_not_alive(vitals: Vitals) -> str | None:
    """The reason that the process makes no progress, None while it does. Stopping queries counts as
    progress.
    """
    if vitals.lost and not vitals.ending:
        return f"the lease is lost: {vitals.lost}"
    if vitals.renewed > vitals.term:
        return f"the lease was last renewed {vitals.renewed:.0f} s ago; it lasts {vitals.term:.0f} s"
    if vitals.turned is None:
        late = vitals.begun > LONGEST_START
        return f"Spark has been starting for {vitals.begun:.0f} s" if late else None
    if vitals.turned > LONGEST_TURN:
        return f"the main loop has stood still for {vitals.turned:.0f} s"
    return None


def why_not_ready(vitals: Vitals) -> str | None:
    """The reason that what is applied now would not be run, None where it would."""
    if (why := why_not_alive(vitals)) is not None:
        return why
    if vitals.ending:
        return "it is ending"
    if not vitals.runs or vitals.turned is None:
        return "Spark is starting"
    if vitals.problem is not None:
        return f"what should run cannot be read: {vitals.problem}"
    return None if vitals.was_read else "what should run was not read yet"
