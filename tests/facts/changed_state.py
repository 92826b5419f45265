"""Changes of a query with state: one row for each, with what Spark says of it and what comes out.

The first run reads ``FIRST``, the second ``SECOND`` with the changed query on the same checkpoint. A row of
the table is written as its columns that are not null, moments as hour and minute; ``-`` is an empty table,
``!`` begins a refusal. *right* is what the changed query makes of all files, where that is something else:
Spark accepted in silence, and the numbers mean neither the old nor the new.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake, collected

OUT = {
    "since": "timestamptz",
    "k": "string",
    "m": "string",
    "total": "long",
    "other": "long",
    "whole": "int",
    "mean": "double",
}
"""A table that every query here fits: a missing optional column is written as null."""
EVENT = "k STRING, m STRING, n BIGINT, q BIGINT, i INT, d DOUBLE, at TIMESTAMP, sent TIMESTAMP"


def event(k: str, m: str, n: int, minute: int) -> dict[str, object]:
    at = f"2026-01-01T00:{minute:02}:00Z"
    return {"k": k, "m": m, "n": n, "q": n * 100, "i": n, "d": n, "at": at, "sent": at.replace("T00", "T01")}


FIRST = [event("a", "x", 5, 1), event("a", "y", 2, 7), event("b", "x", 1, 8)]
SECOND = [event("a", "x", 4, 8), event("b", "y", 3, 9)]
KEY = "!STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
VALUE = "!STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"
NO_STATE = "!CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS"
OPERATORS = "!STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"

CONF = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Two rows need no compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """SQL over the views ``events`` and ``more``; what is done to ``events`` before it."""

    sql: str
    mode: str = "complete"
    watermark: tuple[str, str] | None = None
    unique: tuple[str, ...] = ()
    unique_within: tuple[str, ...] = ()

    def frame(self, lake: Lake, **options: object) -> Any:
        for folder in ("events", "more"):
            found = lake.files(folder, EVENT, **options)
            if self.watermark:
                found = found.withWatermark(*self.watermark)
            if self.unique:
                found = found.dropDuplicates(list(self.unique))
            if self.unique_within:
                found = found.dropDuplicatesWithinWatermark(list(self.unique_within))
            found.createOrReplaceTempView(folder)
        return lake.spark.sql(self.sql)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One change, and its outcome: the table afterwards, or the refusal. ``right`` is None where the outcome
    is.
    """

    fact: str
    before: Query
    after: Query
    outcome: str
    right: str | None


def row(name: str, before: Query | str, after: Query | str, outcome: str, right: str | None = None) -> Row:
    """Queries given as text are aggregations in complete mode."""
    first, second = (Query(sql=item) if isinstance(item, str) else item for item in (before, after))
    return Row(fact=name, before=first, after=second, outcome=outcome, right=right)


def params(rows: Iterable[Row]) -> list[Any]:
    """A test for each row, under the name of its fact."""
    return [pytest.param(item, id=item.fact, marks=fact(item.fact)) for item in rows]


def by_k(aggregates: str, *, source: str = "events", rest: str = "") -> str:
    return f"SELECT k, {aggregates} FROM {source} GROUP BY k {rest}"


def by_window(window: str) -> str:
    return f"SELECT {window}.start AS since, sum(n) AS total FROM events GROUP BY {window}"


def by_k_and(window: str) -> str:
    return f"SELECT {window}.start AS since, k, sum(n) AS total FROM events GROUP BY {window}, k"


def closed(sql: str, delay: str = "0 seconds", column: str = "at") -> Query:
    """In append mode, with a watermark."""
    return Query(sql=sql, mode="append", watermark=(column, delay))


def unique(*columns: str, sql: str = "SELECT k, m, n AS total FROM events") -> Query:
    return Query(sql=sql, mode="append", unique=columns)


def join(
    kind: str = "", on: str = "e.m = o.m", bound: str = "1 MINUTE", columns: str = "e.k, o.m", where: str = ""
) -> Query:
    sql = (
        f"SELECT {columns} FROM events e {kind} JOIN more o ON {on} AND e.at BETWEEN o.at AND o.at + "
        f"INTERVAL {bound} {where}"
    )
    return closed(sql, delay="1 minute")


