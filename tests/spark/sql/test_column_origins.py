"""The columns of which a query makes each of its columns: of none too few."""

import pytest

from flareiac_spark.sql.column_origins import column_origins
from flareiac_spark.sql.query import Query

COLUMNS = {
    "events": {"id": "long", "n": "long", "k": "string", "ts": "timestamp", "items": "list<long>"},
    "dim": {"k": "string", "name": "string"},
}


def origins(*steps: str) -> dict[str, list[str] | None] | None:
    """``RELATION.COLUMN`` by column. Each step reads the one before as ``before``."""
    names = [*("before" for _step in steps[:-1]), "last"]
    query = Query(
        steps=dict(zip(names, steps, strict=True)), source="last", streams=["events"], columns=COLUMNS
    )
    found = column_origins(query)
    if found is None:
        return None
    return {
        column: None if made_of is None else sorted(f"{relation}.{name}" for relation, name in made_of)
        for column, made_of in found.items()
    }


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            ["SELECT id, n + 1 AS m, upper(k) AS k FROM events"],
            {"id": ["events.id"], "m": ["events.n"], "k": ["events.k"]},
        ),
        (
            ["SELECT k, sum(n) AS total, count(*) AS c FROM events GROUP BY k"],
            {"k": ["events.k"], "total": ["events.n"], "c": []},
        ),
        (
            ["SELECT e.id, concat(d.name, e.k) AS both FROM Events e JOIN dim d ON e.k = d.k WHERE n > 1"],
            {"id": ["events.id"], "both": ["dim.name", "events.k"]},
        ),
        (
            [
                "SELECT window(ts, '5 minutes').start AS s, max(n) m FROM events GROUP BY window(ts, '5 minutes')"
            ],
            {"s": ["events.ts"], "m": ["events.n"]},
        ),
        (
            ["SELECT * FROM events", "SELECT id, explode(items) AS part FROM before"],
            {"id": ["events.id"], "part": ["events.items"]},
        ),
        (
            ["SELECT id, k FROM events UNION ALL SELECT 1, name FROM dim"],
            {"id": ["events.id"], "k": ["dim.name", "events.k"]},
        ),
        (
            ["SELECT row_number() OVER (PARTITION BY k ORDER BY n) AS r FROM events"],
            {"r": ["events.k", "events.n"]},
        ),
        (
            ["WITH a AS (SELECT n AS x, k FROM events) SELECT CASE WHEN x > 1 THEN k END AS c FROM a"],
            {"c": ["events.k", "events.n"]},
        ),
        (["SELECT * FROM other"], {"*": ["other.*"]}),
        (["SELECT id, (SELECT max(name) FROM dim) AS m FROM events"], {"id": ["events.id"], "m": None}),
        (["SELECT id, k IN (SELECT name FROM dim) AS m FROM events"], {"id": ["events.id"], "m": None}),
    ],
)
def test_a_column_is_made_of_all_that_its_expression_reads(
    steps: list[str], expected: dict[str, list[str] | None]
) -> None:
    assert origins(*steps) == expected


def test_a_query_that_cannot_be_read_has_no_origins() -> None:
    assert origins("SELEC") is None
    assert origins("SELECT id FROM events LATERAL VIEW") is None
