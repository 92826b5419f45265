"""A part below the state is never said to stand above it, whatever it is."""

import pytest

from flareiac_spark.sql.change_kinds import ABOVE_STATE, ChangeKind, placed
from flareiac_spark.sql.compare import Meaning, compare_queries
from flareiac_spark.sql.query import Query
from tests.spark.sql.test_sql_names import EV, LOOKUP

AGGREGATE = "SELECT k, count(*) AS n, sum(v) AS s FROM rows GROUP BY k"
DEDUP = "SELECT DISTINCT k, v FROM rows"
JOIN = "SELECT rows.k, rows.v, ev2.v2 FROM rows JOIN ev2 ON rows.k = ev2.k AND rows.ts < ev2.ts"
TABLE = "SELECT ev.k, ev.v, ev.ts, l.factor FROM ev JOIN (@) l ON ev.k = l.k"
PAIRS = {
    "projection": ("SELECT k, ts, v FROM @", "SELECT k, ts, v + 1 AS v FROM @"),
    "filter": ("SELECT k, ts, v FROM @ WHERE v > 1", "SELECT k, ts, v FROM @ WHERE v > 2"),
    "random filter": ("SELECT k, ts, v FROM @ WHERE rand() < 0.5", ("SELECT k, ts, v FROM @ WHERE rand() < "
        "0.5 AND rand() < 0.5")),
    "order": ("SELECT k, ts, v FROM @ ORDER BY v LIMIT 2", "SELECT k, ts, v FROM @ ORDER BY v DESC LIMIT 2"),
    "order added": ("SELECT k, ts, v FROM @ LIMIT 2", "SELECT k, ts, v FROM @ ORDER BY v LIMIT 2"),
    "limit": ("SELECT k, ts, v FROM @ LIMIT 2", "SELECT k, ts, v FROM @ LIMIT 3"),
    "limit added": ("SELECT k, ts, v FROM @", "SELECT k, ts, v FROM @ LIMIT 3"),
    "offset": ("SELECT k, ts, v FROM @ LIMIT 2 OFFSET 1", "SELECT k, ts, v FROM @ LIMIT 2 OFFSET 2"),
    "sample": ("SELECT k, ts, v FROM @ TABLESAMPLE (10 PERCENT)", ("SELECT k, ts, v FROM @ TABLESAMPLE (20 "
        "PERCENT)")),
    "over": ("SELECT k, ts, row_number() OVER (PARTITION BY k ORDER BY v) AS v FROM @",
             "SELECT k, ts, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS v FROM @"),
    "frame": ("SELECT k, ts, sum(v) OVER (ORDER BY v ROWS 1 PRECEDING) AS v FROM @",
              "SELECT k, ts, sum(v) OVER (ORDER BY v ROWS 2 PRECEDING) AS v FROM @"),
    "union": ("SELECT k, ts, v FROM @ UNION ALL SELECT k, ts, v FROM @", ("SELECT k, ts, v FROM @ UNION "
        "SELECT k, ts, v FROM @")),
    "except": ("SELECT k, ts, v FROM @ EXCEPT SELECT k, ts, w AS v FROM lookup",
               "SELECT k, ts, v FROM @ EXCEPT ALL SELECT k, ts, w AS v FROM lookup"),
    "intersect": ("SELECT k, ts, v FROM @ EXCEPT SELECT k, ts, w AS v FROM lookup",
                  "SELECT k, ts, v FROM @ INTERSECT SELECT k, ts, w AS v FROM lookup"),
    "rows": ("SELECT k, ts, e AS v FROM @ LATERAL VIEW explode(array(v, 1)) x AS e",
             "SELECT k, ts, e AS v FROM @ LATERAL VIEW OUTER explode(array(v, 2)) x AS e"),
    "pivot": ("SELECT k, ts, a AS v FROM @ PIVOT (sum(v) FOR k IN ('x' AS a))",
              "SELECT k, ts, a AS v FROM @ PIVOT (max(v) FOR k IN ('x' AS a))"),
    "distinct": ("SELECT k, ts, v FROM @", "SELECT DISTINCT k, ts, v FROM @"),
    "group": ("SELECT k, max(ts) AS ts, max(v) AS v FROM @ GROUP BY k", ("SELECT k, max(ts) AS ts, min(v) "
        "AS v FROM @ GROUP BY k")),
    "having": ("SELECT k, max(ts) AS ts, max(v) AS v FROM @ GROUP BY k HAVING max(v) > 1",
               "SELECT k, max(ts) AS ts, max(v) AS v FROM @ GROUP BY k HAVING max(v) > 2"),
    "group key": ("SELECT k, max(ts) AS ts, max(v) AS v FROM @ GROUP BY k",
                  "SELECT upper(k) AS k, max(ts) AS ts, max(v) AS v FROM @ GROUP BY upper(k)"),
    "join": ("SELECT a.k, a.ts, factor AS v FROM @ a JOIN lookup ON a.k = lookup.k",
             "SELECT a.k, a.ts, factor AS v FROM @ a LEFT JOIN lookup ON a.k = lookup.k"),
    "join on": ("SELECT a.k, a.ts, factor AS v FROM @ a JOIN lookup ON a.k = lookup.k",
                "SELECT a.k, a.ts, factor AS v FROM @ a JOIN lookup ON a.k = lookup.k AND a.v > w"),
    "subquery": ("SELECT k, ts, v FROM @ WHERE k IN (SELECT k FROM lookup LIMIT 2)",
                 "SELECT k, ts, v FROM @ WHERE k IN (SELECT k FROM lookup LIMIT 3)"),
    "partitions": ("SELECT /*+ REPARTITION(2) */ k, ts, v FROM @", ("SELECT /*+ REPARTITION(3) */ k, ts, v "
        "FROM @")),
}  # fmt: skip


