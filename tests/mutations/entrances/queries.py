"""Makes texts of queries in Spark SQL over the inputs ``s``, ``u`` and ``t``. Pure but for the chance."""

import random
from typing import Final

_COLUMNS: Final = (
    "id",
    "ts",
    "a",
    "value",
    "timestamp",
    "m",
    "m['k'].a",
    "`id`",
    "s.value",
    "u.id",
    "m.k.b[0]",
    "x.id",
    "*",
)
_FUNCTIONS: Final = (
    "count",
    "sum",
    "max",
    "min",
    "avg",
    "coalesce",
    "upper",
    "concat",
    "explode",
    "from_json",
    "date_trunc",
    "row_number",
    "first",
    "approx_count_distinct",
    "named_struct",
    "current_user",
    "rand",
    "my_udf",
    "to_date",
    "transform",
)
_LITERALS: Final = (
    "1",
    "-1",
    "1e400",
    "1.5BD",
    "'a'",
    "''",
    "'it''s'",
    '"q"',
    "NULL",
    "TRUE",
    "DATE '2026-01-01'",
    "TIMESTAMP 'x'",
    "INTERVAL '1' DAY",
    "INTERVAL 1 YEAR 2 MONTHS",
    "X'1F'",
    "99999999999999999999",
    ":p",
    "?",
    "$1",
    "ARRAY(1, 2)",
    "MAP('a', 1)",
    "{}",
    "r'\\n'",
)
_OPERATORS: Final = (
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "=",
    "<=>",
    "<>",
    "AND",
    "OR",
    "LIKE",
    "RLIKE",
    "IS DISTINCT FROM",
    "->",
    "::",
    "DIV",
    "^",
    "<<",
)
_WINDOWS: Final = (
    "window(ts, '5 minutes')",
    "window(ts, '1 hour', '5 minutes')",
    "session_window(ts, '10 minutes')",
    "window(timestamp, '-1 hour')",
    "window(ts, 'x')",
    "window(ts, '99999999999 years')",
)


def query(choose: random.Random, depth: int = 2) -> str:
    """The text of a query, mostly one that can be parsed."""
    if depth and choose.random() < 0.12:
        kind = choose.choice(("UNION ALL", "UNION", "EXCEPT", "INTERSECT", "MINUS"))
        return f"{query(choose, depth - 1)} {kind} {query(choose, depth - 1)}"
    if depth and choose.random() < 0.12:
        return f"WITH x AS ({query(choose, depth - 1)}) {query(choose, depth - 1)}"
    names = ", ".join(_item(choose, depth) for _ in range(choose.randrange(1, 4)))
    parts = [
        f"SELECT {choose.choice(('', '', 'DISTINCT ', '/*+ BROADCAST(t) */ '))}{names}",
        f"FROM {_source(choose, depth)}",
    ]
    parts += [part for part in _clauses(choose, depth) if choose.random() < 0.35]
    return choose.choice((" ", "\n      ")).join(parts)


def _clauses(choose: random.Random, depth: int) -> tuple[str, ...]:
    return (
        f"WHERE {_value(choose, depth)}",
        f"GROUP BY {choose.choice((_value(choose, 0), choose.choice(_WINDOWS), 'ALL', '1', 'CUBE(id, a)', 'ROLLUP(id)'))}",
        f"HAVING {_value(choose, 1)}",
        f"ORDER BY {_value(choose, 0)} {choose.choice(('', 'DESC NULLS LAST'))}",
        f"LIMIT {choose.choice(('1', '0', '-1', 'ALL', '1e3', '9999999999999999999999'))}",
        choose.choice(
            (
                "LATERAL VIEW explode(m) e AS k, v",
                "QUALIFY 1",
                "DISTRIBUTE BY id",
                "WINDOW w AS (PARTITION BY id)",
                "TABLESAMPLE (5 PERCENT)",
                "FOR VERSION AS OF 1",
            )
        ),
    )


def _item(choose: random.Random, depth: int) -> str:
    alias = choose.choice(("", "", " AS id", " AS `a b`", " AS é", " id2", " AS (x, y)"))
    return f"{_value(choose, depth)}{alias}"


def _source(choose: random.Random, depth: int) -> str:
    first = choose.choice(
        (
            "s",
            "u",
            "t",
            "s AS x",
            "u x",
            "x",
            "`s`",
            "json.`/tmp/x`",
            "range(3)",
            "VALUES (1), (2)",
            "lake.n.t",
            "STREAM s",
        )
    )
    if depth and choose.random() < 0.25:
        first = f"({query(choose, depth - 1)}) {choose.choice(('', 'x', 'AS x(id)'))}"
    if choose.random() < 0.35:
        kind = choose.choice(
            (
                "JOIN",
                "LEFT JOIN",
                "FULL OUTER JOIN",
                "LEFT ANTI JOIN",
                "CROSS JOIN",
                "NATURAL JOIN",
                ",",
                "LEFT SEMI JOIN",
                "JOIN LATERAL",
            )
        )
        on = choose.choice(("ON s.value = u.id", "USING (id)", "", f"ON {_value(choose, 1)}"))
        return f"{first} {kind} {choose.choice(('t', 'u', 's s2', 'u AS y'))} {on}"
    return first


def _value(choose: random.Random, depth: int) -> str:
    if depth <= 0:
        return choose.choice((*_COLUMNS[:-1], *_LITERALS))
    inner = [_value(choose, depth - 1) for _ in range(3)]
    match choose.randrange(10):
        case 0:
            return f"{inner[0]} {choose.choice(_OPERATORS)} {inner[1]}"
        case 1:
            return f"CASE WHEN {inner[0]} THEN {inner[1]} ELSE {inner[2]} END"
        case 2:
            return f"CAST({inner[0]} AS {choose.choice(('long', 'decimal(10,2)', 'struct<a:int>', 'x', 'map<string,int>', 'timestamp_ntz'))})"
        case 3:
            over = choose.choice(
                (
                    "",
                    " OVER (PARTITION BY id ORDER BY ts)",
                    " FILTER (WHERE id > 1)",
                    " OVER w",
                    " IGNORE NULLS",
                )
            )
            return f"{choose.choice(_FUNCTIONS)}({choose.choice(('', 'DISTINCT '))}{', '.join(inner[: choose.randrange(3)])}){over}"
        case 4:
            return choose.choice(_WINDOWS)
        case 5:
            return f"{inner[0]} {choose.choice(('IN', 'NOT IN'))} ({inner[1]}, {inner[2]})"
        case 6:
            return f"{inner[0]} BETWEEN {inner[1]} AND {inner[2]}"
        case 7:
            return f"{choose.choice(('EXISTS', '', 'id IN'))} (SELECT {inner[0]} FROM t)"
        case _:
            return choose.choice(_COLUMNS)
