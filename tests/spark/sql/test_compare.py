"""The differences between two queries are reported part by part, and only queries that cannot differ are
called the same.
"""

import re
from collections.abc import Collection, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.compare import Meaning, compare_queries
from flareiac_spark.sql.query import Query
from tests.facts import changed_state as measurements
from tests.spark.driver.test_proof import APART, STREAMS, TABLES

COLUMNS = {
    "t": {
        "n": "long",
        "m": "long",
        "i": "int",
        "d": "double",
        "k": "string",
        "j": "string",
        "ts": "timestamptz",
        "arr": "list<long>",
    },
    "u": {"n2": "long", "k": "string", "j2": "string", "ts": "timestamptz"},
    "names": {"k": "string", "name": "string"},
}


def query(
    sql: str | Mapping[str, str],
    *,
    known: bool = True,
    dedups: Mapping[str, tuple[str, ...]] | None = None,
    table: str = "",
) -> Query:
    steps = {"s": sql} if isinstance(sql, str) else sql
    return Query(
        steps=steps,
        source=list(steps)[-1],
        streams=["t", "u"],
        columns=COLUMNS if known else {},
        dedups=dedups or {},
        table_columns=table.split(),
    )


def compare(old: str | Mapping[str, str], new: str | Mapping[str, str], *, known: bool = True) -> Meaning:
    return compare_queries(query(old, known=known), query(new, known=known))


SUM = "SELECT k, sum(n) AS s FROM t GROUP BY k"
BOTH = "SELECT k, sum(n) AS s, max(m) AS x FROM t GROUP BY k"
HOURS = "SELECT window.start AS h, k, count(*) AS c FROM t GROUP BY window(ts, '1 hour'), k"
JOINED = "SELECT t.k, t.n, u.n2 FROM t JOIN u ON t.k = u.k AND t.ts < u.ts + INTERVAL 1 HOUR"


