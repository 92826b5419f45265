"""Names are part of what a query means wherever a field, a key or a path takes them; so is how often a row or
a random choice is there.
"""

from collections.abc import Mapping

import pytest

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.compare import compare_queries
from flareiac_spark.sql.query import Query

EV = {"id": "long", "k": "string", "k2": "string", "tx": "string", "v": "long", "v2": "long", "ts": "timestamptz",
      "m": "map<string, long>", "st": "struct<x: int>", "a": "list<long>"}  # fmt: skip
LOOKUP = {"k": "string", "factor": "long", "w": "long"}


def query(sql: str | Mapping[str, str], *, known: bool = True, **more: Mapping[str, str]) -> Query:
    steps = {"s": sql} if isinstance(sql, str) else sql
    columns = {"ev": EV, "lookup": LOOKUP, "other": LOOKUP, **more} if known else {}
    return Query(steps=steps, source=list(steps)[-1], streams=["ev"], columns=columns)


GROUPED = "SELECT k, max(struct(id, amount, fee)).amount AS latest FROM p GROUP BY k"
TOLD_APART = [
    # fields that are named after columns
    ({"p": "SELECT k, id, v AS amount, v2 AS fee FROM ev", "a": GROUPED},
     {"p": ("SELECT k, id, v AS fee, v2 AS amount FROM "
         "ev"), "a": GROUPED.replace("amount, fee", "fee, amount")}),
    ({"p": "SELECT k2 AS zone FROM ev", "a": ("SELECT to_json(struct(zone)) AS j, count(*) AS n FROM p "
        "GROUP BY to_json(struct(zone))")},
     {"p": "SELECT k2 AS area FROM ev", "a": ("SELECT to_json(struct(area)) AS j, count(*) AS n FROM p "
         "GROUP BY to_json(struct(area))")}),
    ("SELECT to_json(struct(K)) AS j FROM ev", "SELECT to_json(struct(k)) AS j FROM ev"),
    ("SELECT to_json(struct(k AS Kay, v)) AS j FROM ev", "SELECT to_json(struct(k AS KAY, v)) AS j FROM ev"),
    ("SELECT to_json(struct(k AS a)) AS j FROM ev", "SELECT to_json(named_struct('b', k)) AS j FROM ev"),
    ({"p": "SELECT k AS a FROM ev", "o": "SELECT to_json(struct(*)) AS j FROM p"},
     {"p": "SELECT k AS b FROM ev", "o": "SELECT to_json(struct(*)) AS j FROM p"}),
    ({"p": "SELECT k AS a FROM ev", "o": "SELECT to_json(struct(p.*)) AS j FROM p"},
     {"p": "SELECT k AS A FROM ev", "o": "SELECT to_json(struct(p.*)) AS j FROM p"}),
    ({"p": "SELECT a AS x FROM ev", "o": "SELECT to_json(arrays_zip(x)) AS j FROM p"},
     {"p": "SELECT a AS y FROM ev", "o": "SELECT to_json(arrays_zip(y)) AS j FROM p"}),
    ("SELECT to_xml(struct(k AS a)) AS j FROM ev", "SELECT to_xml(struct(k AS b)) AS j FROM ev"),
    ({"p": "SELECT v AS a FROM ev", "o": "SELECT typeof(struct(a)) AS j FROM p"},
     {"p": "SELECT v AS b FROM ev", "o": "SELECT typeof(struct(b)) AS j FROM p"}),
    ({"p": "SELECT k, v AS a, v2 AS b, ts FROM ev", "o": ("SELECT k, max_by(struct(a, b), ts).a AS x FROM p "
        "GROUP BY k")},
     {"p": "SELECT k, v AS b, v2 AS a, ts FROM ev", "o": ("SELECT k, max_by(struct(b, a), ts).a AS x FROM p "
         "GROUP BY k")}),
    ({"p": "SELECT k, v AS a, id FROM ev", "o": ("SELECT k, to_json(collect_list(struct(a, id))) AS x FROM "
        "p GROUP BY k")},
     {"p": "SELECT k, v AS b, id FROM ev", "o": ("SELECT k, to_json(collect_list(struct(b, id))) AS x FROM "
         "p GROUP BY k")}),
    ({"p": "SELECT v AS a FROM ev", "o": "SELECT to_json((a, 1)) AS j FROM p"},
     {"p": "SELECT v AS b FROM ev", "o": "SELECT to_json((b, 1)) AS j FROM p"}),
    ("SELECT transform(a, x -> struct(x)) AS j FROM ev", "SELECT transform(a, y -> struct(y)) AS j FROM ev"),
    ("SELECT transform(a, x -> x.y) AS j FROM ev", "SELECT transform(a, x -> x.Y) AS j FROM ev"),
    ({"p": "SELECT a[0] AS c, st FROM ev", "o": "SELECT to_json(struct(p.c)) AS j FROM p"},
     {"p": "SELECT a[0] AS d, st FROM ev", "o": "SELECT to_json(struct(p.d)) AS j FROM p"}),
    ("SELECT to_json(struct(*)) AS j FROM ev JOIN lookup USING (k)",
     "SELECT to_json(struct(*)) AS j FROM ev JOIN lookup ON ev.k = lookup.k"),
    ("SELECT struct(m AS a).a.K AS x FROM ev", "SELECT struct(m AS a).a.k AS x FROM ev"),
    ("SELECT k, max(struct(m AS a)).a.K AS x FROM ev GROUP BY k", ("SELECT k, max(struct(m AS a)).a.k AS x "
        "FROM ev GROUP BY k")),
    *[(f"SELECT count(*) AS n FROM ev GROUP BY {one}", f"SELECT count(*) AS n FROM ev GROUP BY {other}")
      for one, other in (("window(ts, '5 minutes')", "window(ts, '5 seconds')"),
                         ("window(ts, '1 hour', '5 minutes')", "window(ts, '1 hour')"),
                         ("session_window(ts, '1 day')", "session_window(ts, '24 hours')"),
                         ("window(ts, '1 odd')", "window(ts, '2 odd')"))],
    # keys of maps, paths of variants, types as text
    ("SELECT m.A AS x FROM ev", "SELECT m.a AS x FROM ev"),
    ("SELECT m.A AS x, count(*) AS n FROM ev GROUP BY m.A", ("SELECT m.a AS x, count(*) AS n FROM ev GROUP "
        "BY m.a")),
    ("SELECT parse_json(tx):A AS x FROM ev", "SELECT parse_json(tx):a AS x FROM ev"),
    ("SELECT to_json(CAST(st AS STRUCT<X:INT>)) AS j FROM ev", ("SELECT to_json(CAST(st AS STRUCT<x:INT>)) "
        "AS j FROM ev")),
    ("SELECT from_json(tx, 'A INT') AS j FROM ev", "SELECT from_json(tx, 'a INT') AS j FROM ev"),
    ("SELECT json_tuple(tx, 'a', 'b') AS (x, y) FROM ev", ("SELECT json_tuple(tx, 'a', 'b') AS (x, z) FROM "
        "ev")),
    ("SELECT v + 1, v2 FROM ev", "SELECT v + 2, v2 FROM ev"),
    ("SELECT v + 1, v + 1 FROM ev", "SELECT v + 2, v + 1 FROM ev"),
    # how often
    *[((f"SELECT ev.v, l.w FROM ev JOIN (SELECT k, w FROM lookup {one} SELECT k, w FROM other) l ON ev.k = "
        "l.k"),
       (f"SELECT ev.v, l.w FROM ev JOIN (SELECT k, w FROM lookup {other} SELECT k, w FROM other) l ON ev.k "
       "= l.k"))
      for one, other in (("EXCEPT", "EXCEPT ALL"), ("INTERSECT", "INTERSECT ALL"), ("UNION", "UNION ALL"), ("EXCEPT", "INTERSECT"))],
    *[(f"SELECT v FROM ev WHERE k IN (SELECT k FROM lookup {one} SELECT k FROM other)",
       f"SELECT v FROM ev WHERE k IN (SELECT k FROM lookup {other} SELECT k FROM other)")
      for one, other in (("EXCEPT", "EXCEPT ALL"), ("INTERSECT", "INTERSECT ALL"))],
    ("SELECT v FROM ev WHERE rand() < 0.5", "SELECT v FROM ev WHERE rand() < 0.5 AND rand() < 0.5"),
    ("SELECT v FROM ev WHERE rand() < 0.5 OR v = 1", ("SELECT v FROM ev WHERE rand() < 0.5 OR rand() < 0.5 "
        "OR v = 1")),
    ("SELECT v FROM ev WHERE rand(1) < 0.5 AND v > 1", "SELECT v FROM ev WHERE v > 1 AND rand(1) < 0.5"),
    ("SELECT v FROM ev WHERE NOT (rand() < 0.5 OR rand() < 0.5)", ("SELECT v FROM ev WHERE NOT (rand() < "
        "0.5)")),
    ("SELECT v FROM ev WHERE k IN (SELECT k FROM lookup WHERE rand() < 0.5)",
     "SELECT v FROM ev WHERE k IN (SELECT k FROM lookup WHERE rand() < 0.5 AND rand() < 0.5)"),
    ("SELECT v FROM ev WHERE k IN (SELECT k FROM lookup WHERE rand() < 0.5)",
     ("SELECT v FROM ev WHERE k IN (SELECT k FROM lookup WHERE rand() < 0.5) AND k IN (SELECT k FROM lookup "
     "WHERE rand() < 0.5)")),
]  # fmt: skip