def compare(old: dict[str, str], new: dict[str, str]) -> Meaning:
    lookup = {**LOOKUP, "ts": "timestamptz", "v": "long"}
    sides = [
        Query(
            steps=steps, source="out", streams=["ev", "ev2"], columns={"ev": EV, "ev2": EV, "lookup": lookup}
        )
        for steps in (old, new)
    ]
    return compare_queries(*sides)


@pytest.mark.parametrize("state", [AGGREGATE, DEDUP, JOIN], ids=["aggregate", "distinct", "join"])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("side", ["stream", "table"])
def test_below_the_state_nothing_is_above_it(pair: tuple[str, str], state: str, side: str) -> None:
    def steps(sql: str) -> dict[str, str]:
        if side == "stream":
            return {"rows": sql.replace("@", "ev"), "out": state}
        table = f"SELECT k, v AS factor FROM ({sql.replace('@', 'lookup')})"
        return {"rows": TABLE.replace("@", table).replace("ev.v,", "l.factor AS v,"), "out": state}

    found = compare(steps(pair[0]), steps(pair[1]))
    assert found.differences, "the edit changes something"
    assert [item.part for item in found.differences if item.part in ABOVE_STATE] == []


@pytest.mark.parametrize("name", ["projection", "filter", "order", "limit"])
def test_above_the_state_it_is_said_to_be_there(name: str) -> None:
    above = "(SELECT k, max(ts) AS ts, sum(v) AS v FROM ev GROUP BY k)"
    found = compare({"out": PAIRS[name][0].replace("@", above)}, {"out": PAIRS[name][1].replace("@", above)})
    assert {item.part for item in found.differences} <= ABOVE_STATE
    assert found.differences


@pytest.mark.parametrize("part", ChangeKind)
def test_every_part_has_one_place_below_the_state(part: ChangeKind) -> None:
    below = placed(part, feeds_state=True)
    assert below not in ABOVE_STATE
    assert placed(below, feeds_state=True) is below
    assert placed(part, feeds_state=False) is part


def test_a_hint_about_a_join_changes_no_row_wherever_it_stands() -> None:
    sql = "SELECT /*+ @(lookup) */ ev.k, count(*) AS n FROM ev JOIN lookup ON ev.k = lookup.k GROUP BY ev.k"
    found = compare({"out": sql.replace("@", "BROADCAST")}, {"out": sql.replace("@", "MERGE")})
    assert [item.part for item in found.differences] == [ChangeKind.HINT]
    assert compare({"out": sql.replace("@", "BROADCAST")}, {"out": sql.replace("@", "broadcast")}).same