@pytest.mark.parametrize("known", [True, False], ids=["columns known", "columns unknown"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SUM, "select `k` , SUM( n ) s -- total\nfrom T group by K"),
        (SUM, "SELECT a.k, sum(a.n) AS s FROM t AS a GROUP BY a.k"),
        (SUM, "SELECT k AS k, sum(n) AS s FROM t GROUP BY 1"),
        (SUM, "SELECT k, sum(n) AS s FROM t GROUP BY ALL"),
        (SUM, {"clean": "SELECT k AS who, n FROM t", "total": ("SELECT who AS k, sum(n) AS s FROM clean "
            "GROUP BY who")}),
        (SUM, {"other": "SELECT n * 2 AS x FROM u", "total": SUM}),
        (SUM, "WITH c AS (SELECT * FROM t) SELECT k, sum(n) AS s FROM (SELECT * FROM c) GROUP BY k"),
        (SUM, {"sums": "SELECT k, sum(n) AS s, max(m) AS unread FROM t GROUP BY k", "out": ("SELECT k, s "
            "FROM sums")}),
        ("SELECT n + 1 AS x FROM t WHERE m < 2 AND n > 1", ("SELECT y + 1 AS x FROM (SELECT n AS y FROM t "
            "WHERE m < 2) WHERE y > 1")),
        ("SELECT t.k FROM t JOIN u ON t.k = u.k AND t.n <=> u.n2", ("SELECT a.k FROM t a JOIN u b ON b.k = a.k "
            "AND a.n <=> b.n2")),
        ("SELECT n FROM t WHERE n = 1 OR (m = 2 AND k = 'a')", ("SELECT n FROM t WHERE n = 1 "
            "OR ((m = 2) AND k = 'a')")),
        ("WITH a AS (SELECT n FROM t), b AS (SELECT m FROM t) SELECT a.n, b.m FROM a CROSS JOIN b",
         "WITH b AS (SELECT m FROM t), a AS (SELECT n FROM t) SELECT a.n, b.m FROM a CROSS JOIN b"),
        ("SELECT DISTINCT k FROM t", "SELECT k FROM t GROUP BY k"),
        ("SELECT k FROM t UNION ALL SELECT k FROM u", {"a": "SELECT k AS z FROM t", "b": ("SELECT z FROM a "
            "UNION ALL SELECT k FROM u"),
                                                        "c": "SELECT z AS k FROM b"}),
        ("SELECT t.k, u.n2 FROM t, u WHERE t.k = u.k", "SELECT a.k, b.n2 FROM t a JOIN u b ON b.k = a.k"),
        ("SELECT t.k, u.n2 FROM t JOIN u USING (k)", "SELECT t.k, u.n2 FROM t JOIN u ON t.k = u.k"),
        ("SELECT a.n FROM t a JOIN u b ON a.k = b.k AND b.n2 > 1",
         "SELECT a.n FROM t a JOIN (SELECT * FROM u WHERE n2 > 1) b ON a.k = b.k"),
        ("SELECT a.n, x.name FROM t a LEFT JOIN names x ON a.k = x.k",
         {"few": "SELECT n, k FROM t", "out": ("SELECT f.n, name FROM few f LEFT JOIN (SELECT k, name FROM "
             "names) z ON z.k = f.k")}),
        ("SELECT k, e FROM t LATERAL VIEW explode(arr) x AS e", ("SELECT y.k, z.f AS e FROM t y LATERAL "
            "VIEW explode(y.arr) z AS f")),
        ("SELECT transform(arr, x -> x + 1) AS a FROM t", "select TRANSFORM(arr, x->x+1) a from t"),
        (HOURS, ("SELECT w.start AS h, k, c FROM (SELECT window AS w, k, count(*) AS c FROM t GROUP BY k2, "
            "window(ts, '1 hour'))").replace(
            "k2, window(ts, '1 hour')", "window(ts, '1 hour'), k")),
        ("SELECT k, sum(n) AS s FROM t GROUP BY k HAVING sum(n) > 1",
         "SELECT * FROM (SELECT k, sum(n) AS s FROM t GROUP BY k) WHERE s > 1"),
    ],
)  # fmt: skip
def test_the_same_meaning(old: str, new: str, *, known: bool) -> None:
    assert compare(old, new, known=known).differences == ()
    assert compare(new, old, known=known).same


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT k AS x, sum(n) AS s FROM t GROUP BY k, x, t.K, 1", ("SELECT k AS x, sum(n) AS s FROM t "
            "GROUP BY k")),
        ("SELECT k, sum(t.N) AS s, SUM( n ) AS r FROM t GROUP BY k HAVING sum(n) > 1",
         "SELECT k, sum(n) AS s, sum(n) AS r FROM t GROUP BY k HAVING sum(n) > 1"),
        ("SELECT CAST(j AS STRUCT<x: INT, y: STRING>) AS a FROM t",
         "SELECT CAST(j AS STRUCT<x: INT, -- note\ny: /* too */ STRING>) AS a FROM t"),
        ("SELECT to_json(struct(n, k)) AS a FROM t", "SELECT to_json(struct(((n)), (k))) AS a FROM t"),
    ],
)  # fmt: skip
def test_the_same_meaning_of_names_and_layout(old: str, new: str) -> None:
    assert compare(old, new).differences == ()
    assert compare(new, old).same


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT if(n > 1, ts, ts) AS x FROM t", "SELECT ts AS x FROM t"),  # only the latter has a watermark
        ("SELECT if(n > 1, k, k) AS x FROM t", "SELECT if(n > 1, k, j) AS x FROM t"),
        ("SELECT CASE WHEN n > 1 THEN k END AS x FROM t", "SELECT k AS x FROM t"),
        ("SELECT if(rand() > 1, k, k) AS x FROM t", "SELECT k AS x FROM t"),
        ("SELECT k, sum(n) AS s FROM t GROUP BY k, if(n > 1, k, k)", SUM),  # two keys
        ("SELECT k, sum(n) AS s FROM t GROUP BY if(n > 1, k, k), if(n > 2, k, k), k", SUM),
        ("SELECT k, k ILIKE 'A%' AS a, sum(n) AS s FROM t GROUP BY k, k ILIKE 'A%', k ILIKE 'a%'",
         "SELECT k, k ILIKE 'a%' AS a, sum(n) AS s FROM t GROUP BY k, k ILIKE 'a%'"),
        ("SELECT k, sum(a) AS s, sum(b) AS r FROM (SELECT k, n AS a, if(m > 1, n, n) AS b FROM t) GROUP BY k",
         "SELECT k, sum(n) AS s, sum(n) AS r FROM t GROUP BY k"),
        ("SELECT k, sum(n) AS s FROM (SELECT k, k AS x, n FROM t) GROUP BY k, x", SUM),
        ("SELECT k, sum(n) AS s, sum(x) AS r FROM (SELECT k, n, n AS x FROM t) GROUP BY k",
         "SELECT k, sum(n) AS s, sum(n) AS r FROM t GROUP BY k"),
        ("SELECT n FROM t WHERE k LIKE 'A%'", "SELECT n FROM t WHERE k LIKE 'a%'"),
        ("SELECT n FROM t WHERE k ILIKE 'aA%' ESCAPE 'A'", "SELECT n FROM t WHERE k ILIKE 'aa%' ESCAPE 'A'"),
        ("SELECT n FROM t WHERE k ILIKE '\\T%'", "SELECT n FROM t WHERE k ILIKE '\\t%'"),
        ("SELECT size(array_distinct(arr)) AS a FROM t", ("SELECT array_size(array_distinct(arr)) AS a FROM "
            "t")),
        ("SELECT ts + INTERVAL 5 MINUTES AS a FROM t", "SELECT ts + INTERVAL 5 MONTHS AS a FROM t"),
        ("SELECT to_json(struct((n))) AS a FROM t", "SELECT to_json(struct((m))) AS a FROM t"),
        ("SELECT to_json(struct((n))) AS a FROM t", "SELECT to_json(struct(n + 0)) AS a FROM t"),
        ("SELECT k FROM t WHERE n <= n", "SELECT k FROM t WHERE n <= n AND m > 1"),
        ("SELECT k FROM t WHERE n > 1 AND false", "SELECT k FROM t WHERE n > 1"),
        ("SELECT k, sum(n) AS s FROM t WHERE ts <> ts GROUP BY k", ("SELECT k, sum(n) AS s FROM t WHERE ts "
            "<> ts AND n > 1 GROUP BY k")),
        ("SELECT k, sum(n) AS s FROM t WHERE n <> n GROUP BY k", ("SELECT k, sum(n) AS s FROM t WHERE n <> "
            "n AND rand() < 0.5 GROUP BY k")),
        ("SELECT k FROM t WHERE false", "SELECT k FROM u WHERE false"),
        ("SELECT t.k FROM t JOIN u ON t.k = u.k AND t.n <=> u.n2", ("SELECT t.k FROM t JOIN u ON t.n <=> u.n2 AND "
            "t.k = u.k")),
        ("SELECT t.k FROM t JOIN names x ON t.k = x.k AND t.n > length(x.name)", ("SELECT t.k FROM t JOIN names x "
            "ON t.n > length(x.name) AND t.k = x.k")),
        ({"p": "SELECT n AS x, m AS y FROM t", "q": "SELECT x FROM IDENTIFIER('p')"},
         {"p": "SELECT m AS x, n AS y FROM t", "q": "SELECT x FROM IDENTIFIER('p')"}),
    ],
)  # fmt: skip
def test_what_is_not_simplified(old: str, new: str) -> None:
    assert not compare(old, new).same
    assert not compare(new, old).same


