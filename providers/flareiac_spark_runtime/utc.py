"""Times as text. A time of the data may lie in any year, and each has a text. Standard library only: the
application and the command line both use it.
"""

import datetime as dt
import re
from typing import Final

_CYCLE_YEARS: Final = 400
_CYCLE_MS: Final = 146_097 * 86_400_000
"""In so many years the calendar repeats itself."""
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_INSTANT: Final = re.compile(r"([+-]?\d{4,10})(-\d\d-\d\dT.+)")


def utc_text(ms: int, *, timespec: str = "milliseconds") -> str:
    """A time in ms since 1970 as Java writes it: ``2026-01-01T00:00:00.000Z``, and with a sign beyond the
    year 9999. ``timespec`` as ``isoformat`` takes it.
    """
    cycles, rest = divmod(ms, _CYCLE_MS)
    moment = _EPOCH + dt.timedelta(milliseconds=rest)
    year = moment.year + _CYCLE_YEARS * cycles
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    return shown + moment.isoformat(timespec=timespec)[4:].replace("+00:00", "Z")


def utc_ms(text: str) -> int | None:
    """The inverse, for a time with an offset. None for other texts."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None
    cycles, year = divmod(int(match.group(1)) - 1970, _CYCLE_YEARS)
    try:
        moment = dt.datetime.fromisoformat(f"{year + 1970}{match.group(2)}")
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return (moment - _EPOCH) // dt.timedelta(milliseconds=1) + cycles * _CYCLE_MS
