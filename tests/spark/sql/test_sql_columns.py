"""The same SQL over other columns: whether one that came or went is what a name, or a star, means."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from flareiac.sdk.changes import Action
from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.compare import Meaning, compare_queries
from flareiac_spark.sql.query import Query
from tests.spark.declared import LAKE, loaded, proposal, running

EV = {"k": "string", "v": "long", "v2": "long", "ts": "timestamptz"}
LOOKUP = {"k": "string", "factor": "long"}
Columns = Mapping[str, Mapping[str, str]]
WITH_NET: Columns = {"ev": {**EV, "net": "long"}, "lookup": LOOKUP}
BASE: Columns = {"ev": EV, "lookup": LOOKUP}
GROSS = {
    "pre": "SELECT k, v, v * 2 AS net, net + 1 AS gross FROM ev WHERE v >= 0",
    "agg": "SELECT k, sum(gross) AS y FROM pre GROUP BY k",
}
NATURAL = {
    "p": "SELECT k, v, v2 FROM ev",
    "a": "SELECT k, sum(v * factor) AS n FROM p NATURAL JOIN lookup GROUP BY k",
}
CAPTURED = {
    "lateral alias": (GROSS, WITH_NET, ChangeKind.INPUT_OF_STATE),
    "natural join": (NATURAL, {"ev": EV, "lookup": {**LOOKUP, "v2": "long"}}, None),
    "group by alias": ({"a": "SELECT upper(k) AS net, count(*) AS n FROM ev GROUP BY net"}, WITH_NET, None),
    "having alias": ({"a": "SELECT k, sum(v) AS net FROM ev GROUP BY k HAVING net > 1"}, WITH_NET, None),
    "correlated subquery": (
        {"a": ("SELECT k, count(*) AS n FROM ev WHERE EXISTS (SELECT 1 FROM lookup WHERE factor = v) GROUP "
            "BY k")},
        {"ev": EV, "lookup": {**LOOKUP, "v": "long"}}, ChangeKind.FILTER_BEFORE_STATE,
    ),
    "distinct star": ({"a": "SELECT DISTINCT * FROM ev"}, WITH_NET, ChangeKind.DEDUP),
    "star": ({"a": "SELECT * FROM ev"}, WITH_NET, ChangeKind.PROJECTION),
    "star but": ({"a": "SELECT DISTINCT * EXCEPT (v) FROM ev"}, WITH_NET, ChangeKind.DEDUP),
    "struct of a star": ({"a": ("SELECT k, max(struct(*)) AS x FROM ev GROUP BY "
        "k")}, WITH_NET, ChangeKind.AGGREGATE_ARGUMENT),
    "count of a star": ({"a": ("SELECT k, count(ev.*) AS x FROM ev GROUP BY "
        "k")}, WITH_NET, ChangeKind.AGGREGATE_ARGUMENT),
    "order in a star": ({"a": "SELECT k, max(struct(*)) AS x FROM ev GROUP BY k"},
                        {"ev": dict(reversed(EV.items())), "lookup": LOOKUP}, ChangeKind.AGGREGATE_ARGUMENT),
    "name in a star": ({"a": "SELECT k, max(struct(*)) AS x FROM ev GROUP BY k"},
                       {"ev": {name.replace("v2", "V2"): kind for name, kind in EV.items()}, "lookup": LOOKUP},
                       ChangeKind.AGGREGATE_ARGUMENT),
    "union by place": ({"a": "SELECT DISTINCT * FROM (SELECT * FROM lookup UNION ALL SELECT k, v FROM ev)"},
                       {"ev": EV, "lookup": dict(reversed(LOOKUP.items()))}, None),
    "width of a union": ({"a": "SELECT DISTINCT * FROM (SELECT * FROM lookup UNION ALL SELECT k, v FROM ev)"},
                         {"ev": EV, "lookup": {**LOOKUP, "more": "long"}}, ChangeKind.UNKNOWN),
    "except": ({"a": ("SELECT ev.v FROM ev JOIN (SELECT * FROM lookup EXCEPT SELECT * FROM lookup) l ON "
        "ev.k = l.k")},
               {"ev": EV, "lookup": {**LOOKUP, "more": "long"}}, None),
    "unreadable": ({"a": ("SELECT k, sum(v) AS n FROM ev TABLESAMPLE (10 PERCENT) GROUP BY "
        "k")}, WITH_NET, ChangeKind.UNKNOWN),
    "lost": (GROSS, BASE, None),
}  # fmt: skip
UNTOUCHED = {
    "unread": ({"a": "SELECT k, sum(v) AS y FROM ev GROUP BY k"}, WITH_NET),
    "another alias": ({"a": "SELECT k, v * 2 AS net FROM ev"}, WITH_NET),
    "qualified": ({"a": "SELECT e.k, sum(e.v) AS net FROM ev e GROUP BY e.k"}, WITH_NET),
    "order of what is named": ({"a": "SELECT k, max(struct(v, v2)) AS x FROM ev GROUP BY k"},
                               {"ev": dict(reversed(EV.items())), "lookup": LOOKUP}),
    "order by alias": ({"a": "SELECT k, sum(v) AS net FROM ev GROUP BY k ORDER BY net"}, WITH_NET),
    "star of a step": ({"p": "SELECT k, v FROM ev", "a": "SELECT DISTINCT * FROM p"}, WITH_NET),
}  # fmt: skip


def over(steps: Mapping[str, str], old: Columns, new: Columns, *, moved: tuple[str, ...] = ()) -> Meaning:
    sides = [
        Query(steps=steps, source=list(steps)[-1], streams=["ev"], columns=each, moved=moved)
        for each in (old, new)
    ]
    return compare_queries(*sides)


@pytest.mark.parametrize(("steps", "columns", "part"), CAPTURED.values(), ids=CAPTURED)
def test_a_column_that_captures_a_name_is_a_difference(
    steps: Mapping[str, str], columns: Columns, part: ChangeKind | None
) -> None:
    base = WITH_NET if columns is BASE else BASE
    found = over(steps, base, columns)
    assert not found.same
    assert not over(steps, columns, base).same
    if part is not None:
        assert part in [item.part for item in found.differences]


@pytest.mark.parametrize(("steps", "columns"), UNTOUCHED.values(), ids=UNTOUCHED)
def test_a_column_that_no_name_means_is_no_difference(steps: Mapping[str, str], columns: Columns) -> None:
    assert over(steps, BASE, columns).differences == ()
    assert over(steps, columns, BASE).differences == ()


@pytest.mark.parametrize(
    "name",
    [
        "lateral alias",
        "natural join",
        "having alias",
        "correlated subquery",
        "distinct star",
        "struct of a star",
    ],
)
def test_where_the_columns_of_a_side_are_not_known_a_capture_is_unknown(name: str) -> None:
    steps = CAPTURED[name][0]
    for old, new in ((BASE, {}), ({}, BASE)):
        assert not over(steps, old, new).same
    assert ChangeKind.UNKNOWN in [
        item.part for item in over(steps, {}, {}, moved=("ev", "lookup")).differences
    ]
    assert over({"a": "SELECT k, sum(v) AS n FROM ev GROUP BY k"}, {}, {}, moved=("ev",)).same


JOB = """
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  step "pre" { sql = "SELECT ts, id * 2 AS net, net + 1 AS gross FROM orders" }
  step "sums" { sql = "SELECT window(ts, '1 hour').start AS hour, sum(gross) AS n FROM pre GROUP BY window(ts, '1 hour')" }
  output "hourly" { table = table.hourly }
}
"""
PYTHON = JOB.replace(
    '  step "pre"', '  code = "code"\n  step "fn" { python = "mod:f" }\n  step "pre"'
).replace("FROM orders", "FROM fn")


@pytest.mark.parametrize("job", [JOB, PYTHON], ids=["sql", "python"])
@pytest.mark.parametrize(("committed", "blocked"), [(3, True), (None, False)])
def test_a_plan_says_that_a_column_captures_a_name(
    tmp_path: Path, job: str, committed: int | None, *, blocked: bool
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mod.py").write_text(
        "def f(spark, inputs, params):\n    return inputs['orders']\n", encoding="utf-8"
    )
    unread = 'column "unread" { type = "string" }'
    before = loaded(LAKE + job, tmp_path)
    after = loaded(LAKE.replace(unread, f'{unread}\n  column "net" {{ type = "long" }}') + job, tmp_path)
    assert not after.diagnostics
    found = proposal(after, before, running(committed=committed))
    assert [item.code for item in found.blockers] == ["FIK063"] * blocked
    assert found.action is Action.UPDATE


def test_a_plan_says_that_a_star_takes_columns_in_another_order(tmp_path: Path) -> None:
    star = JOB.replace(
        "SELECT ts, id * 2 AS net, net + 1 AS gross FROM orders", "SELECT ts, hash(*) AS gross FROM orders"
    )
    named = star.replace("hash(*)", "hash(id, region)")
    turned = (
        'column "region" { type = "string" }\n  column "unread"',
        'column "unread" { type = "string" }\n  column "region"',
    )
    for job, blocked in ((star, True), (named, False)):
        before, after = loaded(LAKE + job, tmp_path), loaded(LAKE.replace(*turned) + job, tmp_path)
        found = proposal(after, before, running(operators=("stateStoreSave",)))
        assert [item.code for item in found.blockers] == ["FIK063"] * blocked