CHANGES = [
    # without state
    ("SELECT n FROM t", "SELECT n, m FROM t", "projection: -> m (added m)"),
    ("SELECT n AS a FROM t", "SELECT n AS b FROM t", ("projection: -> n AS b (added b); projection: n AS a "
        "-> (removed a)")),
    ("SELECT n, m FROM t", "SELECT m, n FROM t", "projection: n, m -> m, n (only their order)"),
    ("SELECT date_format(ts, 'yyyy') AS y FROM t", "SELECT date_format(ts, 'YYYY') AS y FROM t",
     "projection: date_format(ts, 'yyyy') AS y -> date_format(ts, 'YYYY') AS y (y changed)"),
    ("SELECT size(arr) AS a FROM t", "SELECT array_size(arr) AS a FROM t",
     "projection: size(arr) AS a -> array_size(arr) AS a (a changed)"),
    ("SELECT n FROM t", "SELECT n FROM t WHERE n > 1", "filter: -> n > 1"),
    ("SELECT n FROM t", "SELECT n2 AS n FROM u", "sources: t -> u; projection: n -> n2 AS n (n changed)"),
    ("SELECT n, '' AS name FROM t", "SELECT n, name FROM t LEFT JOIN names ON t.k = names.k",
     ("projection: -> left join with names (added the join with names); projection: '' AS name -> name "
     "(name changed)")),
    ("SELECT n, name FROM t JOIN names ON t.k = names.k", ("SELECT n, name FROM t LEFT JOIN names ON t.k = "
        "names.k"),
     "projection: inner join -> left join (the join with names)"),
    ("SELECT k FROM t UNION ALL SELECT k FROM u", "SELECT k FROM u UNION ALL SELECT k FROM t", ("sources: t "
        "-> u; sources: u -> t")),
    ("SELECT rand() AS r FROM t", "SELECT rand() AS r FROM t WHERE n > 1", "filter: -> n > 1"),
    # aggregates
    (SUM, "SELECT k, max(n) AS s FROM t GROUP BY k", "aggregate-changed: sum(n) -> max(n) [same type]"),
    (SUM, "SELECT k, count(n) AS s FROM t GROUP BY k", "aggregate-changed: sum(n) -> count(n) [same type]"),
    ("SELECT k, count(n) AS s FROM t GROUP BY k", SUM, "aggregate-changed: count(n) -> sum(n) [other type]"),
    (SUM, "SELECT k, avg(n) AS s FROM t GROUP BY k", "aggregate-changed: sum(n) -> avg(n) [other type]"),
    (SUM, "SELECT k, stddev(n) AS s FROM t GROUP BY k", "aggregate-changed: sum(n) -> stddev(n)"),
    (SUM, "SELECT k, sum(m) AS s FROM t GROUP BY k", "aggregate-argument: sum(n) -> sum(m) [same type]"),
    (SUM, "SELECT k, sum(d) AS s FROM t GROUP BY k", "aggregate-argument: sum(n) -> sum(d) [other type]"),
    (SUM, "SELECT k, sum(i) AS s FROM t GROUP BY k", "aggregate-argument: sum(n) -> sum(i) [same type]"),
    (SUM, "SELECT k, sum(n) FILTER (WHERE m > 1) AS s FROM t GROUP BY k",
     "aggregate-argument: sum(n) -> sum(n) FILTER(WHERE m > 1) [same type]"),
    (SUM, "SELECT k, sum(DISTINCT n) AS s FROM t GROUP BY k", "aggregate-changed: sum(n) -> sum(DISTINCT n)"),
    (SUM, BOTH, "aggregate-added: -> max(m); projection: -> max(m) AS x (added x)"),
    (BOTH, SUM, "aggregate-removed: max(m) ->; projection: max(m) AS x -> (removed x)"),
    (SUM, SUM + " HAVING max(m) > 1", "aggregate-added: -> max(m); filter: -> max(m) > 1"),
    (BOTH, "SELECT k, max(m) AS x, sum(n) AS s FROM t GROUP BY k",
     ("aggregate-order: sum(n), max(m) -> max(m), sum(n) [same type]; projection: k, s, x -> k, x, s (only "
     "their order)")),
    (SUM, "SELECT k, sum(n) * 10 AS s FROM t GROUP BY k", ("projection: sum(n) AS s -> sum(n) * 10 AS s (s "
        "changed)")),
    (SUM, "SELECT sum(n) AS s FROM t GROUP BY k", "projection: k -> (removed k)"),
    # groups
    (SUM, "SELECT k, sum(n) AS s FROM t GROUP BY k, j", "grouping-keys: -> j (added j) [other type]"),
    ("SELECT k, sum(n) AS s FROM t GROUP BY k, j", SUM, "grouping-keys: j -> (removed j) [other type]"),
    (SUM, "SELECT upper(k) AS k, sum(n) AS s FROM t GROUP BY upper(k)", ("grouping-keys: k -> upper(k) (k "
        "-> upper(k)) [same type]")),
    (SUM, "SELECT i AS k, sum(n) AS s FROM t GROUP BY i", "grouping-keys: k -> i (k -> i) [other type]"),
    ("SELECT sum(n) AS s FROM t GROUP BY k, j", "SELECT sum(n) AS s FROM t GROUP BY j, k",
     "grouping-keys: k, j -> j, k (only their order) [same type]"),
    (SUM, "SELECT k, sum(n) AS s FROM t GROUP BY ROLLUP (k)", "grouping-keys: -> grouping sets [other type]"),
    (HOURS, HOURS.replace("1 hour", "2 hours"),
     "window: window(ts, '1 hour') -> window(ts, '2 hours') (size '1 hour' -> '2 hours') [same type]"),
    (HOURS, HOURS.replace("'1 hour'", "'1 hour', '5 minutes'"),
     ("window: window(ts, '1 hour') -> window(ts, '1 hour', '5 minutes') (slide none -> '5 minutes') [other "
     "type]")),
    (HOURS, HOURS.replace("window", "session_window"),
     "window: window(ts, '1 hour') -> session_window(ts, '1 hour') (window -> session_window) [other type]"),
    (HOURS.replace("window", "session_window"), HOURS.replace("window", "session_window").replace("1 hour", "5 minutes"),
     ("window: session_window(ts, '1 hour') -> session_window(ts, '5 minutes') (gap '1 hour' -> '5 "
     "minutes') [same type]")),
    # below and above the state
    (SUM, "SELECT k, sum(n) AS s FROM t WHERE n > 1 GROUP BY k", "filter-before-state: -> n > 1"),
    (SUM, {"s": "SELECT k, n FROM t WHERE n > 1", "z": SUM.replace(" t ", " s ")}, ("filter-before-state: "
        "-> n > 1")),
    (SUM, SUM + " HAVING sum(n) > 1", "filter: -> sum(n) > 1"),
    (SUM, SUM + " HAVING k > 'a'", "filter-before-state: -> k > 'a' (Spark applies it before the state)"),
    (SUM, f"SELECT * FROM ({SUM}) WHERE k > 'a'", ("filter-before-state: -> k > 'a' (Spark applies it "
        "before the state)")),
    ({"c": "SELECT k, n FROM t", "o": "SELECT k, sum(n) AS s FROM c GROUP BY k"},
     {"c": "SELECT k, n * 10 AS n FROM t", "o": "SELECT k, sum(n) AS s FROM c GROUP BY k"},
     "input-of-state in c: sum(n) -> sum(n * 10) [same type]"),
    # state as a whole
    ("SELECT k FROM t", "SELECT DISTINCT k FROM t", "state-added: -> DISTINCT k (added distinct rows)"),
    ("SELECT k, sum(n) AS s FROM t GROUP BY k", "SELECT k, n AS s FROM t",
     ("state-removed: sum(n) GROUP BY k -> (removed an aggregation); projection: sum(n) AS s -> n AS s (s "
     "changed)")),
    ("SELECT DISTINCT k FROM t", "SELECT DISTINCT k, j FROM t", ("dedup: -> j (added j) [other type]; "
        "projection: -> j (added j)")),
    ("SELECT n FROM t LIMIT 5", "SELECT n FROM t LIMIT 6", "limit: LIMIT 5 -> LIMIT 6 [same type]"),
    ("SELECT n FROM t", "SELECT n FROM t LIMIT 6", "state-added: -> LIMIT 6 (added a limit)"),
    (SUM, SUM + " ORDER BY s", "order: -> sum(n) (added an order of rows)"),
    # joins of two streams
    (JOINED, JOINED.replace("JOIN", "LEFT JOIN"), "join-type: inner join -> left join (inner -> left)"),
    (JOINED, JOINED.replace("1 HOUR", "2 HOURS"),
     "join-condition: ts < ts + INTERVAL '1' HOUR -> ts < ts + INTERVAL '2' HOURS"),
    (JOINED, JOINED.replace("t.k = u.k", "t.k = u.k AND t.n = u.n2"), ("join-keys: k = k -> k = k AND n = "
        "n2 [other type]")),
    (JOINED, JOINED.replace("u.n2 FROM", "u.n2 + 1 AS n2 FROM"), ("projection: n2 -> n2 + 1 AS n2 (n2 "
        "changed)")),
    (JOINED, JOINED.replace("u.n2 FROM", "u.n2, u.j2 FROM"), ("join-columns: -> j2 (added to the right "
        "side); projection: -> j2 (added j2)")),
    (JOINED, JOINED + " WHERE t.n > 1", "filter-before-state: -> n > 1 (Spark applies it before the state)"),
    (JOINED.replace("JOIN", "LEFT JOIN"), JOINED.replace("JOIN", "LEFT JOIN") + " WHERE u.n2 > 1",
     ("filter-before-state: -> n2 > 1 (Spark applies it before the state); join-type: left join -> inner "
     "join (left -> inner)")),
    (JOINED, JOINED.replace("JOIN u", "JOIN (SELECT k, ts, n2 + 1 AS n2 FROM u) u"),
     "input-of-state: n2 -> n2 + 1 (what the right side of the join keeps) [same type]"),
    ("SELECT n, 0 AS n2 FROM t", "SELECT n, n2 FROM t JOIN u ON t.k = u.k",
     ("state-added: -> inner join with u (added a join of two streams); sources: t -> t, u (another set of "
      "relations is read); "
      "projection: n -> n (n changed); projection: 0 AS n2 -> n2 (n2 changed)")),
]  # fmt: skip


