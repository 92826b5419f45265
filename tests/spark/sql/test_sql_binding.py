"""A query in which the parser binds operators otherwise than Spark is not read, and so never the same as one
with brackets.
"""

import pytest

from flareiac_spark.sql.compare import compare_queries
from flareiac_spark.sql.query import Query

COLUMNS = {"t": {"k": "string", "n": "long", "m": "long", "ok": "boolean", "js": "string"}}


def same(old: str, new: str) -> bool:
    before, after = (
        Query(steps={"s": sql}, source="s", streams=["t"], columns=COLUMNS) for sql in (old, new)
    )
    return compare_queries(before, after).same


@pytest.mark.parametrize(
    ("plain", "bracketed"),
    [
        ("n | m & 1", "(n | m) & 1"),
        ("n ^ m | 1", "n ^ (m | 1)"),
        ("n & m << 1", "(n & m) << 1"),
        ("k || n + 1", "k || (n + 1)"),
        ("ok = ok < ok", "ok = (ok < ok)"),
        ("ok = ok IN (ok)", "ok = (ok IN (ok))"),
        ("ok = k LIKE 'a'", "ok = (k LIKE 'a')"),
        ("ok = n BETWEEN 1 AND 2", "ok = (n BETWEEN 1 AND 2)"),
    ],
)
def test_brackets_that_change_what_spark_reads_are_another_meaning(plain: str, bracketed: str) -> None:
    assert not same(f"SELECT {plain} AS x FROM t", f"SELECT {bracketed} AS x FROM t")
    assert same(f"SELECT {plain} AS x FROM t", f"SELECT {plain} AS x -- why\nFROM t")


@pytest.mark.parametrize(
    "condition",
    ["n + m * 2 > 3 AND NOT ok OR k = 'a'", "n & m & 1 = 1", "k || k LIKE 'a%'", "(n | m) & 1 = 1"],
)
def test_what_both_bind_alike_is_read(condition: str) -> None:
    assert same(
        f"SELECT k FROM t WHERE {condition}", f"SELECT z.k FROM (SELECT * FROM t WHERE ({condition})) AS z"
    )
