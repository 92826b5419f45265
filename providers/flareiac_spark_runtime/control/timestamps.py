"""The time from which a table is streamed. Standard library only: the application and the command line both
use it.
"""

import datetime as dt


def start_timestamp(start_from: str, *, now: float) -> int | None:
    """UTC milliseconds, None for the beginning. ``now`` in UTC seconds. Raises ``ValueError`` for what is no
    ISO 8601 time.
    """
    if start_from in ("earliest", "oldest_snapshot"):
        return None
    if start_from == "latest":
        return int(now * 1000)
    moment = dt.datetime.fromisoformat(start_from)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp() * 1000)