def told(found: Meaning) -> str:
    texts = []
    for item in found.differences:
        same = {True: " [same type]", False: " [other type]", None: ""}[item.same_type]
        detail = f" ({item.detail})" if item.detail else ""
        where = f" in {item.step}" if item.part is ChangeKind.INPUT_OF_STATE and item.step != "s" else ""
        texts.append(
            re.sub(" +", " ", f"{item.part}{where}: {item.old} -> {item.new}{detail}{same}")
            .replace(": ->", ": ->")
            .strip()
        )
    return "; ".join(texts)


@pytest.mark.parametrize(("old", "new", "expected"), CHANGES)
def test_another_meaning_names_its_part(old: str, new: str, expected: str) -> None:
    found = compare(old, new)
    assert told(found) == expected
    assert not found.same


@pytest.mark.parametrize(("old", "new"), [(old, new) for old, new, _ in CHANGES])
def test_no_change_is_overlooked_where_columns_are_unknown(old: str, new: str) -> None:
    assert not compare(old, new, known=False).same
    assert not compare(new, old, known=False).same


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT x FROM t WHERE a AND (b OR c)", "SELECT x FROM t WHERE a AND b OR c"),
        ("SELECT date_format(a, 'yyyy') AS a, date_format(b, 'YYYY') AS b FROM t",
         "SELECT date_format(a, 'YYYY') AS a, date_format(b, 'yyyy') AS b FROM t"),
        ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) AS p FROM t", ("SELECT percentile_approx(a, "
            "0.5) AS p FROM t")),
        ("SELECT 'a\\tb' AS a FROM t", "SELECT 'atb' AS a FROM t"),
        ("SELECT \"a'b\" AS a FROM t", "SELECT 'a''b' AS a FROM t"),
        ("SELECT e.n FROM (SELECT n, e FROM t) AS e", "SELECT x.e.n FROM (SELECT n, e FROM t) AS x"),
        ("SELECT coalesce(b.n2, 0) AS x FROM t a LEFT JOIN names b ON a.k = b.k",
         "SELECT b.x FROM t a LEFT JOIN (SELECT k, coalesce(n2, 0) AS x FROM names) b ON a.k = b.k"),
        ("SELECT rand() AS a, rand() AS b FROM t", "SELECT r AS a, r AS b FROM (SELECT rand() AS r FROM t)"),
        ("SELECT a - (b - c) AS x FROM t", "SELECT a - b - c AS x FROM t"),
        ("SELECT a FROM t WHERE b IN (SELECT c FROM v)", "SELECT a FROM t WHERE b IN (SELECT d FROM v)"),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM v WHERE v.x = t.y)",
         "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM v WHERE v.x = t.z)"),
        ("SELECT k, sum(n) AS s FROM t GROUP BY k UNION ALL SELECT k, n FROM t",
         "SELECT k, n AS s FROM t UNION ALL SELECT k, sum(n) FROM t GROUP BY k"),
        ("SELECT n FROM (SELECT n FROM t LIMIT 5) WHERE n > 1", "SELECT n FROM t WHERE n > 1 LIMIT 5"),
        ("SELECT DISTINCT k FROM (SELECT k, n FROM t)", "SELECT k FROM (SELECT DISTINCT k, n FROM t)"),
        ("SELECT * FROM t", "SELECT * EXCEPT (a) FROM t"),
        ("SELECT a.x FROM t a JOIN names b ON a.k = b.k", "SELECT b.x FROM t a JOIN names b ON a.k = b.k"),
        ("SELECT first(a) AS f FROM t", "SELECT first(a) IGNORE NULLS AS f FROM t"),
        ("SELECT a FROM t TABLESAMPLE (10 PERCENT)", "SELECT a FROM t TABLESAMPLE (20 PERCENT)"),
        ("SELECT a FROM lake.x.v VERSION AS OF 1", "SELECT a FROM lake.x.v VERSION AS OF 2"),
    ],
)  # fmt: skip
def test_what_one_spelling_must_not_hide(old: str, new: str) -> None:
    assert not compare(old, new, known=False).same


