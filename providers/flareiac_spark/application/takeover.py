"""The watch that decides if an application on another host is gone for good: its lease must stay unchanged
for its whole term.

The same protocol as a second driver's: only who holds the lease may write that an application ended, and a
driver that comes back finds its lease lost and stops its queries. So there are never two drivers, whatever
the watcher believes.
"""

import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from flareiac_spark.application.liveness import Liveness, is_here, liveness
from flareiac_spark_runtime.control import ControlDirectory, Lease, Status, moment, this_process


def end_if_gone(
    control: ControlDirectory,
    status: Status,
    *,
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> bool:
    """Returns True if the application was silent for the whole term of its lease and is noted as ended now.
    Raises ``ControlError``.

    False while it may live: it spoke, its lease moved, or the watch was cancelled.
    """
    lease = control.read_lease()
    term = lease.seconds if lease is not None else control.rhythm.term
    about = status.application
    progress(
        f"watching the lease of process {about.pid} on {about.host} for {term:.0f} s: it is taken over if "
        "it stays unchanged"
    )
    deadline = time.monotonic() + term
    while time.monotonic() < deadline:
        if cancel.wait(min(control.rhythm.watch, term / 10)) or _has_moved(control, status, lease):
            return False
    if _has_moved(control, status, lease):
        return False
    return _note_end(control, status, lease, term)


def is_elsewhere_and_silent(status: Status | None) -> bool:
    """Returns True if only a watch of its lease can tell if an application lives."""
    return status is not None and liveness(status) is Liveness.UNKNOWN and not is_here(status)


def _has_moved(control: ControlDirectory, status: Status, lease: Lease | None) -> bool:
    now = control.read_status()
    spoke = now is None or (now.application.id, now.heartbeat) != (status.application.id, status.heartbeat)
    return spoke or control.read_lease() != lease


def _note_end(control: ControlDirectory, status: Status, watched: Lease | None, term: float) -> bool:
    mine = control.take_lease(
        f"command-{uuid.uuid4().hex}",
        this_process(),
        now=moment(),
        seconds=control.rhythm.term,
        watched=watched,
    )
    if mine is None:
        return False
    try:
        host, pid = status.application.host, status.application.pid
        reason = (
            f"process {pid} on {host} is gone: its lease stayed unchanged for {term:.0f} s, as "
            f"{socket.gethostname()} saw it"
        )
        control.write_status(
            replace(status, application=replace(status.application, phase="ended", reason=reason))
        )
    finally:
        control.release_lease(mine, now=moment())
    return True
