"""Queries that may be wrong: those of the pairs, with a random change or none in each. The same seed and
number make the same query.
"""

import random
import re
from collections.abc import Callable
from typing import Final

import sqlglot

from tests.verdicts.inputs import COLUMNS
from tests.verdicts.queries import random_tree

_NAMES: Final = (*(name for columns in COLUMNS.values() for name in columns), "nope", "a0", "x", "n", "zone")
_ITEMS: Final = (
    "st.a", "st.A", "st.b", "st.nope", "st.nope.a", "ev.st.b", "ev.st.nope", "e.st.nope", "EV.ST.A", "`st`.`a`", "`st.a`",
    "arr.x", "arr[0]", "arr[0].x", "m.nope", "m['a']", "m['a'].x", "js.a", "js:a", "k.x", "v.a", "ts.year", "d.nope AS q",
    "count(*)", "count(*) AS c9", "max(v) AS c9", "sum(v) OVER () AS c9", "min(st).a AS c9", "max(st).nope AS c9",
    "window.start", "session_window.end", "value", "key", "col", "pos", "nope", "nope AS nope", "ev.nope", "ev.id AS c9", "id", "v", "k",
    "*", "ev.*", "* EXCEPT (id)", "CAST(v AS STRING) AS c9", "CAST(k AS BIGINT) AS c9", "try_cast(k AS INT) AS c9", "v::string AS c9",
    "'a' AS c9", "1 AS c9", "NULL AS c9", "v = 1 AS c9", "explode(arr)", "explode(arr) AS c9", "explode(m)", "inline(array(st))",
    "posexplode(arr) AS (c8, c9)", "st AS c9, c9.a AS c8", "st AS c9, c9.nope AS c8", "v AS c9, c9 + 1 AS c8", "stack(2, 1, 2)",
    "current_date", "current_timestamp AS c9", "user", "_metadata.file_path", "now() AS c9", "(SELECT max(name) FROM dim) AS c9",
    "(SELECT max(nope) FROM dim) AS c9", "EXISTS (SELECT 1 FROM dim WHERE rank = id) AS c9", "named_struct('p', st).p.nope AS c9",
    "transform(arr, st -> st + 1) AS c9", "transform(arr, e -> e.nope) AS c9", "filter(array(st), y -> y.nope > 1) AS c9",
    "st.a.b AS c9", "array(st)[0].nope AS c9", "array(st).a AS c9", "first(st).a AS c9", "struct(st).st.a AS c9", "grouping(k) AS c9",
)  # fmt: skip
_ENDS: Final = (
    "ORDER BY id", "ORDER BY nope", "ORDER BY a", "ORDER BY st.a", "ORDER BY c9", "ORDER BY 1", "LIMIT 3", "SORT BY id", "WHERE count(*) > 1",
    "GROUP BY k", "GROUP BY nope", "GROUP BY 1", "GROUP BY ALL", "GROUP BY k, v", "GROUP BY st", "GROUP BY st.a", "GROUP BY upper(k)",
    "GROUP BY ROLLUP (k)", "HAVING count(*) > 1", "HAVING nope > 1", "LATERAL VIEW explode(arr) t9 AS c9", "GROUP BY (k)",
    "CLUSTER BY id", "DISTRIBUTE BY nope", "OFFSET 1", "WINDOW w9 AS (PARTITION BY nope)", "|> WHERE nope > 1",
)  # fmt: skip
_AROUND: Final = (
    "SELECT {name} FROM ({sql}) q9", "SELECT q9.{name} FROM ({sql}) q9", "SELECT {name} FROM ({sql})", "SELECT q9.* FROM ({sql}) q9",
    "WITH q9 AS ({sql}) SELECT {name}, 1 AS one FROM q9", "WITH q9 (x9, y9) AS ({sql}) SELECT x9 FROM q9",
    "WITH q9 AS ({sql}) SELECT q9.{name} FROM q9 JOIN dim USING (k)", "{sql} UNION ALL SELECT {name} FROM ev",
    "SELECT * FROM ({sql}) q9 LEFT SEMI JOIN dim ON q9.k = dim.k", "SELECT {name} FROM ({sql}) q9 LEFT SEMI JOIN dim ON q9.k = dim.k",
    "SELECT * EXCEPT ({name}) FROM ({sql}) q9", "SELECT {name} FROM ({sql}) q9 (x9, y9)", "WITH ev AS ({sql}) SELECT {name} FROM ev",
    "SELECT {name} FROM ({sql}) q9 JOIN lookup USING (k)", "SELECT lookup.{name} FROM ({sql}) q9 JOIN lookup USING (k)",
    "SELECT {name} FROM ({sql}) q9 NATURAL JOIN dim", "SELECT {name} FROM ({sql}) q9, LATERAL (SELECT q9.{name} AS y9)",
    "SELECT s.{name} FROM (SELECT struct(*) AS s FROM ({sql}))", "FROM ({sql}) q9 SELECT {name}", "SELECT {name} FROM VALUES (1) AS ev(v9)",
    "SELECT count(*) AS c9, {name} FROM ({sql}) q9", "SELECT {name}, count(*) AS c9 FROM ({sql}) q9 GROUP BY {other}",
    "SELECT {name} AS {other}, max({name}) AS c9 FROM ({sql}) q9 GROUP BY {other}", "SELECT {name} FROM ({sql}) q9 WHERE EXISTS (SELECT {other})",
    "SELECT {name}, any_value({other}) AS c9 FROM ({sql}) q9 GROUP BY q9.{name}", "SELECT {name} FROM ev WHERE k IN (SELECT {other} FROM ({sql}))",
    "SELECT q9.{name} AS a, q9.{other} FROM ({sql}) q9 ORDER BY {name}", "SELECT {name} FROM ({sql}) q9 PIVOT (max(v) FOR k IN ('a', 'b'))",
    "WITH u9 AS (SELECT {name} FROM ev) {sql}", "WITH u9 AS (SELECT {name}, count(*) FROM ev), v9 AS (SELECT 1) {sql}",
    "SELECT st.{name}, max(st.a) AS c9 FROM ev GROUP BY st.{other}", "SELECT ev.st.{name} AS q, e.k FROM ev, ({sql}) e",
)  # fmt: skip
TARGETS: Final = (
    "boolean", "int", "long", "float", "double", "decimal(12,2)", "date", "timestamptz", "timestamp_ntz", "string", "binary", "uuid",
    "struct<a: long, b: string>", "struct<a: timestamptz>", "struct<b: long>", "list<long>", "list<string>", "list<boolean>",
    "map<string, long>", "map<string, date>", "list<struct<a: long>>",
)  # fmt: skip


