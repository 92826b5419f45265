"""Named points at which a test can have the process killed, to prove that nothing is lost there.

``FLAREIAC_KILL_AT=apply.intent:3`` sends SIGKILL to the process the third time it reaches ``apply.intent``.
Unset, a point costs one look.
"""

import os
import signal
from collections import Counter

_WANTED = os.environ.get("FLAREIAC_KILL_AT", "")
_reached: Counter[str] = Counter()


def reach(name: str) -> None:
    """Says that execution is at this point."""
    if not _WANTED:
        return
    wanted, _, count = _WANTED.partition(":")
    if name == wanted:
        _reached[name] += 1
        if _reached[name] == int(count or 1):
            os.kill(os.getpid(), signal.SIGKILL)
