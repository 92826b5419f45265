"""The relations that a query reads, the columns that it gives and the state that it keeps; and that its
layout means nothing.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flareiac_spark.sql.column_usage import columns_named
from flareiac_spark.sql.compare import compare_queries
from flareiac_spark.sql.parse import parsed
from flareiac_spark.sql.query import Query
from flareiac_spark.sql.relations import columns_read, relation_uses, relations, streams_in_order
from flareiac_spark.sql.state import Stateful, state_of, stateful_steps
from flareiac_spark.sql.static_reading import columns_given

QUERIES = (
    "SELECT a, b FROM t WHERE a > 1 AND b < 2",
    "SELECT c.*, a.name AS airline FROM cleaned c LEFT JOIN airlines a ON c.carrier = a.carrier",
    (
        "SELECT window(ts, '1 hour').start AS h, carrier, count(*) AS n FROM f GROUP BY window(ts, '1 "
        "hour'), carrier"
    ),
    "WITH x AS (SELECT a FROM t), y AS (SELECT b FROM t) SELECT * FROM x CROSS JOIN y",
    "SELECT DISTINCT a FROM t",
)


@pytest.mark.parametrize("sql", QUERIES)
@settings(deadline=None)
@given(data=st.data())
def test_layout_and_comments_mean_nothing(sql: str, data: st.DataObject) -> None:
    words = sql.split(" ")
    gaps = data.draw(
        st.lists(
            st.sampled_from([" ", "\n", "  ", "\t", " /* why */ ", " -- because\n"]),
            min_size=len(words),
            max_size=len(words),
        )
    )
    inside_text = any("'" in word for word in words)
    spread = (
        sql.replace(" FROM ", "\n  FROM ")
        if inside_text
        else "".join(word + gap for word, gap in zip(words, gaps, strict=True))
    )
    old, new = (Query(steps={"s": text}, source="s", streams=("t", "f")) for text in (sql, spread))
    assert compare_queries(old, new).same


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT a FROM t", None),
        ("SELECT count(*) AS n FROM t", Stateful.AGGREGATION),
        ("SELECT a FROM t GROUP BY a", Stateful.AGGREGATION),
        ("SELECT sum(a) OVER (PARTITION BY k) AS s FROM t", None),
        ("SELECT DISTINCT a FROM t", Stateful.DISTINCT),
        ("SELECT t.a FROM t JOIN static s USING (k)", None),
        ("SELECT t.a FROM t JOIN u USING (k)", Stateful.JOIN),
        ("SELECT a FROM t WHERE a > (SELECT max(x) FROM static)", None),
        ("WITH q AS (SELECT a FROM t) SELECT count(a) AS n FROM q", Stateful.AGGREGATION),
        ("SELECT a FROM t UNION SELECT a FROM u", Stateful.DISTINCT),
        ("SELECT a FROM t UNION ALL SELECT a FROM u", None),
        ("SELECT every(a) AS e, window.start AS w FROM t", Stateful.AGGREGATION),
        ("SELECT a FROM t LIMIT 5", Stateful.LIMIT),
        ("SELECT a FROM t ORDER BY window LIMIT 5", Stateful.LIMIT),
        ("SELECT a FROM static LIMIT 5", None),
    ],
)
def test_which_queries_over_streams_hold_state(sql: str, kind: Stateful | None) -> None:
    found = stateful_steps({"s": sql}, ["t", "u"])
    assert [item.kind for item in found] == ([] if kind is None else [kind])


def test_a_step_over_a_streaming_step_is_one_too() -> None:
    found = stateful_steps(
        {"a": "SELECT x FROM t", "b": "SELECT count(x) AS n FROM a", "c": "SELECT count(y) AS n FROM static"},
        ["t"],
    )
    assert [item.step for item in found] == ["b"]


def test_state_of_unreadable_sql_is_not_guessed() -> None:
    assert state_of("SELECT FROM GROUP BY (", None) == (Stateful.UNKNOWN,)


def test_relations_leave_out_ctes() -> None:
    assert set(relations("WITH q AS (SELECT * FROM t) SELECT * FROM q JOIN lake.demo.x USING (k)") or ()) == {
        "t",
        "lake.demo.x",
    }


def test_only_read_columns_count() -> None:
    known = ["a", "b", "K", "z"]
    assert columns_read(["SELECT f.a FROM flights f JOIN x USING (k)"], "flights", known) == {"a", "k"}
    assert columns_read(["SELECT f.* FROM flights f"], "flights", known) == {"a", "b", "k", "z"}
    assert columns_read(["SELECT count(*) AS n FROM flights"], "flights", known) == {"a", "b", "k", "z"}
    assert columns_read(["SELECT FROM ("], "flights", known) == {"a", "b", "k", "z"}


WORDS = [
    "current_date", "current_timestamp", "current_user", "session_user", "user", "current_time", "localtimestamp",
    "current_catalog", "current_database", "current_schema", "localtime", "curdate", "now", "window", "value",
    "Current_User", "SESSION_USER", "date", "timestamp", "interval", "key", "row", "position", "order_by", "default",
]  # fmt: skip
ODD = ["a.b", "x``y", "*", 'q"q', "it's", "select", "null", "true", "Größe", "a b", "current_user", "1st"]
USES = [
    "SELECT {} AS k, id FROM s",
    "SELECT s.{} AS k, id FROM s",
    "SELECT id FROM s WHERE {} = 'a'",
    "SELECT max({0}) AS id FROM s GROUP BY {0}",
    "SELECT CASE WHEN {} IS NULL THEN 1 ELSE id END AS k FROM s",
    "SELECT id, row_number() OVER (PARTITION BY {} ORDER BY id) AS n FROM s",
    "WITH c AS (SELECT {} AS k FROM s) SELECT k FROM c",
    "SELECT id FROM (SELECT id, {} AS k FROM s) t WHERE k = 1",
    "SELECT struct({}) AS k FROM s",
]


@pytest.mark.parametrize("name", [*WORDS, *(f"`{name}`" for name in ODD)])
@pytest.mark.parametrize("use", USES)
def test_a_column_that_a_query_names_is_read_whatever_its_name(use: str, name: str) -> None:
    """Spark prefers a column to the function of its name; a column that is not given to the query would be
    replaced by the function.
    """
    plain = name.removeprefix("`").removesuffix("`").replace("``", "`").lower()
    sql = use.format(name)
    assert plain in columns_read([sql], "s", ["unread", plain, "id"])
    assert parsed(sql) is None or plain in columns_named(sql, "s")


def test_columns_that_a_query_gives() -> None:
    inputs = {"cleaned": ["a", "b"], "airlines": ["k", "name"]}
    assert columns_given(
        "SELECT c.*, l.name AS airline FROM cleaned c JOIN airlines l ON c.a = l.k", inputs
    ) == ("a", "b", "airline")
    assert columns_given("SELECT * FROM cleaned JOIN airlines USING (a)", inputs) is None
    assert columns_given("SELECT *, 1 AS one FROM cleaned", inputs) == ("a", "b", "one")
    assert columns_given("SELECT a + 1 FROM cleaned", inputs) is None


@pytest.mark.parametrize(
    "star", ["to_json(struct(*))", "to_json(struct(o.*))", "hash(*)", "count(DISTINCT *)"]
)
def test_a_star_inside_a_call_reads_every_column(star: str) -> None:
    assert columns_read([f"SELECT ts, {star} AS x FROM o GROUP BY ts"], "o", ["ts", "amount"]) == {
        "ts",
        "amount",
    }
    assert columns_read(["SELECT ts, count(*) AS x FROM o GROUP BY ts"], "o", ["ts", "amount"]) == {"ts"}


@pytest.mark.parametrize(
    ("steps", "positions"),
    [
        ({"s": "SELECT id FROM ev UNION ALL SELECT id FROM ev"}, ("ev", "ev")),
        ({"v": "SELECT id FROM ev", "s": ("SELECT id FROM v UNION ALL SELECT id FROM ev2 UNION ALL SELECT "
            "id FROM v")}, ("ev", "ev2", "ev")),
        ({"s": "WITH c AS (SELECT id FROM ev) SELECT id FROM c UNION ALL SELECT id FROM c"}, ("ev",)),
        ({"s": "WITH c AS (SELECT id FROM ev), d AS (SELECT id FROM ev2) SELECT id FROM c"}, ("ev", "ev2")),
        ({"s": "WITH c AS (SELECT id FROM ev) SELECT id FROM ev2 UNION ALL SELECT id FROM c"}, ("ev", "ev2")),
        ({"s": "WITH c AS (SELECT id FROM ev), d AS (SELECT id FROM c UNION ALL SELECT id FROM c) SELECT "
               "id FROM d UNION ALL "
               "SELECT id FROM ev2 UNION ALL SELECT id FROM c"}, ("ev", "ev2")),
        ({"s": ("SELECT id FROM ev2 UNION ALL SELECT id FROM (WITH c AS (SELECT id FROM ev) SELECT id FROM "
            "c UNION ALL SELECT id FROM c)")},
         ("ev2", "ev")),
        ({"v": "WITH c AS (SELECT id FROM ev) SELECT id FROM c", "s": ("SELECT id FROM v UNION ALL SELECT "
            "id FROM v")}, ("ev", "ev")),
        ({"v": "SELECT id FROM ev", "s": "WITH c AS (SELECT id FROM v), d AS (SELECT id FROM ev2) "
               "SELECT id FROM d UNION ALL SELECT id FROM c"}, ("ev", "ev2")),
    ],
)  # fmt: skip
def test_positions_are_those_of_sparks_offsets(steps: dict[str, str], positions: tuple[str, ...]) -> None:
    """As measured on Spark 4.1: the lines of ``offsets/0`` and the files that each source's log names."""
    assert streams_in_order(steps, "s", ["ev", "ev2"]) == positions


def test_a_name_that_a_text_makes_leaves_everything_open() -> None:
    for sql in ("SELECT a FROM IDENTIFIER('t')", "SELECT identifier('a') FROM t"):
        assert relations(sql) is None
        assert relation_uses(sql) is None
        assert columns_read([sql], "t", ["a", "b"]) == {"a", "b"}
