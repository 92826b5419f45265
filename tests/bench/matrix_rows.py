"""The rows that land before and after a change, the table that every query of the matrix fits, and how its
rows are told as text.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

Event = Mapping[str, Any]
Row = Mapping[str, Any]

EVENT: Final = {
    "k": "string",
    "m": "string",
    "n": "long",
    "q": "long",
    "i": "int",
    "d": "double",
    "at": "timestamptz",
    "sent": "timestamptz",
}
OUT: Final = {
    "since": "timestamptz",
    "k": "string",
    "m": "string",
    "total": "long",
    "other": "long",
    "mean": "double",
}
"""A missing optional column is written as null."""


def event(k: str, m: str, n: int, minute: int) -> Event:
    """One row, ``minute`` minutes into 2026."""
    at, sent = (datetime(2026, 1, 1, hour, minute, tzinfo=UTC) for hour in (0, 1))
    return {"k": k, "m": m, "n": n, "q": n * 100, "i": n, "d": float(n), "at": at, "sent": sent}


_FIRST: Final = (event("a", "x", 5, 1), event("a", "y", 2, 7), event("b", "x", 1, 8), event("c", "y", 6, 8))
_SECOND: Final = (event("a", "x", 4, 8), event("b", "y", 3, 9))
LANDED: Final[Mapping[str, tuple[Sequence[Event], Sequence[Event]]]] = {
    "events": (_FIRST, _SECOND),
    "more": (_FIRST, _SECOND),
    "elsewhere": ([event("e", "x", 7, 8)], [event("e", "y", 8, 9)]),
}
"""By place: what is there before the change, and what comes after it. Each is one file, and so one batch."""


def text(rows: Iterable[Row]) -> str:
    """Rows as their values that are not null, in the order of ``OUT``; moments as hour and minute; ``-`` for
    no rows.
    """
    told = (" ".join(_cell(row[name]) for name in OUT if row.get(name) is not None) for row in rows)
    return "; ".join(sorted(told)) or "-"


EACH_ONCE: Final = "each number once, from 0 on"


def counted(rows: Sequence[Row]) -> str:
    """Whether the numbers in ``total`` are all there once; which are not."""
    numbers = sorted(row["total"] for row in rows)
    twice = sorted({number for at, number in enumerate(numbers[1:]) if number == numbers[at]})
    missing = sorted(set(range(numbers[-1] if numbers else 0)) - set(numbers))
    if not numbers or not (twice or missing):
        return EACH_ONCE if numbers else "-"
    return f"twice {twice[:5]}, missing {missing[:5]}"


def _cell(value: Any) -> str:
    match value:
        case datetime():
            return value.strftime("%H:%M")
        case float():
            return f"{value:g}"
        case _:
            return str(value)