def test_deduplication_is_part_of_the_query() -> None:
    steps = {"one": "SELECT k, n, m FROM t", "out": "SELECT k, n FROM one"}
    by_k, by_both = query(steps, dedups={"one": ("k",)}), query(steps, dedups={"one": ("k", "n")})
    assert told(compare_queries(by_k, by_both)) == "dedup: k -> k, n (added n) [other type]"
    assert (
        told(compare_queries(by_k, query(steps, dedups={"one": ("m",)})))
        == "dedup: k -> m (removed k, added m) [other type]"
    )
    assert told(compare_queries(query(steps), by_k)) == "state-added: -> k (added a deduplication)"
    more = {**steps, "out": "SELECT k, n, m FROM one WHERE m > 1"}
    assert (
        told(compare_queries(by_k, query(more, dedups={"one": ("k",)})))
        == "filter: -> m > 1; projection: -> m (added m)"
    )
    below = {"one": "SELECT k, n, m FROM t WHERE m > 1", "out": steps["out"]}
    assert (
        told(compare_queries(by_k, query(below, dedups={"one": ("k",)}))) == "filter-before-state: -> m > 1"
    )
    assert compare_queries(by_k, by_both).stateful_before


def test_a_writer_that_orders_the_columns_orders_the_aggregates() -> None:
    other = "SELECT k, max(m) AS x, sum(n) AS s FROM t GROUP BY k"
    assert compare_queries(query(BOTH, table="k s x"), query(other, table="k s x")).same
    moved = compare_queries(query(BOTH, table="k s x"), query(BOTH, table="x k s"))
    assert told(moved) == "aggregate-order: sum(n), max(m) -> max(m), sum(n) [same type]"