def mistaken(seed: int, number: int) -> dict[str, str]:
    """Steps in order."""
    steps = dict(random_tree(random.Random(f"{seed} tree {number}")).texts())
    dice = random.Random(f"{seed} mistake {number}")
    for _ in range(dice.choice((0, 1, 1, 1, 2))):
        name = dice.choice(list(steps))
        steps[name] = dice.choice(_CHANGES)(dice, steps[name])
    return steps


def _other_name(dice: random.Random, sql: str) -> str:
    """Another word in the place of a name."""
    tokens = [token for token in sqlglot.tokenize(sql, dialect="spark") if token.token_type.name == "VAR"]
    if not tokens:
        return sql
    token = dice.choice(tokens)
    word = dice.choice((dice.choice(_NAMES), token.text.upper(), f"`{token.text}`", f"ev.{token.text}"))
    return f"{sql[: token.start]}{word}{sql[token.end + 1 :]}"


def _without_word(dice: random.Random, sql: str) -> str:
    token = dice.choice(sqlglot.tokenize(sql, dialect="spark"))
    return sql[: token.start] + sql[token.end + 1 :]


def _without_letter(dice: random.Random, sql: str) -> str:
    at = dice.randrange(len(sql))
    return sql[:at] + sql[at + 1 :]


def _item_more(dice: random.Random, sql: str) -> str:
    places = [found.end() for found in re.finditer(r"\bSELECT (DISTINCT )?", sql)]
    if not places:
        return sql
    at = dice.choice(places)
    return f"{sql[:at]}{dice.choice(_ITEMS)}, {sql[at:]}"


def _ended(dice: random.Random, sql: str) -> str:
    return f"{sql} {dice.choice(_ENDS)}"


def _not_grouped(_dice: random.Random, sql: str) -> str:
    return re.sub(r" GROUP BY .*?(?= HAVING| ORDER|$)", "", sql)


def _wrapped(dice: random.Random, sql: str) -> str:
    return dice.choice(_AROUND).format(sql=sql, name=dice.choice(_NAMES), other=dice.choice(_NAMES))


def _plain(dice: random.Random, _sql: str) -> str:
    items = ", ".join(dice.choice(_ITEMS) for _ in range(dice.randrange(1, 4)))
    source = dice.choice(
        ("ev", "ev e", "ev JOIN dim USING (k)", "ev LEFT JOIN dim e ON ev.k = e.k", "ev NATURAL JOIN lookup")
    )
    return f"SELECT {items} FROM {source}{dice.choice(('', ' ' + dice.choice(_ENDS)))}"


_CHANGES: Final[tuple[Callable[[random.Random, str], str], ...]] = (
    _other_name,
    _other_name,
    _without_word,
    _without_letter,
    _item_more,
    _item_more,
    _ended,
    _not_grouped,
    _wrapped,
    _wrapped,
    _plain,
    _plain,
)
