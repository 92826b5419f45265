"""A model of a query over batches of rows, without Spark: state is carried from one query to the next as
Spark carries it.

Small on purpose: one stream, one state, the rules of the sinks. The facts about Spark say when state is
carried; this model computes the rows that follow.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, assert_never

from tests.bench.matrix_rows import Event, Row

Key: TypeAlias = tuple[Any, ...]
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stateless:
    """One row out of each row in, or none."""

    sql: str
    row: Callable[[Event], Row | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """``key`` None leaves a row out. ``delay`` is the watermark's; ``ends`` is when a group is complete."""

    sql: str
    key: Callable[[Event], Key | None]
    fold: Callable[[Any, Event], Any]
    row: Callable[[Key, Any], Row | None]
    delay: timedelta | None = None
    ends: Callable[[Key], datetime] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """The first row of each value of ``keys``."""

    sql: str
    keys: tuple[str, ...]
    row: Callable[[Event], Row | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A query whose results are given as text: after the first rows, and at the end by the way that was
    taken.
    """

    sql: str
    first: str
    last: Mapping[Any, str]
    delay: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steady:
    """The numbers of a rate stream, each of which must come once."""

    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletes:
    """The rule of a merge for a change log: of each key the row with the greatest ``latest_by`` counts, and
    ``delete_if``, which ``is_delete`` says in Python, takes it out.
    """

    latest_by: str
    delete_if: str
    is_delete: Callable[[Row], bool]


Query: TypeAlias = Stateless | Grouped | Unique | Measured | Steady
Modelled: TypeAlias = Stateless | Grouped | Unique


@dataclass(slots=True)
class Memory:
    """The content of a checkpoint."""

    state: dict[Key, Any] = field(default_factory=dict)
    watermark: datetime = _LONG_AGO


def emitted(query: Modelled, memory: Memory, batch: Sequence[Event], mode: str) -> list[Row]:
    """The rows that a batch (and the empty one that Spark runs after it to move the watermark) gives to a
    sink in this mode.
    """
    match query:
        case Stateless(row=row):
            return _there(row(item) for item in batch)
        case Unique(keys=keys, row=row):
            return _there(row(item) for item in batch if _is_new(memory, tuple(item[key] for key in keys)))
        case Grouped():
            return _grouped(query, memory, batch, mode)
        case _:
            assert_never(query)


def _is_new(memory: Memory, key: Key) -> bool:
    return memory.state.setdefault(key, key) is key


def _grouped(query: Grouped, memory: Memory, batch: Sequence[Event], mode: str) -> list[Row]:
    touched: dict[Key, Any] = {}
    for item in batch:
        key = query.key(item)
        if key is None or (query.ends is not None and query.ends(key) <= memory.watermark):
            continue
        touched[key] = memory.state[key] = query.fold(memory.state.get(key), item)
    if query.delay is not None and batch:
        memory.watermark = max(memory.watermark, max(item["at"] for item in batch) - query.delay)
    if mode == "complete":
        return _rows(query, memory.state)
    closed = {
        key: memory.state[key]
        for key in memory.state
        if query.ends is not None and query.ends(key) <= memory.watermark
    }
    for key in closed:
        del memory.state[key]
    return _rows(query, closed if mode == "append" else touched)


def _rows(query: Grouped, groups: Mapping[Key, Any]) -> list[Row]:
    return _there(query.row(key, value) for key, value in groups.items())


def _there(rows: Iterable[Row | None]) -> list[Row]:
    return [row for row in rows if row is not None]


def merged(
    table: Sequence[Row],
    rows: Sequence[Row],
    keys: Sequence[str],
    deletes: Deletes,
    tombstones: dict[Key, Any] | None,
) -> list[Row]:
    """The table after a batch of a change log. ``tombstones`` are those of earlier batches, by key, and get
    those of this one; None where none are kept. No two rows of a key have the same order.
    """
    order = deletes.latest_by
    found = {tuple(row.get(key) for key in keys): row for row in table}
    latest: dict[Key, Row] = {}
    for row in sorted(rows, key=lambda row: row[order]):
        latest[tuple(row.get(key) for key in keys)] = row
    for key, row in latest.items():
        if tombstones is not None and deletes.is_delete(row):
            tombstones[key] = max(row[order], tombstones.get(key, row[order]))
        if key in found and found[key][order] > row[order]:
            continue
        if deletes.is_delete(row):
            found.pop(key, None)
        elif tombstones is None or key not in tombstones or row[order] > tombstones[key]:
            found[key] = row
    return list(found.values())


def written(
    table: Sequence[Row],
    rows: Sequence[Row],
    mode: str,
    keys: Sequence[str],
    updates: Callable[[Row, Row], bool] | None = None,
) -> list[Row]:
    """The table after a batch."""
    match mode:
        case "append":
            return [*table, *rows]
        case "complete":
            return list(rows)
        case "overwrite_partitions":
            replaced = {row["k"] for row in rows}
            return [*(row for row in table if row["k"] not in replaced), *rows]
        case _:
            found = {tuple(row.get(key) for key in keys): row for row in table}
            for row in rows:
                key = tuple(row.get(name) for name in keys)
                if key not in found or updates is None or updates(row, found[key]):
                    found[key] = row
            return list(found.values())
