"""Parses the durations of windows."""

import re
from typing import Final

_UNITS: Final = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
}
_DAYS: Final = {"day": 1, "week": 7}
_DAY: Final = 86_400_000_000
_PART: Final = re.compile(r"(\d{1,18})\s+([a-z]+?)s?(?:\s+|$)")


def duration(text: str) -> tuple[int, int] | None:
    """Days and microseconds; None for what is not read here. Months have no length."""
    rest, days, micros = text.strip().lower().removeprefix("interval").strip(), 0, 0
    if not rest:
        return None
    while rest:
        part = _PART.match(rest)
        if part is None:
            return None
        number, unit = int(part[1]), part[2]
        if unit in _UNITS:
            micros += number * _UNITS[unit]
        elif unit in _DAYS:
            days += number * _DAYS[unit]
        else:
            return None
        rest = rest[part.end() :]
    return days, micros


def normalized_duration(text: str, *, days_count: bool) -> str:
    """One spelling for texts of one length. ``days_count``: a day is not the same as 24 hours."""
    found = duration(text)
    if found is None:
        return repr(text)
    days, micros = found
    return f"{days} days {micros} microseconds" if days_count else f"{days * _DAY + micros} microseconds"