def test_an_input_of_another_name_is_the_same_where_it_reads_the_same() -> None:
    old = Query(steps={"s": "SELECT n FROM a"}, source="s", streams=["a"], identities={"a": "files in /x"})
    new = Query(steps={"s": "SELECT n FROM b"}, source="s", streams=["b"], identities={"b": "files in /x"})
    assert compare_queries(old, new).same
    elsewhere = Query(
        steps={"s": "SELECT n FROM b"}, source="s", streams=["b"], identities={"b": "files in /y"}
    )
    assert told(compare_queries(old, elsewhere)) == "sources: files in /x -> files in /y"


def test_steps_that_do_not_feed_the_output_do_not_count() -> None:
    old = {"a": SUM, "b": "SELECT DISTINCT n FROM t"}
    new = {"a": SUM, "b": "SELECT DISTINCT m FROM t"}
    for source, same in (("a", True), ("b", False), ("t", True)):
        sides = [Query(steps=steps, source=source, streams=["t"]) for steps in (old, new)]
        assert compare_queries(*sides).same is same


def test_what_can_not_be_read_is_unknown_unless_its_words_are_the_same() -> None:
    odd = "SELECT a >>> b.c AS x FROM t GROUP BY x"
    found = compare(odd, odd.replace("b.c", "b.d"))
    assert [(item.part, item.step) for item in found.differences] == [(ChangeKind.UNKNOWN, "s")]
    assert found.stateful_after is None
    assert compare(odd, "select  a >>> b.c AS x -- why\nFROM t GROUP BY x").same