SUM = by_k("sum(n) AS total")
PLAIN = Query(sql="SELECT k, n AS total FROM events", mode="append")
BOTH = by_k("sum(n) AS total, max(q) AS other")
FIVE = by_window("window(at, '5 minutes')")

AGGREGATES = [
    row("change.sum-to-max", SUM, by_k("max(n) AS total"), "a 7; b 3", right="a 5; b 3"),
    row("change.max-to-sum", by_k("max(n) AS total"), SUM, "a 9; b 4", right="a 11; b 4"),
    row("change.min-to-max", by_k("min(n) AS total"), by_k("max(n) AS total"), "a 4; b 3", right="a 5; b 3"),
    row("change.first-to-last", by_k("first(n) AS total"), by_k("last(n) AS total"), "a 4; b 3"),
    row(
        "change.last-to-first",
        by_k("last(n) AS total"),
        by_k("first(n) AS total"),
        "a 2; b 1",
        right="a 5; b 1",
    ),
    row("change.max-to-last", by_k("max(n) AS total"), by_k("last(n) AS total"), VALUE),
    row(
        "change.last-to-any-value",
        by_k("last(n) AS total"),
        by_k("any_value(n) AS total"),
        "a 2; b 1",
        right="a 5; b 1",
    ),
    row("change.count-to-sum", by_k("count(n) AS total"), SUM, VALUE),
    row("change.sum-to-count", SUM, by_k("count(n) AS total"), "a 8; b 2", right="a 3; b 2"),
    row("change.count-to-max", by_k("count(n) AS total"), by_k("max(n) AS total"), VALUE),
    row("change.count-to-sum-of-int", by_k("count(*) AS total"), by_k("sum(i) AS total"), VALUE),
    row(
        "change.count-star-to-count-if",
        by_k("count(*) AS total"),
        by_k("count_if(n > 3) AS total"),
        "a 3; b 1",
        right="a 2; b 0",
    ),
    row(
        "change.sum-of-int-to-sum-of-long",
        by_k("sum(i) AS total"),
        by_k("sum(q) AS total"),
        "a 407; b 301",
        right="a 1100; b 400",
    ),
    row("change.max-of-int-to-max-of-long", by_k("max(i) AS whole"), by_k("max(n) AS total"), VALUE),
    row("change.aggregate-type", SUM, by_k("sum(d) AS mean"), VALUE),
    row("change.sum-to-decimal", SUM, by_k("CAST(sum(CAST(n AS DECIMAL(10, 2))) AS BIGINT) AS total"), VALUE),
    row("change.sum-to-avg", SUM, by_k("avg(n) AS mean"), VALUE),
    row(
        "change.avg-to-sum-and-count",
        by_k("avg(n) AS mean"),
        by_k("sum(d) AS mean, count(n) AS total"),
        "a 3 11; b 2 4",
    ),
    row(
        "change.stddev-to-variance",
        by_k("stddev_pop(n) AS mean"),
        by_k("var_pop(n) AS mean"),
        "a 1.55556; b 1",
    ),
    row(
        "change.max-by-to-min-by",
        by_k("max_by(q, n) AS total"),
        by_k("min_by(q, n) AS total"),
        "a 400; b 100",
        right="a 200; b 100",
    ),
    row(
        "change.set-to-list",
        by_k("array_join(collect_set(k), ',') AS m"),
        by_k("array_join(collect_list(k), ',') AS m"),
        "a a,a; b b,b",
        right="a a,a,a; b b,b",
    ),
    row(
        "change.aggregate-order-of-outer-select",
        f"SELECT k, total, other FROM ({BOTH})",
        f"SELECT k, other, total FROM ({BOTH})",
        "a 504 400; b 103 300",
        right="a 11 500; b 4 300",
    ),
    row("change.aggregate-unused", SUM, f"SELECT k, total FROM ({BOTH})", "a 11; b 4"),
    row(
        "change.approx-count-argument",
        by_k("approx_count_distinct(n) AS total"),
        by_k("approx_count_distinct(m) AS total"),
        "a 3; b 2",
        right="a 2; b 2",
    ),
    row("change.aggregate-argument", SUM, by_k("sum(q) AS total"), "a 407; b 301", right="a 1100; b 400"),
    row(
        "change.aggregate-argument-expression",
        SUM,
        by_k("sum(n * 10) AS total"),
        "a 47; b 31",
        right="a 110; b 40",
    ),
    row(
        "change.aggregate-filter",
        SUM,
        by_k("sum(n) FILTER (WHERE n > 4) AS total"),
        "a 7; b 1",
        right="a 5; b",
    ),
    row(
        "change.aggregate-order",
        by_k("sum(n) AS total, max(q) AS other"),
        by_k("max(q) AS other, sum(n) AS total"),
        "a 504 400; b 103 300",
        right="a 11 500; b 4 300",
    ),
    row(
        "change.aggregate-order-types",
        by_k("sum(n) AS total, max(d) AS mean"),
        by_k("max(d) AS mean, sum(n) AS total"),
        VALUE,
    ),
    row("change.aggregate-added", SUM, by_k("sum(n) AS total, avg(n) AS mean"), VALUE),
    row("change.aggregate-added-by-having", SUM, by_k("sum(n) AS total", rest="HAVING max(n) > 1"), VALUE),
    row("change.aggregate-removed", by_k("sum(n) AS total, max(q) AS other"), SUM, VALUE),
    row("change.aggregate-repeated", SUM, by_k("sum(n) AS total, sum(n) AS other"), "a 11 11; b 4 4"),
    row("change.aggregate-renamed", SUM, by_k("sum(n) AS other"), "a 11; b 4"),
    row("change.above-aggregate", SUM, by_k("sum(n) * 10 AS total"), "a 110; b 40"),
    row("change.having", SUM, by_k("sum(n) AS total", rest="HAVING sum(n) > 5"), "a 11"),
    row(
        "change.having-on-key", SUM, by_k("sum(n) AS total", rest="HAVING k = 'a'"), "a 11; b 1", right="a 11"
    ),
    row(
        "change.having-on-key-removed",
        by_k("sum(n) AS total", rest="HAVING k = 'a'"),
        SUM,
        "a 11; b 3",
        right="a 11; b 4",
    ),
    row(
        "change.filter-before-state",
        SUM,
        by_k("sum(n) AS total", source="events WHERE n > 3"),
        "a 11; b 1",
        right="a 9",
    ),
    row("change.filter-after-state", SUM, f"SELECT * FROM ({SUM}) WHERE total > 5", "a 11"),
    row(
        "change.filter-after-state-on-key",
        SUM,
        f"SELECT * FROM ({SUM}) WHERE k = 'a'",
        "a 11; b 1",
        right="a 11",
    ),
    row(
        "change.input-of-state",
        SUM,
        by_k("sum(n) AS total", source="(SELECT k, n * 10 AS n FROM events)"),
        "a 47; b 31",
        right="a 110; b 40",
    ),
    row(
        "change.same-rewritten",
        SUM,
        "WITH e AS (SELECT n, k AS who FROM events) SELECT who AS k, sum(n) AS total FROM e GROUP BY 1",
        "a 11; b 4",
    ),
]
KEYS = [
    row("change.grouping-key-added", SUM, "SELECT k, m, sum(n) AS total FROM events GROUP BY k, m", KEY),
    row("change.grouping-key-removed", "SELECT k, m, sum(n) AS total FROM events GROUP BY k, m", SUM, KEY),
    row("change.grouping-key-removed-all", SUM, "SELECT sum(n) AS total FROM events", KEY),
    row(
        "change.grouping-key-expression",
        SUM,
        "SELECT upper(k) AS k, sum(n) AS total FROM events GROUP BY upper(k)",
        "A 4; B 3; a 7; b 1",
        right="A 11; B 4",
    ),
    row(
        "change.grouping-key-column",
        SUM,
        "SELECT m AS k, sum(n) AS total FROM events GROUP BY m",
        "a 7; b 1; x 4; y 3",
        right="x 10; y 5",
    ),
    row(
        "change.grouping-key-renamed",
        SUM,
        "SELECT k AS m, sum(n) AS total FROM events GROUP BY k",
        "a 11; b 4",
    ),
    row("change.grouping-key-hidden", SUM, "SELECT sum(n) AS total FROM events GROUP BY k", "11; 4"),
    row(
        "change.grouping-key-not-null",
        SUM,
        "SELECT coalesce(k, '') AS k, sum(n) AS total FROM events GROUP BY coalesce(k, '')",
        "a 11; b 4",
    ),
    row(
        "change.grouping-key-nullable",
        "SELECT coalesce(k, '') AS k, sum(n) AS total FROM events GROUP BY coalesce(k, '')",
        SUM,
        KEY,
    ),
    row(
        "change.grouping-key-type",
        "SELECT n AS other, count(*) AS total FROM events GROUP BY n",
        "SELECT i AS whole, count(*) AS total FROM events GROUP BY i",
        KEY,
    ),
    row(
        "change.grouping-key-order",
        "SELECT k, m, sum(n) AS total FROM events GROUP BY k, m",
        "SELECT k, m, sum(n) AS total FROM events GROUP BY m, k",
        "a x 4; b y 3; x a 5; x b 1; y a 2",
        right="a x 9; a y 2; b x 1; b y 3",
    ),
    row(
        "change.grouping-key-order-types",
        "SELECT k, n AS other, count(*) AS total FROM events GROUP BY k, n",
        "SELECT k, n AS other, count(*) AS total FROM events GROUP BY n, k",
        KEY,
    ),
    row(
        "change.grouping-key-select-order",
        "SELECT k, m, sum(n) AS total FROM events GROUP BY k, m",
        "SELECT m, k, sum(n) AS total FROM events GROUP BY k, m",
        "a x 9; a y 2; b x 1; b y 3",
    ),
    row(
        "change.distinct-to-group-by",
        "SELECT DISTINCT k FROM events",
        "SELECT k FROM events GROUP BY k",
        "a; b",
    ),
    row("change.distinct-columns", "SELECT DISTINCT k FROM events", "SELECT DISTINCT k, m FROM events", KEY),
    row("change.rollup", SUM, "SELECT k, sum(n) AS total FROM events GROUP BY ROLLUP (k)", KEY),
]
WINDOWS = [
    row(
        "change.window-size",
        FIVE,
        by_window("window(at, '1 minute')"),
        "00:00 5; 00:05 3; 00:08 4; 00:09 3",
        right="00:01 5; 00:07 2; 00:08 5; 00:09 3",
    ),
    row(
        "change.window-slide",
        by_window("window(at, '10 minutes', '5 minutes')"),
        by_window("window(at, '10 minutes', '2 minutes')"),
        "00:00 15; 00:02 7; 00:04 7; 00:05 3; 00:06 7; 00:08 7; 23:55 5",
        right="00:00 15; 00:02 10; 00:04 10; 00:06 10; 00:08 8; 23:52 5; 23:54 5; 23:56 5; 23:58 7",
    ),
    row(
        "change.window-start",
        FIVE,
        by_window("window(at, '5 minutes', '5 minutes', '1 minute')"),
        "00:00 5; 00:05 3; 00:06 7",
        right="00:01 5; 00:06 10",
    ),
    row("change.window-to-sliding", FIVE, by_window("window(at, '5 minutes', '1 minute')"), KEY),
    row(
        "change.window-column",
        FIVE,
        by_window("window(sent, '5 minutes')"),
        "00:00 5; 00:05 3; 01:05 7",
        right="01:00 5; 01:05 10",
    ),
    row(
        "change.window-to-date-trunc",
        FIVE,
        "SELECT date_trunc('HOUR', at) AS since, sum(n) AS total FROM events GROUP BY date_trunc('HOUR', at)",
        KEY,
    ),
    row(
        "change.date-trunc-unit",
        "SELECT date_trunc('HOUR', at) AS since, sum(n) AS total FROM events GROUP BY date_trunc('HOUR', at)",
        "SELECT date_trunc('MINUTE', at) AS since, sum(n) AS total FROM events GROUP BY "
        "date_trunc('MINUTE', at)",
        "00:00 8; 00:08 4; 00:09 3",
        right="00:01 5; 00:07 2; 00:08 5; 00:09 3",
    ),
    row(
        "change.window-to-session",
        by_k_and("window(at, '5 minutes')"),
        by_k_and("session_window(at, '5 minutes')"),
        OPERATORS,
    ),
    row(
        "change.session-gap",
        by_k_and("session_window(at, '5 minutes')"),
        by_k_and("session_window(at, '30 seconds')"),
        "00:01 a 5; 00:07 a 6; 00:08 b 4",
        right="00:01 a 5; 00:07 a 2; 00:08 a 4; 00:08 b 1; 00:09 b 3",
    ),
    row(
        "change.session-gap-wider",
        by_k_and("session_window(at, '1 minute')"),
        by_k_and("session_window(at, '10 minutes')"),
        "00:01 a 5; 00:07 a 6; 00:08 b 4",
        right="00:01 a 11; 00:08 b 4",
    ),
    row(
        "change.window-size-append",
        closed(FIVE),
        closed(by_window("window(at, '1 minute')")),
        "00:00 5; 00:08 4",
        right="00:01 5; 00:07 2; 00:08 5",
    ),
    row(
        "change.watermark-delay",
        closed(by_window("window(at, '1 minute')")),
        closed(by_window("window(at, '1 minute')"), delay="1 hour"),
        "00:01 5; 00:07 2",
        right="-",
    ),
    row(
        "change.watermark-delay-shorter",
        closed(by_window("window(at, '1 minute')"), delay="1 hour"),
        closed(by_window("window(at, '1 minute')")),
        "00:01 5; 00:07 2; 00:08 5",
    ),
    row(
        "change.watermark-column",
        closed(by_window("window(at, '1 minute')")),
        closed(by_window("window(sent, '1 minute')"), column="sent"),
        "00:01 5; 00:07 2; 00:08 1; 01:08 4",
        right="01:01 5; 01:07 2; 01:08 5",
    ),
    row("change.watermark-added", FIVE, replace(closed(FIVE), mode="complete"), "00:00 5; 00:05 10"),
    row("change.watermark-removed", replace(closed(FIVE), mode="complete"), FIVE, "00:00 5; 00:05 10"),
    row(
        "change.append-to-complete",
        closed(FIVE),
        replace(closed(FIVE), mode="complete"),
        "00:05 10",
        right="00:00 5; 00:05 10",
    ),
    row(
        "change.complete-to-append",
        replace(closed(FIVE), mode="complete"),
        closed(FIVE),
        "00:00 5; 00:00 5; 00:05 3",
        right="00:00 5",
    ),
]
STATE = [
    row("change.dedup-columns", unique("k"), unique("k", "m"), KEY),
    row(
        "change.dedup-column-of-equal-type",
        unique("k"),
        unique("m"),
        "a x 4; a x 5; b x 1; b y 3",
        right="a x 5; a y 2",
    ),
    row(
        "change.dedup-column-order",
        unique("k", "m"),
        unique("m", "k"),
        "a x 4; a x 5; a y 2; b x 1; b y 3",
        right="a x 5; a y 2; b x 1; b y 3",
    ),
    row("change.dedup-column-type", unique("k"), unique("n"), KEY),
    row(
        "change.dedup-watermark-added",
        unique("k"),
        replace(unique("k"), watermark=("at", "0 seconds")),
        "a x 5; b x 1",
    ),
    row(
        "change.dedup-watermark-column-added",
        replace(unique("k"), watermark=("at", "0 seconds")),
        replace(unique("k", "at"), watermark=("at", "0 seconds")),
        KEY,
    ),
    row(
        "change.dedup-to-within-watermark",
        replace(unique("k"), watermark=("at", "0 seconds")),
        replace(unique(), unique_within=("k",), watermark=("at", "0 seconds")),
        OPERATORS,
    ),
    row(
        "change.dedup-to-distinct",
        unique("k", sql="SELECT k FROM events"),
        closed("SELECT at AS since, k FROM events GROUP BY at, k"),
        OPERATORS,
    ),
    row("change.state-added", PLAIN, unique("k", sql=PLAIN.sql), NO_STATE),
    row("change.state-added-aggregation", PLAIN, SUM, NO_STATE),
    row("change.state-removed", unique("k", sql=PLAIN.sql), PLAIN, OPERATORS),
    row("change.state-removed-aggregation", SUM, PLAIN, OPERATORS),
    row("change.state-second-operator", SUM, replace(unique("m", sql=SUM), mode="complete"), OPERATORS),
    row(
        "change.state-second-operator-removed", replace(unique("m", sql=SUM), mode="complete"), SUM, OPERATORS
    ),
    row("change.state-other-operator", SUM, unique("k", sql="SELECT k FROM events"), OPERATORS),
    row("change.limit-added", PLAIN, replace(PLAIN, sql=PLAIN.sql + " LIMIT 4"), NO_STATE),
    row("change.limit-removed", replace(PLAIN, sql=PLAIN.sql + " LIMIT 2"), PLAIN, OPERATORS),
    row("change.limit-after-aggregation", SUM, SUM + " ORDER BY total LIMIT 1", "b 4"),
]
ABOVE: list[Row] = [
    row(
        "change.dedup-output",
        unique("k"),
        unique("k", sql="SELECT k, q AS total FROM events"),
        "a x 5; b x 1",
    ),
    row(
        "change.dedup-filter-after",
        unique("k"),
        unique("k", sql="SELECT k, n AS total FROM events WHERE m = 'y'"),
        "a x 5; b x 1",
    ),
    row(
        "change.projection",
        PLAIN,
        replace(PLAIN, sql="SELECT k, n * 10 AS total FROM events"),
        "a 2; a 40; a 5; b 1; b 30",
    ),
    row(
        "change.projection-added",
        PLAIN,
        replace(PLAIN, sql="SELECT k, m, n AS total FROM events"),
        "a 2; a 5; a x 4; b 1; b y 3",
    ),
    row("change.filter", PLAIN, replace(PLAIN, sql=PLAIN.sql + " WHERE n > 3"), "a 2; a 4; a 5; b 1"),
    row(
        "change.limit",
        replace(PLAIN, sql=PLAIN.sql + " LIMIT 4"),
        replace(PLAIN, sql=PLAIN.sql + " LIMIT 100"),
        "a 2; a 4; a 5; b 1; b 3",
    ),
    row(
        "change.limit-reached",
        replace(PLAIN, sql=PLAIN.sql + " LIMIT 2"),
        replace(PLAIN, sql=PLAIN.sql + " LIMIT 100"),
        "a 2; a 4; a 5; b 3",
    ),
    row(
        "change.limit-lowered",
        replace(PLAIN, sql=PLAIN.sql + " LIMIT 100"),
        replace(PLAIN, sql=PLAIN.sql + " LIMIT 1"),
        "a 2; a 5; b 1",
    ),
    row(
        "change.join-output-of-read-columns",
        join(),
        join(columns="upper(e.k) AS k, o.m"),
        "A x; A x; B x; B y; a x; a y; b x",
    ),
]
"""The changes above the state: rows that were written stay as they are, and those that are written from now
on follow the new query. Nothing is mixed within a row.
"""
NOBODY = "e.m = o.m AND e.n + o.n > 100"
WIDE = "10 MINUTES"
JOINS = [
    row("change.left-to-inner-join", join("LEFT", on=NOBODY), join("INNER", on=NOBODY), "a", right="-"),
    row("change.inner-to-left-join", join("INNER"), join("LEFT"), VALUE),
    row("change.inner-to-right-join", join("INNER"), join("RIGHT"), VALUE),
    row("change.left-to-full-join", join("LEFT"), join("FULL"), VALUE),
    row("change.left-to-right-join", join("LEFT"), join("RIGHT"), VALUE),
    row("change.full-to-inner-join", join("FULL", on=NOBODY), join("INNER", on=NOBODY), "a; x", right="-"),
    row(
        "change.inner-to-semi-join",
        join("INNER", columns="e.k, e.m", bound=WIDE),
        join("LEFT SEMI", columns="e.k, e.m", bound=WIDE),
        "a x; a x; a y; b x; b x; b y",
        right="a x; a x; a y; b x; b y",
    ),
    row("change.join-key", join(), join(on="e.k = o.k"), VALUE),
    row(
        "change.join-key-equal-columns",
        join(columns="e.k, e.m", where="WHERE e.k || o.k > ''"),
        join(on="e.k = o.k", columns="e.k, e.m", where="WHERE e.m || o.m > ''"),
        "a x; a x; a y; b x; b y",
        right="a x; a x; a x; a y; b x; b y; b y",
    ),
    row(
        "change.left-to-semi-join",
        join("LEFT", on=NOBODY, columns="e.k, e.m"),
        join("LEFT SEMI", on=NOBODY, columns="e.k, e.m"),
        "a x",
        right="-",
    ),
    row(
        "change.semi-to-inner-join",
        join("LEFT SEMI", columns="e.k, e.m", bound=WIDE),
        join("INNER", columns="e.k, e.m", bound=WIDE),
        "a x; a x; a x; a x; a y; b x; b x; b y; b y",
        right="a x; a x; a x; a x; a y; b x; b x; b x; b y; b y",
    ),
    row(
        "change.join-key-expression",
        join(),
        join(on="lower(e.m) = lower(o.m)"),
        "a x; a x; a x; a y; b x; b x; b y",
    ),
    row("change.join-key-type", join(), join(on="e.n = o.n"), KEY),
    row("change.join-key-added", join(), join(on="e.m = o.m AND e.k = o.k"), KEY),
    row(
        "change.join-condition",
        join(columns="e.k, o.m, e.n AS total"),
        join(columns="e.k, o.m, e.n AS total", on="e.m = o.m AND e.n > 4"),
        "a x 5; a y 2; b x 1; b x 1",
        right="a x 5",
    ),
    row(
        "change.join-time-bound",
        join(),
        join(bound=WIDE),
        "a x; a x; a x; a y; b x; b x; b y; b y",
        right="a x; a x; a x; a x; a y; b x; b x; b x; b y; b y",
    ),
    row("change.join-output-columns", join(), join(columns="e.k, o.m, o.n AS total"), VALUE),
    row(
        "change.join-filter-before",
        join(),
        join(where="WHERE e.k = 'a'"),
        "a x; a x; a x; a y; b x; b x",
        right="a x; a x; a x; a y",
    ),
    row(
        "change.join-sides-swapped",
        join(columns="e.k, e.m"),
        closed(
            "SELECT e.k, e.m FROM more o JOIN events e ON e.m = o.m AND e.at BETWEEN o.at AND o.at + "
            "INTERVAL 1 MINUTE",
            delay="1 minute",
        ),
        VALUE,
    ),
    row(
        "change.join-watermark-delay",
        join(),
        replace(join(), watermark=("at", "1 hour")),
        "a x; a x; a x; a y; b x; b x; b y",
    ),
]
ROWS: Final = (*AGGREGATES, *KEYS, *WINDOWS, *STATE, *ABOVE, *JOINS)


