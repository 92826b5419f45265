"""The columns of an input that a job certainly names: enough to say at plan that one of them cannot go."""

import pytest

from flareiac_spark.definition.column_usage import columns_read

CASES = [
    ("SELECT id, city FROM t", ("city", "id")),
    ("SELECT x.id FROM t AS x WHERE x.City = 'Rome'", ("city", "id")),
    ("SELECT r.id, t.zone FROM r JOIN t ON r.city = t.city", ("city", "zone")),
    ("SELECT zone FROM r JOIN t ON r.city = t.city", ("city",)),
    ("SELECT * FROM t", ()),
    ("SELECT t.* FROM t", ()),
    ("SELECT a.b FROM t", ("a",)),
    ("SELECT n AS m, m + 1 AS o FROM t", ("n",)),
    ("SELECT transform(xs, x -> x + 1) AS ys FROM t", ("xs",)),
    ("WITH t AS (SELECT other FROM r) SELECT other FROM t", ()),
    ("WITH c AS (SELECT id FROM t) SELECT id, more FROM c", ("id",)),
    ("SELECT k FROM r WHERE EXISTS (SELECT 1 FROM t WHERE k = id)", ()),
    ("SELECT k FROM (SELECT id AS k FROM t) s", ("id",)),
    ("SELECT id FROM r UNION ALL SELECT n FROM t", ("n",)),
    ("SELECT e FROM t LATERAL VIEW explode(xs) v AS e", ()),
    ("no sql at all", ()),
]


@pytest.mark.parametrize(("sql", "expected"), CASES, ids=[sql for sql, _ in CASES])
def test_only_what_is_certain_is_named(sql: str, expected: tuple[str, ...]) -> None:
    assert columns_read([sql], "t") == expected
