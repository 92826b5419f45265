"""Random typed SQL expressions as small trees, so that an edit can reach into them."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(slots=True)
class Expr:
    """``text`` with ``$0``, ``$1`` in place of its ``parts``. A column is a text without parts, marked by
    ``column``.
    """

    text: str
    kind: str
    parts: "list[Expr]" = field(default_factory=list)
    column: bool = False

    def sql(self) -> str:
        return re.sub(r"\$(\d)", lambda found: self.parts[int(found[1])].sql(), self.text)

    def walk(self) -> "Iterator[Expr]":
        yield self
        for part in self.parts:
            yield from part.walk()


def column(name: str, kind: str) -> Expr:
    return Expr(name, kind, column=True)


LITERALS: Final[Mapping[str, Sequence[str]]] = {
    "long": ("0", "1", "2", "3", "5", "7", "10"),
    "double": ("0.5D", "1.0D", "2.25D"),
    "string": ("'a'", "'A'", "'b'", "'c'", "'k2'", "''", "'z'"),
    "timestamptz": ("TIMESTAMP'2026-01-01 00:20:00Z'", "TIMESTAMP'2026-01-01 02:30:00Z'"),
}
_LONG: Final = (
    "$l + $l", "$l - $l", "$l * $l", "$l % 3", "abs($l)", "coalesce($l, $l)", ("if($b, $l, "
        "$l)"), "greatest($l, $l)", "least($l, $l)",
    "nullif($l, $l)", "CASE WHEN $b THEN $l ELSE $l END", "CASE WHEN $b THEN $l END", ("CASE $s WHEN 'a' "
        "THEN $l WHEN 'b' THEN $l END"),
    "length($s)", "size($a)", "try_cast($s AS BIGINT)", "CAST($l AS INT)", ("CAST($d AS "
        "BIGINT)"), "hash($s)", "-($l)", "ascii($s)",
    "st.a", "st.A", "m['a']", "m['A']", "m.a", "m.A", "get($a, 0)", ("try_element_at($a, "
        "1)"), "try_element_at(m, $s)",
    "struct($c, $c).$n", "named_struct('p', $l, 'q', $l).p", "struct($l AS p, $l AS q).q", ("map('a', $l, "
        "'A', $l).a"),
    "map('a', $l, 'A', $l).A",
    "aggregate($a, 0L, (acc, x) -> acc + x)", "size(filter($a, x -> x > $i))", ("aggregate(transform($a, e "
        "-> e * $i), 0L, (s, e) -> s + e)"),
    "size(array_distinct($a))", "array_position($a, $i)", "from_json(js, 'a BIGINT, b STRING').a",
    "CAST(get_json_object(js, '$.a') AS BIGINT)",
    "CAST(get_json_object(js, '$.A') AS BIGINT)", ("variant_get(parse_json(js), '$.a', "
        "'bigint')"), "CAST(parse_json(js):a AS BIGINT)",
    "CAST(parse_json(js):A AS BIGINT)", "hour(ts)", "minute(ts)", ("extract(MINUTE FROM "
        "ts)"), "unix_timestamp(ts)",
    "day(ts + INTERVAL 1 DAY)",
    "size(map_keys(m))", "cardinality($a)", "$l & $l", "$l | $l", ("CAST(sign($l) AS "
        "BIGINT)"), "instr($s, 'a')", "floor($d)",
    "size(split($s, ''))",
    "ceil($d)", "datediff(ts, DATE'2025-12-31')", ("CAST(date_trunc('HOUR', ts) AS "
        "BIGINT)"), "width_bucket($d, 0, 10, 5)", "round($l, 0)",
)  # fmt: skip
_STRING: Final = (
    "upper($s)", "lower($s)", "concat($s, $s)", "$s || $s", "substr($s, 1, 1)", ("substring($s, 1, "
        "2)"), "trim($s)", "coalesce($s, $s)",
    "if($b, $s, $s)", "CASE WHEN $b THEN $s ELSE $s END", ("CAST($l AS "
        "STRING)"), "$l :: STRING", "st.b", "st.B", "date_format(ts, 'HH:mm')",
    "date_format(ts, 'mm')", "date_format(ts, 'MM')", "to_json(struct($c, $c))", "to_json(struct($c))",
    "to_json(named_struct('p', $c, 'q', $s))",
    "to_json(struct($c AS p, $s AS q))", ("to_json(struct($c AS "
        "P))"), "typeof(struct($c))", "to_json(map('a', $l, 'A', $l))", "to_json(st)",
    "to_json(CAST(st AS STRUCT<a: INT, b: STRING>))", "to_json(CAST(st AS STRUCT<x: INT, y: STRING>))",
    "to_json(CAST(st AS STRUCT<X: INT, y: STRING>))",
    "get_json_object(js, '$.b')", "get_json_object(js, '$.B')", "to_json(arrays_zip($a, $a))",
    "array_join(transform($a, x -> x + $i), ',')",
    "to_json(transform($a, x -> struct(x)))", "to_json(transform($a, x -> struct(x AS e)))", ("replace($s, "
        "'a', 'b')"),
    "concat_ws('-', $s, $s)",
    "to_json(parse_json(js))", ("CAST(parse_json(js):b AS "
        "STRING)"), "schema_of_variant(parse_json(js))", "CAST(struct($c, $l) AS STRING)",
    "to_json(struct(st.a))", "to_json(struct(*))",
    "typeof(struct(*))", "to_json(struct($c + 1))", "nullif($s, $s)", "lpad($s, 3, 'x')", "reverse($s)",
    "to_json(from_json(js, 'a BIGINT, b STRING'))",
    "to_json(from_json(js, 'a BIGINT, B STRING'))", "split($s, 'a')[0]", "CAST(ts AS STRING)", ("CAST($d AS "
        "STRING)"),
    "to_json(map_filter(m, (key, e) -> e > $i))",
    "to_xml(struct($c))", "to_csv(struct($c, $c))", ("array_join(array_sort($a), "
        "',')"), "array_join(sort_array($a, false), ',')",
    "initcap($s)",
)  # fmt: skip
_BOOLEAN: Final = (
    "$l < $l", "$l > $l", "$l <= $l", "$l >= $l", "$l = $l", "$l <> $l", "$l != $l", "$l <=> $l", "$s = $s", "$s <> $s", "$s = 'a'",
    "$s IN ('a', 'b')",
    "$s IN ('A', 'b', 'c')", "$s NOT IN ('a', 'z')", "$l IN (1, 2, 3)", ("$l BETWEEN 1 AND "
        "5"), "$l NOT BETWEEN 2 AND 4", "$s LIKE 'a%'",
    "$s LIKE '%b'",
    "$s ILIKE 'A%'", "$s RLIKE '^[ab]'", "$l IS NULL", "$s IS NOT NULL", "$b AND $b", "$b OR $b", "NOT $b", "NOT ($l = $l)", "ok",
    "ok IS TRUE", "coalesce($b, false)",
    "exists($a, x -> x > $i)", "forall($a, x -> x < $i)", ("array_contains($a, "
        "$i)"), "$d > 0.5", "ts > TIMESTAMP'2026-01-01 00:20:00Z'",
    "ts + INTERVAL 5 MINUTES > TIMESTAMP'2026-01-01 00:20:00Z'", "$s IS DISTINCT FROM $s", ("startswith($s, "
        "'a')"),
    "struct($s, $l) = struct('a', 1L)", "$l % 2 = 0",
    "map_contains_key(m, $s)", "is_variant_null(parse_json(js):a)", "$s < 'b'", ("equal_null($s, "
        "$s)"), "CASE WHEN $b THEN $b ELSE $b END",
)  # fmt: skip
_DOUBLE: Final = (
    "$d + $d",
    "$d * 2",
    "CAST($l AS DOUBLE)",
    "coalesce($d, 0.5D)",
    "round($d, 1)",
    "sqrt(abs($d))",
    "if($b, $d, $d)",
    "pow($d, 2)",
    "$l * 0.5D",
)
_LIST: Final = (
    "transform($a, x -> x + 1)", ("filter($a, x -> x > "
        "1)"), "array($l, $l)", "array_distinct($a)", "concat($a, $a)", "reverse($a)",
    "sort_array($a)",
    "slice($a, 1, 2)", "map_values(m)", "array_union($a, $a)", "flatten(array($a, $a))", ("zip_with($a, $a, "
        "(p, q) -> p + q)"),
    "sequence(1, 3)",
)  # fmt: skip
_BY_KIND: Final = {
    "long": _LONG,
    "string": _STRING,
    "boolean": _BOOLEAN,
    "double": _DOUBLE,
    "list<long>": _LIST,
}
_HOLES: Final = {"l": "long", "s": "string", "b": "boolean", "d": "double", "a": "list<long>"}
AGGREGATES: Final[Mapping[str, Sequence[str]]] = {
    "long": (
        "sum($l)", "sum($l)", "max($l)", "min($l)", "count(*)", "count(1)", "count($l)", "count($s)", "sum($l) FILTER (WHERE $b)",
        "count_if($b)", "max(struct($c, $c)).$n",
        "max_by($l, $l)", "min_by($l, $l)", ("max(named_struct('p', $l, 'q', "
            "$l)).q"), "first($l)", "last($l)", "any_value($l)",
        "bit_or($l)", "sum(if($b, $l, 0))",
        "sum(CASE WHEN $b THEN $l END)", ("count(CASE WHEN $b THEN 1 "
            "END)"), "approx_count_distinct($s)", "size(collect_set($s))",
        "sum($l) + count(*)", "coalesce(sum($l), 0)", "max($l) - min($l)",
        "max_by(struct($c, $l AS q), $l).q", "count(*) FILTER (WHERE $b)",
    ),
    "string": ("max($s)", "min($s)", "to_json(max(struct($c, $s)))", "to_json(collect_list(struct($c, $c)))",
               "array_join(collect_list($s), ',')", "to_json(max(struct($c AS p)))", "max_by($s, $l)",
               "array_join(sort_array(collect_set($s)), ',')",
               "to_json(struct(max($l) AS p, count(*) AS q))"),
    "double": ("avg($l)", "avg($d)", "sum($d)", "max($d)", "stddev_pop($l)", "percentile($l, 0.5)"),
    "boolean": ("bool_and($b)", "bool_or($b)", "every($b)", "max($l) > 3"),
}  # fmt: skip
WINDOWED: Final = (
    "row_number() OVER (PARTITION BY $s ORDER BY id)", ("rank() OVER (PARTITION BY $s ORDER BY "
        "$l)"), "sum($l) OVER (PARTITION BY $s)",
    "lag($l) OVER (PARTITION BY $s ORDER BY id)",
    "sum($l) OVER (PARTITION BY $s ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "sum($l) OVER (PARTITION BY $s ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "max($l) OVER (PARTITION BY $s ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "dense_rank() OVER (PARTITION BY $s ORDER BY $l DESC)", ("first_value($l) OVER (PARTITION BY $s ORDER "
        "BY id)"),
    "ntile(2) OVER (PARTITION BY $s ORDER BY id)", "count(*) OVER (PARTITION BY $s)", ("lead($l, 1, 0) OVER "
        "(PARTITION BY $s ORDER BY id)"),
)  # fmt: skip
RANDOM: Final = ("rand() < 0.5", "rand() < 0.25", "uniform(0, 10) > 5", "randn() > 0")
"""Conditions that are drawn for each row."""


class Expressions:
    """Draws expressions over columns in scope; what needs a column that is not there is left out."""

    def __init__(self, dice: random.Random, scope: Mapping[str, str]) -> None:
        self._dice, self._scope = dice, scope

    def of(self, kind: str, depth: int = 2) -> Expr:
        templates = _BY_KIND.get(kind, ())
        if depth <= 0 or not templates or self._dice.random() < 0.25:
            return self.leaf(kind, depth)
        return self.filled(self._dice.choice(templates), kind, depth)

    def leaf(self, kind: str, depth: int = 0) -> Expr:
        names = [name for name, each in self._scope.items() if each == kind]
        if names and self._dice.random() < 0.9:
            return column(self._dice.choice(names), kind)
        if kind == "boolean":
            return self._compared()
        if kind in LITERALS:
            return Expr(self._dice.choice(LITERALS[kind]), kind)
        if kind == "list<long>":
            return self.filled("array($l, 1)", kind, max(depth, 1))
        return Expr("NULL", kind)

    def _compared(self) -> Expr:
        """A condition that depends on a row: constants fold, and whatever stands beside them with them."""
        for other in ("long", "string", "boolean"):
            found = [name for name, each in self._scope.items() if each == other]
            if found:
                name = self._dice.choice(found)
                literal = "" if other == "boolean" else f" <> {self._dice.choice(LITERALS[other])}"
                return Expr(f"$0{literal}", "boolean", [column(name, other)])
        return Expr("1 = 1", "boolean")

    def aggregate(self, kind: str) -> Expr:
        return self.filled(self._dice.choice(AGGREGATES[kind]), kind, 1)

    def windowed(self) -> Expr:
        return self.filled(self._dice.choice(WINDOWED), "long", 1)

    def filled(self, template: str, kind: str, depth: int) -> Expr:
        """A template with expressions in its holes, drawn again while it needs a column that is not in
        scope.
        """
        if not self._fits(template):
            return self.leaf(kind)
        parts: list[Expr] = []
        named: list[str] = []

        def fill(found: re.Match[str]) -> str:
            hole = found[1]
            match hole:
                case "c":
                    names = [
                        name
                        for name, each in self._scope.items()
                        if each in ("long", "string") and name not in named and "." not in name
                    ]
                    name = self._dice.choice(names or list(self._scope))
                    named.append(name)
                    parts.append(column(name, self._scope[name]))
                case "n":
                    return self._dice.choice(
                        [part.text for part in parts if part.kind == kind] or [parts[0].text]
                    ).rpartition(".")[2]
                case "i":
                    parts.append(Expr(self._dice.choice(LITERALS["long"]), "long"))
                case _:
                    part = self.of(_HOLES[hole], depth - 1)
                    parts.append(_bracketed(part))
            return f"${len(parts) - 1}"

        text = re.sub(r"\$([a-z])(?![a-zA-Z0-9.])", fill, template)
        return Expr(text, kind, parts)

    def _fits(self, template: str) -> bool:
        for name in ("st", "m", "js", "ts", "ok", "id"):
            if re.search(rf"(?<![\w.'$]){name}(?![\w(])", template) and name not in self._scope:
                return False
        return True


def _bracketed(part: Expr) -> Expr:
    """With brackets where its own operator could be torn apart."""
    if (
        part.parts
        and re.search(r" (?!\$)|:", part.text)
        and not part.text.startswith(("(", "CASE", "if(", "sum("))
    ):
        return Expr("($0)", part.kind, [part])
    return part
