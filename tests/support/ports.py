"""Ports of the loopback that a server of a test listens on."""

import errno
import random
import socket
from typing import Final

_BELOW_EPHEMERAL: Final = (15_000, 32_000)


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def lasting_port() -> int:
    """A free port outside the range that the system gives to clients: a server that is down for a while
    finds it free again.
    """
    while True:
        port = random.randrange(*_BELOW_EPHEMERAL)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as refused:
                if refused.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
