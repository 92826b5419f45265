"""The rows that land before and after a change, the table that every query of the matrix fits, and how its
rows are told as text.
"""

import json
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
BAD: Final = {"raw": "string", "error": "string", "input": "string"}
"""The columns that are kept of a bad record."""


def event(k: str, m: str, n: int, minute: int) -> Event:
    """One row, ``minute`` minutes into 2026."""
    at, sent = (datetime(2026, 1, 1, hour, minute, tzinfo=UTC) for hour in (0, 1))
    return {"k": k, "m": m, "n": n, "q": n * 100, "i": n, "d": float(n), "at": at, "sent": sent}


def bad(m: str) -> Event:
    """A row that does not fit its columns: ``n`` is no number."""
    return {**event("z", m, 0, 8), "n": "many"}


def is_bad(row: Event) -> bool:
    """Returns True if the row is a bad record."""
    return isinstance(row["n"], str)


_FIRST: Final = (event("a", "x", 5, 1), event("a", "y", 2, 7), event("b", "x", 1, 8), event("c", "y", 6, 8))
_SECOND: Final = (event("a", "x", 4, 8), event("b", "y", 3, 9))
LANDED: Final[Mapping[str, tuple[Sequence[Event], Sequence[Event]]]] = {
    "events": (_FIRST, _SECOND),
    "more": (_FIRST, _SECOND),
    "elsewhere": ([event("e", "x", 7, 8)], [event("e", "y", 8, 9)]),
    "spoiled": ((*_FIRST, bad("p")), (*_SECOND, bad("r"))),
    "spoiled_first": ((*_FIRST, bad("p")), _SECOND),
    "poisoned": (_FIRST, _SECOND),
    "spoiled_last": (_FIRST, (*_SECOND, bad("r"))),
}
"""By place: what is there before the change, and what comes after it. Each is one file, and so one batch."""
POISON: Final = (bad("q"),)
"""The records on which a job fails that takes no bad records."""
RECREATED: Final = (*LANDED["elsewhere"][0], *LANDED["events"][0])
"""The rows of a topic that was created again: more than the old one had, so that its offsets exist."""
LOST: Final = (event("l", "x", 50, 8), event("m", "x", 60, 8))
"""Records that are deleted before they are read; they are of two partitions."""
PARTITIONS: Final = {"a": 0, "b": 1, "c": 0, "e": 1, "l": 0, "m": 1}
"""The partition of a topic that holds the rows of a ``k``, so that those of one come in their order."""
TABLES: Final = ("events", "more", "elsewhere")
"""The places whose rows are in tables too: a table takes no bad ones."""


def text(rows: Iterable[Row]) -> str:
    """Rows as their values that are not null, in the order of ``OUT``; moments as hour and minute; ``-`` for
    no rows. A record of a topic begins with its key.
    """
    told = sorted(map(_told, rows))
    return "; ".join(told) or "-"


def _told(row: Row) -> str:
    key = f"{row['key']}: " if row.get("key") is not None else ""
    values = " ".join(_cell(row[name]) for name in OUT if row.get(name) is not None)
    return key + (values or "nulls")


def bad_text(rows: Iterable[Row]) -> str:
    """The bad records of a quarantine table, by their ``m``."""
    return "; ".join(sorted(f"{json.loads(row['raw'])['m']} of {row['input']}" for row in rows)) or "-"


EACH_ONCE: Final = "each number once, from 0 on"


def counted(rows: Sequence[Row]) -> str:
    """``EACH_ONCE`` if the numbers in ``total`` are all there once, else those that are missing or there
    twice.
    """
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
