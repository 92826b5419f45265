"""Edits of a query that Spark's plans must tell apart, and others that they must call equal: what strangers
tried on the product, each as a pair of texts.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import (
    JobSpec,
    Pair,
    Proof,
    ProofSource,
    Step,
    StreamInput,
    TableInput,
    TableOutput,
    Watermark,
    job_spec_to_json,
)
from flareiac_spark_runtime.driver import plan_text
from flareiac_spark_runtime.driver.proof import Prover
from flareiac_spark_runtime.driver.spark_session import new_session
from flareiac_spark_runtime.sources.files.resolved import ResolvedFiles
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.spark.change.test_judged_pairs import FOLDER as JUDGED
from tests.verdicts import second_opinion as opinions
from tests.verdicts.pair import Judgement, read
from tests.verdicts.product import verdict
from tests.verdicts.proof import is_false, proofs, shown
from tests.verdicts.second_opinion import Opinion
from tests.verdicts.spark import application

pytestmark = pytest.mark.jvm

BY_ROWS: Final = JUDGED.parent / "judged_by_rows"
"""Pairs made of forms, as ``python -m tests.bench verdicts-by-rows --keep`` adds them."""
EVENTS: Final = {"id": "long", "k": "string", "k2": "string", "v": "long", "v2": "long", "ts": "timestamptz"}
SIDE: Final = {"id": "long", "a": "long", "b": "long", "k": "string", "ts": "timestamptz"}
STREAMS: Final = {"ev": EVENTS, "late": EVENTS, "l": SIDE, "r": SIDE}
WITHOUT_WATERMARK: Final = ("late",)
TABLES: Final = {"look": {"k": "string", "f": "long"}}
COUNT: Final = "SELECT k, count(*) AS n FROM {} GROUP BY k"
SPAN: Final = "r.ts BETWEEN l.ts - INTERVAL 1 HOUR AND l.ts + INTERVAL 1 HOUR"
WINDOWS: Final = (
    "SELECT window(ts, '10 minutes').start AS since, k, count(*) AS n FROM {} "
    "GROUP BY window(ts, '10 minutes'), k"
)
TOP: Final = (
    "SELECT ev.k, count(*) AS n FROM ev JOIN (SELECT {} FROM look ORDER BY 2 LIMIT 2) l ON ev.k = l.k "
    "GROUP BY ev.k"
)
PIPE: Final = "SELECT ev.k, count(*) AS n FROM ev JOIN ({}) l ON ev.k = l.k GROUP BY ev.k"
SETS: Final = "SELECT {}, count(*) AS n FROM p GROUP BY {} GROUPING SETS ({})"

Steps = str | Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """``wanted``: the verdict, and the parts that must be among those that differ. ``marks``: the watermark
    of a step.
    """

    name: str
    old: Steps
    new: Steps
    wanted: str
    parts: tuple[str, ...] = ()
    mode: str = "complete"
    marks: Mapping[str, Watermark] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)


MARK: Final = {"p": Watermark(column="ts", delay="10 minutes")}


def _apart(name: str, old: Steps, new: Steps, *parts: str, **other: Any) -> Edit:
    return Edit(name=name, old=old, new=new, wanted="different", parts=parts, **other)


def _joined(condition: str, kind: str = "JOIN") -> str:
    return f"SELECT l.id AS lid, l.ts AS at FROM l {kind} r ON {condition}"


APART: Final = (
    _apart(
        "the order of the equations of a join",
        _joined(f"l.a = r.a AND l.b = r.b AND {SPAN}"),
        _joined(f"l.b = r.b AND l.a = r.a AND {SPAN}"),
        "state",
        mode="append",
    ),
    _apart(
        "the order of the equations of a left join",
        _joined(f"l.a = r.a AND l.b = r.b AND {SPAN}", "LEFT JOIN"),
        _joined(f"l.b = r.b AND l.a = r.a AND {SPAN}", "LEFT JOIN"),
        "state",
        mode="append",
    ),
    _apart(
        "the order of columns in USING",
        "SELECT id, k, l.ts AS at FROM l JOIN r USING (k, id)",
        "SELECT id, k, l.ts AS at FROM l JOIN r USING (id, k)",
        "state",
        mode="append",
    ),
    _apart(
        "a null-safe equation",
        _joined(f"l.a = r.a AND {SPAN}"),
        _joined(f"l.a <=> r.a AND {SPAN}"),
        "state",
        mode="append",
    ),
    _apart(
        "a filter on the time moves above the watermark of a step",
        {"p": "SELECT k, ts FROM late WHERE ts < TIMESTAMP'2026-06-01 00:00:00Z'", "a": WINDOWS.format("p")},
        {
            "p": "SELECT k, ts FROM late",
            "a": WINDOWS.format("p").replace("p GROUP", "p WHERE ts < TIMESTAMP'2026-06-01 00:00:00Z' GROUP"),
        },
        "watermarks",
        mode="append",
        marks=MARK,
    ),
    _apart(
        "the step with the watermark is not read any more",
        {"p": "SELECT ts, k FROM late", "a": WINDOWS.format("p")},
        {"p": "SELECT ts, k FROM late", "a": WINDOWS.format("late")},
        "watermarks",
        mode="merge",
        marks=MARK,
    ),
    _apart(
        "a common table expression that nothing reads",
        "SELECT id, v FROM ev",
        "WITH big AS (SELECT id FROM ev WHERE v > 50) SELECT id, v FROM ev",
        "sources",
        mode="append",
    ),
    _apart(
        "the same over an aggregation",
        COUNT.format("ev"),
        "WITH big AS (SELECT id FROM ev) " + COUNT.format("ev"),
        "sources",
    ),
    _apart(
        "one stream is read twice",
        "SELECT id, v FROM ev WHERE v > 1 OR v2 > 3",
        "SELECT id, v FROM ev WHERE v > 1 UNION ALL SELECT id, v FROM ev WHERE v2 > 3 AND NOT v > 1",
        "sources",
        mode="append",
    ),
    _apart(
        "a sliding window that nothing reads",
        {"p": "SELECT k, v FROM ev", "a": COUNT.format("p")},
        {"p": "SELECT k, v, window(ts, '20 minutes', '10 minutes') AS w FROM ev", "a": COUNT.format("p")},
        "state",
    ),
    _apart(
        "a tumbling window that nothing reads",
        {"p": "SELECT k, v FROM ev", "a": COUNT.format("p")},
        {"p": "SELECT k, v, window(ts, '20 minutes') AS w FROM ev", "a": COUNT.format("p")},
        "state",
    ),
    _apart(
        "IDENTIFIER names a column",
        {
            "p": "SELECT k, v AS amount, v2 AS fee FROM ev",
            "a": "SELECT k, sum(IDENTIFIER('amount')) AS n FROM p GROUP BY k",
        },
        {
            "p": "SELECT k, v2 AS amount, v AS fee FROM ev",
            "a": "SELECT k, sum(IDENTIFIER('amount')) AS n FROM p GROUP BY k",
        },
        "state",
    ),
    _apart(
        "double quotes name a column",
        {
            "p": "SELECT k, v AS amount, v2 AS fee FROM ev",
            "a": 'SELECT k, max("amount") AS n FROM p GROUP BY k',
        },
        {
            "p": "SELECT k, v2 AS amount, v AS fee FROM ev",
            "a": 'SELECT k, max("amount") AS n FROM p GROUP BY k',
        },
        "state",
        conf={"spark.sql.ansi.doubleQuotedIdentifiers": "true"},
    ),
    _apart(
        "another stream of the same columns",
        "SELECT k, sum(v) AS n FROM ev GROUP BY k",
        "SELECT k, sum(v) AS n FROM late GROUP BY k",
        "sources",
    ),
    _apart("places in ORDER BY under a LIMIT", TOP.format("k, f"), TOP.format("f, k"), "state"),
    _apart(
        "ORDER BY ALL under a LIMIT",
        TOP.format("k, f").replace("BY 2", "BY ALL"),
        TOP.format("f, k").replace("BY 2", "BY ALL"),
        "state",
    ),
    _apart(
        "the order of steps of a pipe",
        PIPE.format("FROM look |> ORDER BY f |> LIMIT 2 |> WHERE k <> 'k0'"),
        PIPE.format("FROM look |> WHERE k <> 'k0' |> ORDER BY f |> LIMIT 2"),
        "state",
    ),
    _apart(
        "names in GROUPING SETS",
        {
            "p": "SELECT k AS a, k2 AS b FROM ev",
            "o": SETS.format("a AS k, b AS k2", "a, b", "(a), (a, b)"),
        },
        {
            "p": "SELECT k2 AS a, k AS b FROM ev",
            "o": SETS.format("b AS k, a AS k2", "b, a", "(a), (a, b)"),
        },
        "state",
    ),
    _apart(
        "a guard and what it guards",
        "SELECT k, count(*) AS n FROM ev WHERE k2 RLIKE '^[0-9]+$' AND CAST(k2 AS BIGINT) > 1 GROUP BY k",
        "SELECT k, count(*) AS n FROM ev WHERE CAST(k2 AS BIGINT) > 1 AND k2 RLIKE '^[0-9]+$' GROUP BY k",
        "state",
    ),
    _apart(
        "a guard inside of an aggregate",
        "SELECT k, count_if(v2 <> 0 AND 10 / v2 > 1) AS n FROM ev GROUP BY k",
        "SELECT k, count_if(10 / v2 > 1 AND v2 <> 0) AS n FROM ev GROUP BY k",
        "state",
    ),
    _apart(
        "sum to max",
        "SELECT k, sum(v) AS n FROM ev GROUP BY k",
        "SELECT k, max(v) AS n FROM ev GROUP BY k",
        "state",
    ),
    _apart(
        "the order of aggregates",
        "SELECT k, max(v) > max(v2) AS n FROM ev GROUP BY k",
        "SELECT k, max(v2) < max(v) AS n FROM ev GROUP BY k",
        "state",
    ),
    _apart(
        "a literal of another type that is hashed",
        "SELECT hash(v, 1) AS h, count(*) AS n FROM ev GROUP BY hash(v, 1)",
        "SELECT hash(v, 1L) AS h, count(*) AS n FROM ev GROUP BY hash(v, 1L)",
        "state",
    ),
    _apart(
        "a column and a text of its name",
        "SELECT k, max(k2) AS n FROM ev GROUP BY k",
        "SELECT k, max('k2') AS n FROM ev GROUP BY k",
        "state",
    ),
    _apart(
        "CAST to TRY_CAST below the state",
        "SELECT CAST(k2 AS INT) AS w, count(*) AS n FROM ev GROUP BY CAST(k2 AS INT)",
        "SELECT TRY_CAST(k2 AS INT) AS w, count(*) AS n FROM ev GROUP BY TRY_CAST(k2 AS INT)",
        "state",
    ),
    _apart(
        "a cast of a step that a later branch guards",
        {
            "p": "SELECT k, k2, CAST(k2 AS INT) AS w FROM ev",
            "a": "SELECT k, sum(CASE WHEN k2 RLIKE '^[0-9]+$' THEN w END) AS n FROM p GROUP BY k",
        },
        "SELECT k, sum(CASE WHEN k2 RLIKE '^[0-9]+$' THEN CAST(k2 AS INT) END) AS n FROM ev GROUP BY k",
        "state",
    ),
    _apart(
        "a cast of a step that a filter of an aggregate guards",
        {
            "p": "SELECT k, k2, CAST(k2 AS INT) AS w FROM ev",
            "a": "SELECT k, sum(w) FILTER (WHERE k2 RLIKE '^[0-9]+$') AS n FROM p GROUP BY k",
        },
        "SELECT k, sum(CAST(k2 AS INT)) FILTER (WHERE k2 RLIKE '^[0-9]+$') AS n FROM ev GROUP BY k",
        "state",
    ),
    _apart(
        "two moments of the hour that a zone has twice",
        "SELECT k, count(*) AS n FROM ev WHERE ts > TIMESTAMP'2026-10-25T00:30:00Z' GROUP BY k",
        "SELECT k, count(*) AS n FROM ev WHERE ts > TIMESTAMP'2026-10-25T01:30:00Z' GROUP BY k",
        "state",
        conf={"spark.sql.session.timeZone": "Europe/Berlin"},
    ),
    _apart(
        "the collation of a cast",
        "SELECT CAST(k AS STRING COLLATE UTF8_LCASE) AS g, count(*) AS n FROM ev GROUP BY ALL",
        "SELECT CAST(k AS STRING COLLATE UNICODE_CI) AS g, count(*) AS n FROM ev GROUP BY ALL",
        "state",
    ),
    _apart(
        "the body of a lambda",
        "SELECT transform(array(v), x -> x + v2)[0] AS w, count(*) AS n FROM ev GROUP BY ALL",
        "SELECT transform(array(v), x -> x - v2)[0] AS w, count(*) AS n FROM ev GROUP BY ALL",
        "state",
    ),
    _apart(
        "the rows of a table of values",
        "SELECT ev.k, sum(x) AS n FROM ev JOIN (VALUES ('a', 1), ('b', 2)) t(k, x) USING (k) GROUP BY ev.k",
        "SELECT ev.k, sum(x) AS n FROM ev JOIN (VALUES ('a', 2), ('b', 1)) t(k, x) USING (k) GROUP BY ev.k",
        "state",
    ),
    _apart(
        "sides of a self join",
        "SELECT a.id, a.v FROM ev a JOIN ev b ON a.id = b.v AND a.ts = b.ts",
        "SELECT a.id, a.v FROM ev a JOIN ev b ON b.id = a.v AND a.ts = b.ts",
        "state",
        mode="append",
    ),
    _apart(
        "the size of a window",
        WINDOWS.format("ev"),
        WINDOWS.format("ev").replace("10", "20"),
        "state",
        mode="append",
    ),
)
ABOVE: Final = (
    (
        "an expression over an aggregate",
        "SELECT k, sum(v) AS n FROM ev GROUP BY k",
        "SELECT k, sum(v) + 1 AS n FROM ev GROUP BY k",
    ),
    ("HAVING", COUNT.format("ev"), COUNT.format("ev") + " HAVING count(*) > 3"),
    (
        "a name inside of a struct that becomes JSON",
        "SELECT k, to_json(named_struct('a', count(*))) AS n FROM ev GROUP BY k",
        "SELECT k, to_json(named_struct('b', count(*))) AS n FROM ev GROUP BY k",
    ),
    ("a filter without state", "SELECT id, v FROM ev WHERE v > 1", "SELECT id, v FROM ev WHERE v > 2"),
)


def _over(expression: str) -> str:
    return f"SELECT k, sum({expression}) AS n FROM ev GROUP BY k"


def _where(condition: str) -> str:
    return f"SELECT k, count(*) AS n FROM ev WHERE {condition} GROUP BY k"


EQUAL: Final = (
    *(
        (_where(old), _where(new))
        for old, new in (
            ("NOT (v = v2)", "v != v2"),
            ("NOT (v < v2)", "v >= v2"),
            ("NOT (v <=> v2)", "v IS DISTINCT FROM v2"),
            ("v IN (1, 2)", "v IN (1, 2, 1)"),
            ("v NOT IN (1, 2)", "NOT (v IN (1, 2))"),
            ("NOT (v = 1 AND v2 = 2)", "v <> 1 OR v2 <> 2"),
            ("NOT NOT v = 1", "v = 1"),
            ("v BETWEEN 1 AND 5", "v >= 1 AND v <= 5"),
            ("v > 1 AND v > 1", "v > 1"),
            ("k ILIKE 'A%'", "k ILIKE 'a%'"),
            ("exists(array(v, v2), x -> x > 1)", "exists(array(v, v2), y -> y > 1)"),
            ("nvl(k, 'b') = 'a'", "coalesce(k, 'b') = 'a'"),
            ("lcase(k) = 'a'", "lower(k) = 'a'"),
            ("k || k2 = 'a'", "concat(k, k2) = 'a'"),
            ("mod(v, 2) = 1", "v % 2 = 1"),
            ("substr(k, 1, 2) = 'a'", "substring(k, 1, 2) = 'a'"),
            ("CAST(v AS BIGINT) = 1", "v = 1"),
            ("CAST(k AS STRING) = 'a'", "k = 'a'"),
            ("int(k) = 1", "CAST(k AS INT) = 1"),
            ("ts > ts + INTERVAL '5' MINUTE", "ts > ts + INTERVAL 5 minutes"),
            ("struct(v AS a, v2 AS b).B = 1", "v2 = 1"),
            ("array(v)[0] = 1 AND false", "v = 2 AND false"),
        )
    ),
    *(
        (_over(old), _over(new))
        for old, new in (
            ("CASE WHEN v = 1 THEN 2 END", "CASE WHEN v = 1 THEN 2 ELSE NULL END"),
            ("CASE v WHEN 1 THEN 2 END", "CASE WHEN v = 1 THEN 2 END"),
            ("if(v > 1, v2, v2)", "v2"),
            ("length(to_json(named_struct('a', v)))", "length(to_json(struct(v AS a)))"),
            ("array_size(array(v, v2))", "size(array(v, v2))"),
        )
    ),
    ("SELECT k, every(v > 1) AS n FROM ev GROUP BY k", "SELECT k, bool_and(v > 1) AS n FROM ev GROUP BY k"),
    (WINDOWS.format("ev"), WINDOWS.format("ev").replace("'10 minutes'", "'600 seconds'")),
    (_where("isnull(v)"), _where("v IS NULL")),
    (_where("isnotnull(v)"), _where("v IS NOT NULL")),
    (_where("NOT k LIKE 'a%'"), _where("k NOT LIKE 'a%'")),
    (_where("NOT k ILIKE 'a%'"), _where("k NOT ILIKE 'a%'")),
    (_where("v > 1 AND 1 = 1"), _where("v > 1")),
    (_where("true AND v > 1"), _where("v > 1")),
    (_where("v > 1"), _where("v > 1L")),
    (_where("v > 1"), _where("v > CAST(1 AS BIGINT)")),
    (_where("ts > TIMESTAMP'2026-01-01 00:00:00Z'"), _where("ts > TIMESTAMP'2026-01-01T00:00:00Z'")),
    (_where("ts > TIMESTAMP'2026-01-01 00:00:00Z'"), _where("ts > TIMESTAMP'2026-01-01 00:00:00+00:00'")),
    (_over("length(k || k2 || 'x')"), _over("length(concat(k, k2, 'x'))")),
    (_over("extract(HOUR FROM ts)"), _over("hour(ts)")),
    (_over("date_part('hour', ts)"), _over("hour(ts)")),
    (_where("k IN ('a')"), _where("k = 'a'")),
    (_where("to_date(ts) = DATE'2026-01-01'"), _where("CAST(ts AS DATE) = DATE'2026-01-01'")),
    (_where("trim(k) = 'a'"), _where("trim(BOTH FROM k) = 'a'")),
    (_where("left(k, 1) = 'a'"), _where("substring(k, 1, 1) = 'a'")),
    (_where("startswith(k, 'a')"), _where("k LIKE 'a%'")),
    (_over("nvl2(k2, v, v2)"), _over("IF(k2 IS NOT NULL, v, v2)")),
    (_over("v + 2 * 3"), _over("v + 6")),
    (
        "SELECT k, first(v, true) AS n FROM ev GROUP BY k",
        "SELECT k, first(v) IGNORE NULLS AS n FROM ev GROUP BY k",
    ),
    (
        "SELECT k, approx_count_distinct(v) AS n FROM ev GROUP BY k",
        "SELECT k, approx_count_distinct(v, 0.05) AS n FROM ev GROUP BY k",
    ),
    ("SELECT k, count(1) AS n FROM ev GROUP BY k", "SELECT k, count(*) AS n FROM ev GROUP BY k"),
    (TOP.format("k, f").replace("LIMIT 2", "LIMIT 2 + 3"), TOP.format("k, f").replace("LIMIT 2", "LIMIT 5")),
    (
        "SELECT k, k2, count(*) AS n FROM ev GROUP BY k, k2 WITH ROLLUP",
        "SELECT k, k2, count(*) AS n FROM ev GROUP BY ROLLUP (k, k2)",
    ),
    (
        "SELECT k, k2, count(*) AS n FROM ev GROUP BY ROLLUP (k, k2)",
        "SELECT k, k2, count(*) AS n FROM ev GROUP BY k, k2 GROUPING SETS ((k, k2), (k), ())",
    ),
    (
        WINDOWS.format("ev"),
        WINDOWS.format("ev").replace("'10 minutes'", "'10 minutes', '10 minutes', '0 seconds'"),
    ),
    # The division into steps, names and layout
    (
        {"p": "SELECT k, v + 1 AS w FROM ev", "a": "SELECT k, sum(w) AS n FROM p GROUP BY k"},
        _over("v + 1"),
    ),
    (
        {"p": "SELECT k, upper(k2) AS g, v FROM ev", "a": "SELECT g, sum(v) AS n FROM p GROUP BY g"},
        "SELECT upper(k2) AS g, sum(v) AS n FROM ev GROUP BY upper(k2)",
    ),
    (
        "WITH p AS (SELECT k, v FROM ev WHERE v > 1) SELECT k, sum(v) AS n FROM p GROUP BY k",
        "SELECT x.k, sum(x.v) AS n FROM ev AS x WHERE (x.v > 1) GROUP BY x.k",
    ),
    ({"p": "SELECT k, v AS one FROM ev", "a": "SELECT k, sum(one) AS n FROM p GROUP BY k"}, _over("v")),
    ("SELECT id, v FROM ev", "SELECT `id`, /* all */ v\nFROM ev -- whole"),
)
UNPROVEN: Final = (
    (_over("v + rand()"), _over("v + rand() + 0 * 1")),
    ("SELECT id, current_timestamp() AS x FROM ev", "SELECT id, current_timestamp() AS x FROM ev WHERE true"),
    ("SELECT id, current_date() AS x FROM ev", "SELECT id, DATE'2026-01-01' AS x FROM ev"),
    ("SELECT id, current_user() AS x FROM ev", "SELECT id, session_user() AS x FROM ev"),
    (_over("length(uuid())"), _over("(length(uuid()))")),
    ("SELECT id FROM ev", "SELECT ident FROM ev"),
)


@pytest.fixture(scope="module")
def prover(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prover]:
    folder = tmp_path_factory.mktemp("proof")
    with application(folder) as root:
        yield Prover(lambda: new_session(root), folder / "sources")


@pytest.mark.parametrize("edit", APART, ids=lambda edit: edit.name)
def test_a_change_of_rows_or_state_makes_plans_differ(prover: Prover, edit: Edit) -> None:
    for one in (edit, replace(edit, old=edit.new, new=edit.old)):
        proof = _proof(prover, one)
        assert proof.verdict == edit.wanted, proof
        assert set(edit.parts) <= set(proof.parts), proof


@pytest.mark.parametrize(("name", "old", "new"), ABOVE, ids=lambda value: value if " " not in value else "")
def test_what_is_computed_of_the_state_leaves_the_state_as_it_is(
    prover: Prover, name: str, old: str, new: str
) -> None:
    del name
    proof = _proof(prover, Edit(name="", old=old, new=new, wanted="state"))
    assert proof.verdict == "state", proof
    assert "query" in proof.parts


@pytest.mark.parametrize(("old", "new"), EQUAL)
def test_what_sparks_optimizer_makes_equal_is_proven_equal(prover: Prover, old: Steps, new: Steps) -> None:
    assert _proof(prover, Edit(name="", old=old, new=new, wanted="equal")).verdict == "equal"


@pytest.mark.parametrize(("old", "new"), UNPROVEN)
def test_what_each_analysis_makes_otherwise_is_not_proven(prover: Prover, old: str, new: str) -> None:
    proof = _proof(prover, Edit(name="", old=old, new=new, wanted="unproven"))
    assert proof.verdict == "unproven", proof
    assert proof.reason


def test_an_application_that_cannot_tell_a_literal_apart_proves_nothing(
    prover: Prover, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blind = Prover(prover._new_session, tmp_path / "sources")
    monkeypatch.setattr(
        "flareiac_spark_runtime.driver.proof._CONTROL", ("SELECT a FROM s WHERE a > {}", 1, 1)
    )
    proof = _proof(blind, Edit(name="", old="SELECT id FROM ev", new="SELECT id FROM ev", wanted=""))
    assert proof.verdict == "unproven"
    assert "one literal" in proof.reason


def test_other_internals_of_spark_prove_nothing(
    prover: Prover, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = Prover(prover._new_session, tmp_path / "sources")
    text = plan_text.java_text()
    monkeypatch.setattr(plan_text, "_compiled", None)
    monkeypatch.setattr(plan_text, "java_text", lambda: text.replace("default$14", "default$99"))
    proof = _proof(other, Edit(name="", old="SELECT id FROM ev", new="SELECT id FROM ev", wanted=""))
    assert proof.verdict == "unproven"
    assert "internals of Spark" in proof.reason


def test_no_judged_pair_is_proven_against_its_rows(prover: Prover, request: pytest.FixtureRequest) -> None:
    """All pairs with ``--slow``, otherwise a sample that is the same each time."""
    judged = [item for path in sorted(JUDGED.glob("*.jsonl")) for item in read(path)]
    if not request.config.getoption("--slow"):
        judged = random.Random(31).sample(judged, 45)
    found = list(proofs(prover, judged))
    assert [shown(item, proof) for item, proof in found if is_false(item, proof)] == []
    equal = [proof.verdict for item, proof in found if item.judgement is Judgement.SAME]
    assert equal.count("equal") / len(equal) > 0.8


def test_the_product_says_no_less_than_rows_do(prover: Prover, request: pytest.FixtureRequest) -> None:
    """The pairs are those that rows judged, over a stop and back; all with ``--slow``, otherwise the same
    sample.
    """
    judged = [item for path in sorted(BY_ROWS.glob("*.jsonl")) for item in read(path)]
    assert len({item.pair.family for item in judged}) > 10
    if not request.config.getoption("--slow"):
        judged = random.Random(31).sample(judged, 15)
    said = [
        Opinion(item=item, proof=proof, alone=verdict(item), said=verdict(item, proof))
        for item, proof in proofs(prover, judged)
    ]
    assert [opinions.shown(each) for each in said if opinions.is_dangerous(each)] == []


def _proof(prover: Prover, edit: Edit) -> Proof:
    before, after = (_spec(steps, edit) for steps in (edit.old, edit.new))
    sources = {
        name: ProofSource(identity=name, columns=_columns(kinds))
        for name, kinds in {**STREAMS, **TABLES}.items()
    }
    pair = Pair(
        address=before.address,
        before=job_spec_to_json(before),
        after=job_spec_to_json(after),
        sources_before=sources,
        sources_after=sources,
    )
    return prover.prove(pair)


def _spec(steps: Steps, edit: Edit) -> JobSpec:
    texts = {"a": steps} if isinstance(steps, str) else steps
    columns = (*EVENTS, "n", "since", "lid", "at", "w", "h", "x", "g", "ident")
    types: dict[str, str] = {**EVENTS, "since": "timestamptz", "at": "timestamptz"}
    return JobSpec(
        address="job.x",
        mode="stream",
        inputs=(
            *(
                StreamInput(
                    name=name,
                    source=ResolvedFiles(path=f"/landing/{name}", format="json", columns=_columns(kinds)),
                    watermark=None
                    if name in WITHOUT_WATERMARK
                    else Watermark(column="ts", delay="10 minutes"),
                )
                for name, kinds in STREAMS.items()
            ),
            *(
                TableInput(name=name, identifier=("lake", "db", name), columns=_columns(kinds))
                for name, kinds in TABLES.items()
            ),
        ),
        steps=tuple(Step(name=name, sql=sql, watermark=edit.marks.get(name)) for name, sql in texts.items()),
        outputs=(
            TableOutput(
                name="out",
                source=list(texts)[-1],
                identifier=("lake", "db", "out"),
                mode="append" if edit.mode == "merge" else edit.mode,  # type: ignore[arg-type] # one of them
                columns=_columns({name: types.get(name, "string") for name in columns}),
                checkpoint="/nowhere",
            ),
        ),
        conf=edit.conf,
    )


def _columns(kinds: Mapping[str, str]) -> tuple[SpecColumn, ...]:
    return tuple(SpecColumn(name=name, type=kind) for name, kind in kinds.items())
