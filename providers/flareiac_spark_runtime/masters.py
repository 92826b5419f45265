"""The meaning of a master URL of Spark. Pure."""

import os
import re
from typing import Final

_LOCAL: Final = re.compile(r"local(?:\[\s*(\d+|\*)\s*(?:,\s*\d+\s*)?\])?")


def is_local(master: str) -> bool:
    """Returns True if everything runs in the driver."""
    return _LOCAL.fullmatch(master) is not None


def is_standalone(master: str) -> bool:
    """Returns True if the master is Spark's own cluster manager."""
    return master.startswith("spark://")


def is_kubernetes(master: str) -> bool:
    """Returns True if Kubernetes runs the executors."""
    return master.startswith("k8s://")


def local_cores(master: str) -> int | None:
    """The number of cores that a local master uses, None for any other."""
    match = _LOCAL.fullmatch(master)
    if match is None:
        return None
    return (os.cpu_count() or 1) if match.group(1) == "*" else int(match.group(1) or 1)


def standalone_hosts(master: str) -> tuple[tuple[str, int], ...]:
    """The addresses in a standalone master URL, which may name several masters."""
    addresses = (address.rpartition(":") for address in master.removeprefix("spark://").split(","))
    return tuple((host.strip("[]"), int(port)) for host, _, port in addresses if port.isdigit())