def play(lake: Lake, change: Row) -> str:
    """Both runs on one checkpoint: the table afterwards, or why the second run ended."""
    for key, value in CONF.items():
        lake.spark.conf.set(key, value)
    lake.create("out", OUT)
    land(lake, FIRST)
    run(lake, change.before)
    land(lake, SECOND)
    return outcome_of(lake, change.after)


def fresh(lake: Lake, query: Query) -> str:
    """The result of the query over all files, in the same batches, on a checkpoint of its own."""
    if query.mode == "complete" and not (query.unique or query.unique_within):
        return batch(lake, query)
    lake.create("fresh", OUT)
    run(lake, query, "fresh", maxFilesPerTrigger=1)
    return text(lake.load("fresh").scan().to_arrow().to_pylist())


def batch(lake: Lake, query: Query) -> str:
    """The result of a complete aggregation, by definition; quicker than a stream."""
    lake.spark.read.schema(EVENT).json(str(lake.folder / "events")).createOrReplaceTempView("events")
    frame = lake.spark.sql(query.sql)
    rows = [dict(zip(frame.columns, values, strict=True)) for values in collected(frame)]
    return text([{name: item[name] for name in OUT if name in item} for item in rows])


def land(lake: Lake, rows: list[dict[str, object]]) -> None:
    for folder in ("events", "more"):
        lake.land(folder, rows)


def run(lake: Lake, query: Query, table: str = "out", **options: object) -> None:
    lake.run(
        query.frame(lake, **options),
        table,
        mode=query.mode,
        checkpoint=f"checkpoint-{table}",
        **{"check-ordering": "false"},
    )


def outcome_of(lake: Lake, query: Query) -> str:
    from pyspark.errors import StreamingQueryException

    try:
        run(lake, query)
    except StreamingQueryException as failure:
        return f"!{heart(failure)}"
    return text(lake.load("out").scan().to_arrow().to_pylist())


def heart(failure: Any) -> str:
    """The innermost error condition, or else its first words."""
    words = str(failure).partition("terminated with exception: ")[2]
    condition = re.match(r"\[([A-Z_0-9.]+)\]", words)
    return condition[1] if condition else words.splitlines()[0][:80]


def text(rows: list[dict[str, Any]]) -> str:
    return (
        "; ".join(
            sorted(" ".join(cell(value) for value in item.values() if value is not None) for item in rows)
        )
        or "-"
    )


def cell(value: Any) -> str:
    match value:
        case datetime():
            return value.strftime("%H:%M")
        case float():
            return f"{value:g}"
        case _:
            return str(value)