def test_equal_texts_are_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("it was parsed")

    monkeypatch.setattr("flareiac_spark.sql.composition.composer.raw_parse", fail)
    monkeypatch.setattr("flareiac_spark.sql.relations.parsed", fail)
    monkeypatch.setattr("flareiac_spark.sql.state.parsed", fail)
    assert compare(SUM, SUM).same


def test_a_step_that_is_read_very_often_is_unknown_and_not_slow() -> None:
    steps = {"s0": "SELECT n FROM t"} | {
        f"s{i}": f"SELECT a.n FROM s{i - 1} a JOIN s{i - 1} b ON a.n = b.n" for i in range(1, 40)
    }
    other = {**steps, "s0": "SELECT m AS n FROM t"}
    assert [item.part for item in compare(steps, other).differences] == [ChangeKind.UNKNOWN]


LEFT_TO_THE_PROOF = {
    "a common table expression that nothing reads": "FIK062 refuses other positions of streams",
    "the same over an aggregation": "FIK062 refuses other positions of streams",
    "double quotes name a column": "the settings of the engine say what double quotes mean",
    "a cast of a step that a later branch guards": "which expressions raise an error is not known here",
    "a cast of a step that a filter of an aggregate guards": "which expressions raise an error is not known here",
}
"""Dangerous edits in which the comparison alone sees no difference, and why."""


def test_what_sparks_plans_tell_apart_is_seen_or_listed() -> None:
    def query(steps: str | Mapping[str, str], marks: Collection[str]) -> Query:
        named = {"s": steps} if isinstance(steps, str) else steps
        return Query(
            steps=named,
            source=list(named)[-1],
            streams=list(STREAMS),
            columns={**STREAMS, **TABLES},
            watermarked=marks,
        )

    unseen = {
        edit.name
        for edit in APART
        if compare_queries(query(edit.old, edit.marks), query(edit.new, edit.marks)).same
    }
    assert unseen == set(LEFT_TO_THE_PROOF)


# Laws

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(0, 9)
EXPRESSIONS = st.recursive(
    NAMES | NUMBERS.map(str),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda each: f"({each[0]} {each[1]} {each[2]})"),
        st.tuples(st.sampled_from(["abs", "round", "hash"]), inner).map(lambda each: f"{each[0]}({each[1]})"),
    ),
    max_leaves=4,
)
FILTERS = st.lists(
    st.tuples(EXPRESSIONS, st.sampled_from(["<", ">", "="]), NUMBERS).map(
        lambda each: f"{each[0]} {each[1]} {each[2]}"
    ),
    max_size=3,
)
CALLS = st.tuples(st.sampled_from(["sum", "max", "min", "count"]), EXPRESSIONS).map(
    lambda each: f"{each[0]}({each[1]})"
)


class Parts:
    """A generated query: columns or aggregates over filtered rows."""

    def __init__(self, columns: list[str], filters: list[str], calls: list[str]) -> None:
        self.columns, self.filters, self.calls = columns, filters, calls

    def sql(self) -> str:
        where = f" WHERE {' AND '.join(self.filters)}" if self.filters else ""
        items = [f"{column} AS x{place}" for place, column in enumerate(self.columns)]
        items += [f"{call} AS y{place}" for place, call in enumerate(self.calls)]
        group = f" GROUP BY {', '.join(self.columns)}" if self.calls else ""
        return f"SELECT {', '.join(items)} FROM t{where}{group}"

    def in_steps(self, alias: str) -> dict[str, str]:
        """The same query in three steps, with other names."""

        def renamed(text: str) -> str:
            return re.sub(r"\b([abc])\b", rf"{alias}.\1_", text)

        first = "SELECT a AS a_, b AS b_, c AS c_, 1 AS unread FROM t"
        second = f"SELECT * FROM first AS {alias}"
        if self.filters:
            second += f" WHERE {' AND '.join(f'({renamed(each)})' for each in self.filters)}"
        items = [f"{renamed(column)} AS x{place}" for place, column in enumerate(self.columns)]
        items += [f"{renamed(call)} AS Y{place}" for place, call in enumerate(self.calls)]
        group = f" GROUP BY {', '.join(renamed(column) for column in self.columns)}" if self.calls else ""
        return {
            "first": first,
            "second": second,
            "third": f"SELECT {', '.join(items)} FROM second {alias}{group}",
        }


