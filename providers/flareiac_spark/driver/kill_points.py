"""Named points at which a test can have the driver killed (``FLAREIAC_KILL_AT=driver.after-batch:3``: at the third time)."""

import os
import signal
from collections import Counter

_WANTED = os.environ.get("FLAREIAC_KILL_AT", "")
_reached: Counter[str] = Counter()


def reach(name: str) -> None:
    """Says that execution is at this point."""
    wanted, _, count = _WANTED.partition(":")
    if name == wanted:
        _reached[name] += 1
        if _reached[name] == int(count or 1):
            os.kill(os.getpid(), signal.SIGKILL)