@pytest.mark.parametrize("known", [True, False], ids=["columns known", "columns unknown"])
@pytest.mark.parametrize(("old", "new"), TOLD_APART)
def test_a_name_or_a_number_that_rows_show_is_told_apart(old: str, new: str, *, known: bool) -> None:
    for one, other in ((old, new), (new, old)):
        assert not compare_queries(query(one, known=known), query(other, known=known)).same


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"p": "SELECT v AS a FROM ev", "o": ("SELECT to_json(struct(a)) AS j FROM "
            "p")}, "SELECT to_json(struct(v AS a)) AS j FROM ev"),
        ({"p": "SELECT v AS a FROM ev", "o": ("SELECT to_json(struct(*)) AS j FROM "
            "p")}, "SELECT to_json(struct(v AS a)) AS j FROM ev"),
        ("SELECT to_json(struct(*)) AS j FROM ev", f"SELECT to_json(struct({', '.join(EV)})) AS j FROM ev"),
        ("SELECT to_json(struct(e.k)) AS j FROM ev e", "SELECT to_json(struct(k)) AS j FROM ev"),
        ("SELECT K AS k, V AS v FROM ev", "SELECT k, v FROM ev"),
        ("SELECT k, parse_json(tx):A.b AS x FROM ev", "SELECT e.k, parse_json(e.tx):A.b AS x FROM ev AS e"),
    ],
)  # fmt: skip
def test_a_name_that_stays_is_no_difference(old: str, new: str) -> None:
    assert compare_queries(query(old), query(new)).differences == ()


