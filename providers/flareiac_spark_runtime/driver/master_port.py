"""Waits until the master of a standalone cluster can be reached. Opens connections and closes them."""

import socket
import time
from collections.abc import Callable
from typing import Final

from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.masters import is_standalone, standalone_hosts

_WAIT_SECONDS: Final = 15.0
_CONNECT_SECONDS: Final = 5.0
_AGAIN_SECONDS: Final = 1.0


def await_master(master: str, pause: Callable[[float], object], *, seconds: float = _WAIT_SECONDS) -> None:
    """Returns when one of the masters in the URL accepts a connection, and at once for other clusters. Spark
    itself would be silent for a minute, and then say only that all masters are unresponsive.

    ``pause`` waits so many seconds, and returns something true to end it. Raises ``Refusal``.
    """
    if not is_standalone(master):
        return
    deadline = time.monotonic() + seconds
    while why := _unreachable(master):
        if time.monotonic() > deadline or pause(_AGAIN_SECONDS):
            raise Refusal(
                "MASTER_UNREACHABLE",
                f"The master {master} cannot be reached: {why}. No Spark was started. Start the master, or "
                "correct master in the engine; then apply again.",
            )


def _unreachable(master: str) -> str:
    """The reasons that none of the master's hosts accepts a connection; empty if one does."""
    reasons = []
    for host, port in standalone_hosts(master):
        try:
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
        except OSError as failure:
            reasons.append(failure.strerror or str(failure))
        else:
            return ""
    return "; ".join(dict.fromkeys(reasons))