PARTS = st.builds(Parts, st.lists(EXPRESSIONS, min_size=1, max_size=3), FILTERS, st.lists(CALLS, max_size=3))


@settings(deadline=None)
@given(PARTS, st.sampled_from(["q", "t", "a", "first"]), st.booleans())
def test_steps_and_aliases_mean_nothing(parts: Parts, alias: str, known: bool) -> None:
    columns = {"t": dict.fromkeys("abc", "long")} if known else {}
    old = Query(steps={"s": parts.sql()}, source="s", streams=["t"], columns=columns)
    new = Query(steps=parts.in_steps(alias), source="third", streams=["t"], columns=columns)
    assert told(compare_queries(old, new)) == ""


@settings(deadline=None)
@given(PARTS, st.data())
def test_any_single_change_is_seen(parts: Parts, data: st.DataObject) -> None:
    sql = parts.sql()
    places = list(re.finditer(r"\b([abc]|\d|sum|max|min|count|abs|round|hash)\b|[-+*<>]", sql))
    place = data.draw(st.sampled_from(places))
    other = {"a": "b", "b": "c", "c": "a", "sum": "max", "max": "min", "min": "sum", "count": "sum", "abs": "round", "round": "hash",
             "hash": "abs", "+": "-", "-": "+", "*": "+", "<": ">", ">": "<"}  # fmt: skip
    changed = other.get(place[0]) or str((int(place[0]) + 1) % 10)
    edited = f"{sql[: place.start()]}{changed}{sql[place.end() :]}"
    found = compare(sql, edited, known=False)
    assert found.same is False or place.start() >= sql.find(" GROUP BY ") > 0  # a constant groups nothing


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_arbitrary_text_is_no_error(old: str, new: str) -> None:
    found = compare(old, new, known=False)
    assert found.same or found.differences


SQL_WORDS = st.sampled_from(
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON USING ( ) , * + - . = < 'x' 1 a b t u sum "
    "count window AS WITH UNION ALL "
    "DISTINCT CASE WHEN END OVER LATERAL VIEW explode -> |> :: [ ] IN EXISTS NOT NULL CUBE ROLLUP ` \" ' "
    "\\ -- /*".split()
)


@settings(deadline=None)
@given(st.lists(SQL_WORDS, max_size=25), st.lists(SQL_WORDS, max_size=6))
def test_arbitrary_words_of_sql_are_no_error(first: list[str], rest: list[str]) -> None:
    old, new = " ".join(["SELECT", *first]), " ".join(["SELECT", *first, *rest])
    found = compare_queries(query(old, known=False), query(new, known=False))
    assert found.same or found.differences


@pytest.mark.parametrize("sql", ["(" * 3000 + "SELECT 1" + ")" * 3000, "SELECT " + "-(" * 2000 + "1" + ")" * 2000 + " AS a FROM t",
                                 "SELECT " + " + ".join(["n"] * 3000) + " AS a FROM t"])  # fmt: skip
def test_deeply_nested_sql_is_no_error(sql: str) -> None:
    assert not compare(sql, "SELECT n AS a FROM t").same


# What Spark was measured to do

RAW = {
    "k": "string",
    "m": "string",
    "n": "long",
    "q": "long",
    "i": "int",
    "d": "double",
    "at": "timestamptz",
    "sent": "timestamptz",
}
ABOVE_STATE = {ChangeKind.PROJECTION, ChangeKind.FILTER, ChangeKind.ORDER, ChangeKind.LIMIT}


def measured(side: measurements.Query) -> Query:
    steps = {"events": "SELECT * FROM raw", "more": "SELECT * FROM raw_more", "out": side.sql}
    dedups = {name: side.unique for name in ("events", "more") if side.unique}
    return Query(
        steps=steps,
        source="out",
        streams=["raw", "raw_more"],
        columns={"raw": RAW, "raw_more": RAW},
        dedups=dedups,
    )


MEASURED = [
    each
    for rows in vars(measurements).values()
    if isinstance(rows, list)
    for each in rows
    if isinstance(each, measurements.Row) and measured(each.before) != measured(each.after)
]


@pytest.mark.parametrize("change", [pytest.param(each, id=each.fact) for each in MEASURED])
def test_what_spark_refuses_or_mixes_is_never_told_as_harmless(change: measurements.Row) -> None:
    found = compare_queries(measured(change.before), measured(change.after)).differences
    state = [item for item in found if item.part not in ABOVE_STATE]
    within_watermark = change.before.unique_within or change.after.unique_within
    if not within_watermark and (change.outcome.startswith("!") or change.right is not None):
        assert state or change.before.sql == change.after.sql or _stateless(change)
    assert not any(item.part is ChangeKind.UNKNOWN for item in found)


def _stateless(change: measurements.Row) -> bool:
    """Rows that were written stay as they are; what was read then is not read again."""
    return compare_queries(measured(change.before), measured(change.after)).stateful_before is False