def test_code_minds_the_case_of_a_column_and_a_table_does_not() -> None:
    def named(sql: str, *, exact: bool) -> Query:
        return Query(steps={"s": sql}, source="s", streams=["ev"], exact_names=exact)

    for exact in (False, True):
        found = compare_queries(
            named("SELECT v AS A FROM ev", exact=exact), named("SELECT v AS a FROM ev", exact=exact)
        )
        assert [(item.part, item.detail) for item in found.differences] == [
            (ChangeKind.PROJECTION, "the case of a name")
        ] * exact


def test_code_finds_a_column_without_an_alias_by_the_text_of_its_expression() -> None:
    def unnamed(sql: str, *, exact: bool) -> Query:
        return Query(steps={"s": sql}, source="s", streams=["ev"], exact_names=exact)

    def same(old: str, new: str, *, exact: bool) -> bool:
        return compare_queries(unnamed(old, exact=exact), unnamed(new, exact=exact)).same

    for old, new in (
        ("SELECT v + 1 FROM ev", "SELECT (v + 1) FROM ev"),
        ("SELECT v + (1) FROM ev", "SELECT ((v) + 1) FROM ev"),
    ):
        assert [same(old, new, exact=exact) for exact in (False, True)] == [True, False]
    assert same("SELECT v + 1 FROM ev", "select v  + 1 -- more\nfrom ev", exact=True)
    assert same("SELECT v + 1 AS x FROM ev", "SELECT (v + 1) AS x FROM ev", exact=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v < v2", "v2 < v"),
        ("v < v2", "v2 > v"),
        ("v = v2", "v2 = v"),
        ("v IN (1, 2)", "v IN (2, 1)"),
        ("v + v2 > 1", "v2 + v > 1"),
        ("NOT (v < v2)", "v > v2"),
        ("NOT (v <=> v2)", "v <> v2"),
        ("NOT (v = 1 AND v2 = 2)", "v <> 1 AND v2 <> 2"),
        ("v IN (1, 2)", "v IN (1, 3)"),
        ("v BETWEEN 1 AND 5", "v BETWEEN 5 AND 1"),
        ("v - v2 > 1", "v2 - v > 1"),
        ("CASE WHEN v = 1 THEN 2 END = 2", "CASE WHEN v = 1 THEN 2 ELSE 0 END = 2"),
        ("CASE v WHEN 1 THEN 2 WHEN 2 THEN 1 END = 2", "CASE v WHEN 2 THEN 1 WHEN 1 THEN 2 END = 2"),
        ("exists(a, x -> x > v)", "exists(a, v -> v > v)"),
        ("exists(a, x -> exists(a, y -> x > y))", "exists(a, x -> exists(a, y -> y > x))"),
        ("k || k2 = 'a'", "k2 || k = 'a'"),
        ("v % v2 = 1", "v2 % v = 1"),
        ("a[0] = 1", "a[1] = 1"),
        ("CAST(v AS INT) = 1", "v = 1"),
        ("int(v) = 1", "bigint(v) = 1"),
        ("bigint(k) = 1", "TRY_CAST(k AS BIGINT) = 1"),
        ("to_json(struct(string(k))) = 'a'", "to_json(struct(k)) = 'a'"),
        ("timestamp(k) = 1", "CAST(k AS TIMESTAMP) = 1"),
        ("CAST(ts AS TIMESTAMP) = 1", "ts = 1"),
        ("to_json(struct(CAST(k AS STRING))) = 'a'", "to_json(struct(k)) = 'a'"),
    ],
)
def test_what_only_looks_alike_is_told_apart(old: str, new: str) -> None:
    for sql in ("SELECT v FROM ev WHERE {}", "SELECT {} AS x FROM ev"):
        assert not compare_queries(query(sql.format(old)), query(sql.format(new))).same
