"""A name that certainly is no column of what a query reads is an error before any system is asked; Spark
judges the rest.
"""

from pathlib import Path

import pytest

from flareiac_spark.sql.static_reading import Columns, GivenColumn, UnknownColumn
from flareiac_spark.sql.static_reading import read as read_query
from tests.spark.declared import LAKE, STATELESS, loaded
from tests.verdicts.inputs import COLUMNS, GAINS
from tests.verdicts.pair import read as read_pairs


def columns(**types: str) -> Columns:
    return tuple(GivenColumn(name=name, type=kind) for name, kind in types.items())


KNOWN = {
    "orders": columns(id="long", ts="timestamptz", Region="string", st="struct<field: long>"),
    "names": columns(region="string", name="string"),
    "made": None,
}


@pytest.mark.parametrize(
    ("sql", "unknown"),
    [
        ("SELECT nope FROM orders", ["nope"]),
        ("SELECT o.nope FROM orders o", ["o.nope"]),
        ("SELECT o.nope FROM orders o JOIN made m ON o.id = m.id", ["o.nope"]),
        ("SELECT id FROM orders WHERE nope > 1 GROUP BY id HAVING max(missing) > 1", ["nope", "missing"]),
        ("WITH c AS (SELECT nope FROM orders) SELECT * FROM c", ["nope"]),
        ("SELECT * FROM (SELECT nope FROM orders) s", ["nope"]),
        ("SELECT id FROM orders UNION ALL SELECT nope FROM orders", ["nope"]),
        ("SELECT nope.a FROM orders", ["nope"]),
        ("SELECT transform(array(1), x -> x + nope) AS n FROM orders", ["nope"]),
        ("SELECT nope AS nope FROM orders", ["nope"]),
        ("SELECT id, window.start AS w FROM orders", ["window"]),
        ("WITH c AS (SELECT id AS n FROM orders) SELECT id FROM c", ["id"]),
        ("SELECT s.region FROM (SELECT id FROM orders) s", ["s.region"]),
        ("SELECT o.id FROM orders o JOIN (SELECT id FROM orders) m ON o.id = m.idd", ["m.idd"]),
        # What may mean something else
        ("SELECT orders.st.field FROM orders ORDER BY field", []),
        ("SELECT nope AS m, 1 AS nope FROM orders", []),
        ("SELECT w.window.start FROM (SELECT window(ts, '1 hour') FROM orders GROUP BY 1) w", []),
        ("SELECT ID, `region`, ST.field, orders.st.field FROM orders", []),
        ("SELECT id AS n, n + 1 AS m FROM orders ORDER BY m", []),
        ("SELECT nope FROM orders JOIN made", []),
        ("SELECT nope FROM made", []),
        ("SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM names WHERE name = o.region AND id > 1)", []),
        ("SELECT (SELECT max(name) FROM names WHERE id > 1) AS m FROM orders", []),
        ("SELECT e FROM orders LATERAL VIEW explode(array(1)) x AS e", []),
        ("SELECT x.e FROM orders, LATERAL explode(array(1)) AS x(e)", []),
        ("SELECT o.a FROM orders AS o(a, b, c, d)", []),
        ("SELECT transform(array(1), x -> x + 1) AS n, _metadata.file_path AS f FROM orders", []),
        ("SELECT window.start FROM orders GROUP BY window(ts, '1 hour')", []),
        ("SELECT current_date, current_timestamp, current_user FROM orders", []),
        (
            (
                "SELECT date_add(DAY, 1, ts) AS a, timestampdiff(HOUR, ts, ts) AS b, extract(YEAR FROM ts) "
                "AS c FROM orders"
            ),
            [],
        ),
        ("SELECT /*+ BROADCAST(names) */ id FROM orders JOIN names USING (region)", []),
        ("SELECT * EXCEPT (id) FROM orders", []),
        ("SELECT id FROM orders ORDER BY ALL", []),
        ("SELECT region, count(*) AS n FROM orders GROUP BY ALL", []),
        ("SELECT make_interval(days => 1) AS i, ts:a AS v FROM orders", []),
        ("SELECT sum(id) OVER w AS s FROM orders WINDOW w AS (PARTITION BY region)", []),
        ("SELECT * FROM orders PIVOT (sum(id) FOR region IN ('a' AS a, 'b' AS b))", []),
        ("SELECT posexplode(array(id)) AS (p, v) FROM orders", []),
        ("WITH orders AS (SELECT 1 AS one) SELECT one FROM orders", []),
        ("SELECT session_window.end FROM orders GROUP BY session_window(ts, '1 hour')", []),
        ("this is no query", []),
    ],
)
def test_only_what_is_certain_is_named(sql: str, unknown: list[str]) -> None:
    found = read_query(sql, KNOWN).mistakes
    assert [item.name for item in found if isinstance(item, UnknownColumn)] == unknown


def test_a_column_may_be_called_as() -> None:
    assert read_query("SELECT id, region AS , ts FROM orders", KNOWN).columns is None


def test_no_query_that_spark_accepts_is_refused() -> None:
    """Every query of the judged pairs ran, on inputs with these columns."""
    asked = 0
    for path in sorted((Path(__file__).parents[1] / "change" / "judged").glob("*.jsonl")):
        for item in read_pairs(path):
            for side in (item.pair.old, item.pair.new):
                known: dict[str, Columns | None] = {
                    name: columns(**types, **{each: GAINS[each] for each in side.gained.get(name, ())})
                    for name, types in COLUMNS.items()
                }
                for name, sql in side.steps.items():
                    asked += 1
                    reading = read_query(sql, known)
                    assert reading.mistakes == (), (item.pair.id, sql)
                    known[name] = reading.columns
    assert asked > 5_000


def test_a_guess_is_made(tmp_path: Path) -> None:
    found = loaded((LAKE + STATELESS).replace("SELECT id, region", "SELECT id, regoin"), tmp_path)
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.attribute) == ("FIK158", ("step", "clean", "sql"))
    assert 'There is no column "regoin" in what the step clean reads' in diagnostic.detail
    assert 'Did you mean "region"?' in diagnostic.detail


def test_columns_of_earlier_steps_are_known(tmp_path: Path) -> None:
    more = (
        'step "more" { sql = "SELECT id, ts FROM clean" }\n  output "orders" {\n    table = '
        'table.orders\n    from = "more"\n  }'
    )
    found = loaded((LAKE + STATELESS).replace('output "orders" { table = table.orders }', more), tmp_path)
    assert "FIK158" in found.codes
