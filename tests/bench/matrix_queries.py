"""The queries of the matrix: SQL over ``events``, and what it means."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from tests.bench.matrix_model import Grouped, Key, Measured, Stateless, Steady, Unique
from tests.bench.matrix_rows import Event, Row

Fold = Callable[[Any, Event], Any]


def plain(
    select: str = "k, m, n AS total",
    where: str = "",
    row: Callable[[Event], Row] = lambda e: {"k": e["k"], "m": e["m"], "total": e["n"]},
    keeps: Callable[[Event], bool] = lambda _e: True,
) -> Stateless:
    """A query without state."""
    return Stateless(
        sql=f"SELECT {select} FROM events {where}".strip(), row=lambda e: row(e) if keeps(e) else None
    )


def added(column: str, times: int = 1) -> Fold:
    """sum"""
    return lambda old, e: old if e[column] is None else (old or 0) + e[column] * times


def greatest(column: str) -> Fold:
    """max"""
    return lambda old, e: e[column] if old is None else max(old, e[column])


def both(first: Fold, second: Fold) -> Fold:
    """Two aggregates."""
    return lambda old, e: (first(old and old[0], e), second(old and old[1], e))


N: Final = added("n")


def by_k(
    aggregate: str = "sum(n) AS total",
    fold: Fold = N,
    *,
    key: str = "k",
    columns: str = "k",
    keyed: Callable[[Event], Key] = lambda e: (e["k"],),
    row: Callable[[Key, Any], Row | None] = lambda key, value: {"k": key[0], "total": value},
    where: str = "",
    keeps: Callable[[Event], bool] = lambda _e: True,
    rest: str = "",
) -> Grouped:
    """An aggregation without a watermark."""
    sql = " ".join(f"SELECT {columns}, {aggregate} FROM events {where} GROUP BY {key} {rest}".split())
    return Grouped(sql=sql, key=lambda e: keyed(e) if keeps(e) else None, fold=fold, row=row)


def windows(minutes: int = 5, delay: int = 0, fold: Fold = N, aggregate: str = "sum(n)") -> Grouped:
    """Windows of ``minutes``; the watermark's delay in minutes."""
    size = timedelta(minutes=minutes)

    def key(e: Event) -> Key:
        at: datetime = e["at"]
        since = at.replace(minute=at.minute - at.minute % minutes)
        return since, since + size

    window = f"window(at, '{minutes} minutes')"
    return Grouped(
        sql=f"SELECT {window}.start AS since, {aggregate} AS total FROM events GROUP BY {window}",
        key=key,
        fold=fold,
        row=lambda found, value: {"since": found[0], "total": value},
        delay=timedelta(minutes=delay),
        ends=lambda found: found[1],
    )


def unique(*keys: str) -> Unique:
    """One row for each value of the keys."""
    return Unique(
        sql="SELECT k, m, n AS total FROM events",
        keys=keys,
        row=lambda e: {"k": e["k"], "m": e["m"], "total": e["n"]},
    )


def join(kind: str, on: str, columns: str, first: str, last: Mapping[Any, str]) -> Measured:
    """Two streams, joined within a minute."""
    bound = "e.at BETWEEN o.at AND o.at + INTERVAL 1 MINUTE"
    sql = f"SELECT {columns} FROM events e {kind} JOIN more o ON {on} AND {bound}"
    return Measured(sql=sql, first=first, last=last, delay=timedelta(minutes=1))


def two_values(*names: str) -> Callable[[Key, Any], Row]:
    """A group with two aggregates, by name."""
    return lambda key, values: {"k": key[0], **dict(zip(names, values, strict=True))}


PLAIN: Final = plain()
SUM: Final = by_k()
NOBODY: Final = "e.m = o.m AND e.n + o.n > 100"

RATE: Final = Steady(sql="SELECT value AS total FROM events")
