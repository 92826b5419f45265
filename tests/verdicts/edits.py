"""Random edits of a query: some keep what it means and some do not. Spark says which; an edit promises
nothing.
"""

import copy
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.verdicts.expressions import AGGREGATES, LITERALS, RANDOM, Expr, Expressions, column
from tests.verdicts.inputs import COLUMNS, gains
from tests.verdicts.queries import Item, Join, Relation, Select, SetOperation, Tree


class NotHere(Exception):
    """The query has nothing that this edit could change."""


@dataclass(slots=True, kw_only=True)
class Edited:
    """``texts``: step -> SQL. ``gained``: input -> columns that it has in the new version only."""

    tree: Tree
    texts: dict[str, str] = field(default_factory=dict)
    gained: dict[str, dict[str, str]] = field(default_factory=dict)


TreeEdit = Callable[[random.Random, Tree], None]
TextEdit = Callable[[random.Random, dict[str, str]], dict[str, str]]


def edited(dice: random.Random, tree: Tree, name: str) -> Edited:
    """A copy with one edit. Raises ``NotHere``."""
    new = copy.deepcopy(tree)
    if name in GAINING:
        return Edited(tree=new, texts=new.texts(), gained=GAINING[name](dice, new))
    if name in TREE_EDITS:
        TREE_EDITS[name](dice, new)
        return Edited(tree=new, texts=new.texts())
    return Edited(tree=new, texts=TEXT_EDITS[name](dice, new.texts()))


# Finding places


def _slots(tree: Tree) -> Iterator[tuple[Select, Expr]]:
    for select in tree.selects():
        heads = (
            [item.expr for item in select.items] + select.where + select.group + select.having + select.order
        )
        heads += [each for join in select.joins for each in join.on]
        for head in heads:
            for expr in head.walk():
                yield select, expr


def _pick(dice: random.Random, tree: Tree, wanted: Callable[[Expr], bool]) -> tuple[Select, Expr]:
    found = [(select, expr) for select, expr in _slots(tree) if wanted(expr)]
    if not found:
        raise NotHere
    return dice.choice(found)


def _one(dice: random.Random, found: Sequence["Select"]) -> Select:
    if not found:
        raise NotHere
    return dice.choice(found)


def _select(dice: random.Random, tree: Tree, wanted: Callable[[Select], object]) -> Select:
    return _one(dice, [each for each in tree.selects() if wanted(each)])


def _operation(dice: random.Random, tree: Tree) -> SetOperation:
    found = list(tree.operations())
    if not found:
        raise NotHere
    return dice.choice(found)


def _become(expr: Expr, text: str, parts: list[Expr] | None = None) -> None:
    expr.text, expr.parts, expr.column = text, [] if parts is None else parts, False


def _copy(expr: Expr) -> Expr:
    return copy.deepcopy(expr)


def _columns(select: Select, kind: str) -> list[str]:
    """Columns of a kind that a SELECT names, and those of the input that it reads."""
    found = {
        expr.text for item in select.items for expr in item.expr.walk() if expr.column and expr.kind == kind
    }
    found |= {expr.text for head in select.where for expr in head.walk() if expr.column and expr.kind == kind}
    if isinstance(select.relation.of, str) and not select.joins:
        found |= {name for name, each in COLUMNS.get(select.relation.of, {}).items() if each == kind}
    return sorted(found)


# Edits of expressions


def _other_literal(dice: random.Random, tree: Tree) -> None:
    _, expr = _pick(dice, tree, lambda each: not each.parts and each.text in LITERALS.get(each.kind, ()))
    _become(expr, dice.choice([each for each in LITERALS[expr.kind] if each != expr.text]))


def _other_inner_literal(dice: random.Random, tree: Tree) -> None:
    """Changes a literal that stands in a template: a key, a path, a format, a bound."""
    _, expr = _pick(
        dice,
        tree,
        lambda each: bool(re.search(r"'[^']*'|(?<![\w$.])\d+(?![\w.])", each.text)) and not each.column,
    )
    found = list(re.finditer(r"'[^']*'|(?<![\w$.])\d+(?![\w.])", expr.text))
    place = dice.choice(found)
    text = place[0]
    other = (
        (text.swapcase() if text.swapcase() != text and dice.random() < 0.6 else f"{text[:-1]}b'")
        if text.startswith("'")
        else str(int(text) + 1)
    )
    expr.text = f"{expr.text[: place.start()]}{other}{expr.text[place.end() :]}"


def _other_column(dice: random.Random, tree: Tree) -> None:
    select, expr = _pick(dice, tree, lambda each: each.column)
    names = [name for name in _columns(select, expr.kind) if name != expr.text]
    if not names:
        raise NotHere
    expr.text = dice.choice(names)


def _exchange_columns(dice: random.Random, tree: Tree) -> None:
    """Two columns of one kind in each other's place, everywhere in one SELECT's items."""
    select = _select(dice, tree, lambda each: each.items)
    kind = dice.choice(["long", "string"])
    names = {
        expr.text for item in select.items for expr in item.expr.walk() if expr.column and expr.kind == kind
    }
    if len(names) < 2:
        raise NotHere
    first, second = dice.sample(sorted(names), 2)
    for expr in {id(expr): expr for item in select.items for expr in item.expr.walk()}.values():
        if expr.column and expr.text in (first, second):
            expr.text = second if expr.text == first else first


_SIBLINGS: Final = (
    ("sum(", "max(", "min(", "avg("), ("first(", "last(", "any_value("), ("max_by(", "min_by("),
    ("count($0)", "count(DISTINCT $0)", "count(*)"), ("bool_and(", "bool_or(", "every("),
    ("collect_list(", "collect_set("), ("greatest(", "least("), ("upper(", "lower(", "initcap("), ("length(", "octet_length("),
    ("floor(", "ceil("), ("filter(", "transform("),
    ("exists(", "forall("), ("date_format(ts, 'mm')", "date_format(ts, 'MM')"), ("to_json(", "to_csv("),
    ("row_number()", "rank()", "dense_rank()"), ("lag(", "lead("),
    (" + ", " - ", " * "), (" < ", " <= ", " > ", " >= "), (" = ", " <=> ", " <> "), (" AND ", " OR "), ("IN (", "NOT IN ("),
    ("EXISTS (", "NOT EXISTS ("), (".start", ".end"),
    ("LIKE", "ILIKE"), ("hour(", "minute("), ("ROWS", "RANGE"), ("PRECEDING", "FOLLOWING"), ("DESC", "ASC"), ("IS NULL", "IS NOT NULL"),
    ("nullif(", "coalesce("), ("window(", "session_window("),
    ("array_union(", "array_intersect("), ("map_values(", "map_keys("), ("size(", "array_size("), ("$.a", "$.A"), (":a", ":A"),
    (".a", ".A"), ("INT", "BIGINT"), ("rand() < 0.5", "rand() < 0.25"),
    ("PARTITION BY", "ORDER BY"), (("FILTER (WHERE "
        "$1)"), ""), ("sort_array(", "array_sort("), (" AS p", " AS P", " AS q", ""),
    ("('p',", "('P',", "('q',"), ("'HH:mm'", "'hh:mm'"),
)  # fmt: skip


def _other_function(dice: random.Random, tree: Tree) -> None:
    places = [
        (expr, family, word)
        for _, expr in _slots(tree)
        for family in _SIBLINGS
        for word in family
        if word and word in expr.text and not expr.column
    ]
    if not places:
        raise NotHere
    expr, family, word = dice.choice(places)
    text = expr.text.replace(word, dice.choice([each for each in family if each != word]), 1)
    if any(int(place) >= len(expr.parts) for place in re.findall(r"\$(\d)", text)):
        raise NotHere
    expr.text = text


def _other_field_name(dice: random.Random, tree: Tree) -> None:
    """Names a field of a struct that a SELECT makes otherwise."""
    _, expr = _pick(
        dice, tree, lambda each: "struct($" in each.text and " AS " not in each.text and bool(each.parts)
    )
    place = dice.choice(re.findall(r"struct\(\$(\d)", expr.text))
    name = dice.choice(["p", "P", "amount", expr.parts[int(place)].text.upper(), expr.parts[int(place)].text])
    if not name.isidentifier():
        raise NotHere
    expr.text = expr.text.replace(f"struct(${place}", f"struct(${place} AS {name}", 1)


def _replaced(dice: random.Random, tree: Tree) -> None:
    select, expr = _pick(dice, tree, lambda each: each.kind in ("long", "string", "boolean"))
    scope = {name: kind for kind in ("long", "string", "boolean") for name in _columns(select, kind)}
    if any(word in expr.text for word in ("sum(", "max(", "count(", "min(")):
        new = Expressions(dice, scope).filled(
            dice.choice(AGGREGATES.get(expr.kind, ("count(*)",))), expr.kind, 1
        )
    else:
        new = Expressions(dice, scope).of(expr.kind, 1)
    expr.text, expr.parts, expr.column = new.text, new.parts, new.column


_NEUTRAL: Final = {
    "long": ("($0)", "(($0))", "CAST($0 AS BIGINT)", "bigint($0)"),
    "string": ("($0)", "CAST($0 AS STRING)", "string($0)"),
    "boolean": ("($0)", "NOT (NOT ($0))", "(($0) AND ($0))", "($0) OR ($0)"),
    "double": ("($0)", "CAST($0 AS DOUBLE)"),
}


def _neutral(dice: random.Random, tree: Tree) -> None:
    """Something around an expression that changes little or nothing."""
    _, expr = _pick(dice, tree, lambda each: each.kind in _NEUTRAL)
    inner = Expr(expr.text, expr.kind, expr.parts, expr.column)
    _become(expr, dice.choice(_NEUTRAL[expr.kind]), [inner])


def _in_brackets(dice: random.Random, tree: Tree) -> None:
    _, expr = _pick(dice, tree, lambda each: each.kind in _NEUTRAL)
    inner = Expr(expr.text, expr.kind, expr.parts, expr.column)
    _become(expr, "($0)", [inner])


_TURNED: Final = (
    (r"^\$0 \+ \$1$", "$1 + $0"), (r"^\$0 \* \$1$", "$1 * $0"), (r"^\$0 = \$1$", "$1 = $0"), (r"^\$0 <> \$1$", "$1 <> $0"),
    (r"^\$0 != \$1$", "$0 <> $1"), (r"^\$0 <> \$1$", "NOT $0 = $1"),
    (r"^\$0 = \$1$", ("NOT ($0 <> "
        "$1)")), (r"^\$0 < \$1$", "$1 > $0"), (r"^\$0 > \$1$", "$1 < $0"), (r"^\$0 <= \$1$", "$1 >= $0"),
    (r"^\$0 >= \$1$", "NOT ($0 < $1)"), (r"^\$0 <=> \$1$", "$1 <=> $0"),
    (r"^\$0 AND \$1$", "$1 AND $0"), (r"^\$0 OR \$1$", "$1 OR $0"), (r"^NOT \(\$0 = \$1\)$", "$0 <> $1"),
    (r"^NOT \(\$0 = \$1\)$", "$0 != $1"), (r"^\$0 BETWEEN 1 AND 5$", "$0 >= 1 AND $0 <= 5"),
    (r"IN \('a', 'b'\)", "IN ('b', 'a')"), (r"IN \('A', 'b', 'c'\)", "IN ('c', 'A', 'b')"), ((r"IN \(1, 2, "
        r"3\)"), "IN (3, 1, 2)"),
    (r"IN \(1, 2, 3\)", "IN (1, 2, 3, 3)"), (r"NOT IN \('a', 'z'\)", "NOT IN ('z', 'a')"),
    (r"^CASE WHEN \$0 THEN \$1 END$", "CASE WHEN $0 THEN $1 ELSE NULL END"),
    (r"^if\(\$0, \$1, \$2\)$", "CASE WHEN $0 THEN $1 ELSE $2 END"), ((r"^CASE WHEN \$0 THEN \$1 ELSE \$2 "
        r"END$"), "if($0, $1, $2)"),
    (r"^count\(\*\)$", "count(1)"), (r"^count\(1\)$", "count(*)"), (r"^\$0 \|\| \$1$", "concat($0, $1)"),
    (r"^concat\(\$0, \$1\)$", "$0 || $1"), (r"substr\(", "substring("), (r"^count_if\(\$0\)$", ("count(CASE "
        "WHEN $0 THEN 1 END)")),
    (r"x -> ", "y -> "), (r"x -> x ", "item -> item "), (r"\(acc, x\) -> acc \+ x", ("(sum_, each) -> sum_ "
        "+ each")),
    (r"\(acc, x\) -> acc \+ x", "(acc, x) -> x + acc"), (r"x -> struct\(x\)", "y -> struct(y)"),
    (r"INTERVAL 5 MINUTES", "INTERVAL '5' MINUTE"), (r"INTERVAL 10 MINUTES", "INTERVAL '10 minutes'"),
    (r"INTERVAL 10 MINUTES", ("INTERVAL 600 "
        "SECONDS")), (r"'5 minutes'", "'300 seconds'"), (r"'(\d+) minutes'", r"'\1 minute'"),
    (r"'10 minutes'", "'600 seconds'"), (r"CAST\(\$0 AS STRING\)", "$0::STRING"), ((r"CAST\(\$0 AS "
        r"BIGINT\)"), "bigint($0)"),
    (r"CAST\(\$0 AS INT\)", "CAST($0 AS INTEGER)"), (r"CAST\(\$0 AS BIGINT\)", "CAST($0 AS LONG)"),
    (r"^struct\(\$0 AS p, \$1 AS q\)", "named_struct('p', $0, 'q', $1)"),
    (r"named_struct\('p', \$0, 'q', \$1\)", "struct($0 AS p, $1 AS q)"), (r"TIMESTAMP'", "TIMESTAMP '"),
    (r"\$0 IS NOT NULL", "NOT ($0 IS NULL)"),
    (r"^sum\(\$0\) FILTER \(WHERE \$1\)$", ("sum(CASE WHEN $1 THEN $0 "
        "END)")), (r"e -> e \* \$1", "e -> $1 * e"),
    (r"hour\(ts\)", "extract(HOUR FROM ts)"), (r"minute\(ts\)", ("date_part('MINUTE', "
        "ts)")), (r"size\(", "cardinality("),
    (r"any_value\(", "first("), (r"every\(", "bool_and("), (r"equal_null\(\$0, \$1\)", "$0 <=> $1"),
    (r"\$0 IS DISTINCT FROM \$1", ("NOT ($0 <=> "
        "$1)")), (r"0L", "CAST(0 AS BIGINT)"), (r"get\(\$0, 0\)", "try_element_at($0, 1)"),
    (r"map\('a', \$0, 'A', \$1\)\.a", ("map('a', $0, 'A', "
        "$1)['a']")), (r"st\.a", "st['a']"), (r"m\['a'\]", "m.a"), (r"st\.a\b", "st.A"),
    (r"st\.b\b", "st.`b`"), (r"nullif\(\$0, \$1\)", "CASE WHEN $0 = $1 THEN NULL ELSE $0 END"),
    (r"\bx -> ", "K -> "), (r"session_window\(ts, '(\d+) minutes'\)", (r"session_window(ts, INTERVAL \1 "
        r"MINUTES)")),
    (r"BETWEEN 1 PRECEDING AND CURRENT ROW", "1 PRECEDING"), ((r"date_trunc\('HOUR', "
        r"ts\)"), "date_trunc('hour', ts)"),
)  # fmt: skip


def _turned(dice: random.Random, tree: Tree) -> None:
    """Written in another way that means the same, nearly always."""
    places = [
        (expr, pattern, other)
        for _, expr in _slots(tree)
        for pattern, other in _TURNED
        if not expr.column and re.search(pattern, expr.text)
    ]
    if not places:
        raise NotHere
    expr, pattern, other = dice.choice(places)
    text = re.sub(pattern, lambda found: found.expand(other) if "\\" in other else other, expr.text, count=1)
    if pattern.endswith("-> ") or "x -> x " in pattern:
        variable = other.split()[0]
        text = re.sub(r"(?<![\w'])x(?![\w'])", variable, expr.text)
    elif "BETWEEN 1 AND 5" in pattern or "NULL ELSE" in other:
        text = f"({text})" if "CASE" not in text else text
    expr.text = text


def _turned_twice(dice: random.Random, tree: Tree) -> None:
    _turned(dice, tree)
    _turned(dice, tree)


# Edits of conditions


def _reordered_conditions(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: len(each.where) > 1)
    select.where.reverse()


def _dropped_condition(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.where)
    select.where.pop(dice.randrange(len(select.where)))


def _doubled_condition(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.where)
    select.where.append(_copy(dice.choice(select.where)))


def _added_condition(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda _: True)
    scope = {name: kind for kind in ("long", "string") for name in _columns(select, kind)}
    select.where.append(Expressions(dice, scope).of("boolean", 1))


def _random_condition(dice: random.Random, tree: Tree) -> None:
    """A condition that is drawn for each row: one more, or the same twice."""
    select = _select(dice, tree, lambda each: not each.group)
    drawn = [each for each in select.where if each.text in RANDOM]
    select.where.append(_copy(dice.choice(drawn)) if drawn else Expr(dice.choice(RANDOM), "boolean"))


def _having_as_where(dice: random.Random, tree: Tree) -> None:
    """A condition on a grouping key from HAVING to WHERE, or from WHERE to HAVING."""
    select = _select(dice, tree, lambda each: each.group and not each.sets and (each.having or each.where))
    if select.having:
        select.where.append(select.having.pop())
    else:
        select.having.append(select.where.pop())


# Edits of items, groups, orders


def _reordered_items(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: len(each.items) > 1)
    first, second = dice.sample(range(len(select.items)), 2)
    select.items[first], select.items[second] = select.items[second], select.items[first]


def _exchanged_names(dice: random.Random, tree: Tree) -> None:
    """Two items of one kind take each other's name."""
    select = _select(dice, tree, lambda each: len(each.items) > 1)
    pairs = [
        (a, b)
        for at, a in enumerate(select.items)
        for b in select.items[at + 1 :]
        if a.expr.kind == b.expr.kind and a.name.isidentifier() and b.name.isidentifier()
    ]
    if not pairs:
        raise NotHere
    a, b = dice.choice(pairs)
    a.alias, b.alias = b.name, a.name


def _dropped_item(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: len(each.items) > 1)
    select.items.pop(dice.randrange(len(select.items)))


def _added_item(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: not each.group)
    scope = {name: kind for kind in ("long", "string") for name in _columns(select, kind)}
    select.items.append(Item(Expressions(dice, scope).of("long", 1), "one_more"))


def _renamed_item(dice: random.Random, tree: Tree) -> None:
    """An alias, in its own step and in all later ones."""
    select = _select(dice, tree, lambda each: any(item.alias for item in each.items))
    item = dice.choice([item for item in select.items if item.alias])
    old, item.alias = item.alias, dice.choice(["renamed", f"{item.alias}_", item.alias.upper()])
    _rename(tree, old, item.alias)


def _rename(tree: Tree, old: str, new: str) -> None:
    for expr in {id(expr): expr for _, expr in _slots(tree)}.values():
        head, dot, last = expr.text.rpartition(".")
        if expr.column and last == old:
            expr.text = f"{head}{dot}{new}"
    for keys in tree.dedups.values():
        keys[:] = [new if key == old else key for key in keys]


def _renamed_inner(dice: random.Random, tree: Tree) -> None:
    """An alias of a step that is not written, named as before at the end."""
    inner = [body for body in list(tree.steps.values())[:-1] if isinstance(body, Select)]
    select = _one(dice, [each for each in inner if any(item.alias for item in each.items)])
    item = dice.choice([item for item in select.items if item.alias])
    old, item.alias = item.alias, "renamed"
    last = list(tree.steps.values())[-1]
    for out in last.items if isinstance(last, Select) else ():
        if not out.alias and out.expr.column and out.name == old:
            out.alias = old
    _rename(tree, old, "renamed")


def _lateral(dice: random.Random, tree: Tree) -> None:
    """An alias that is read in the same SELECT, where there was its expression; or the other way."""
    select = _select(dice, tree, lambda each: any(item.alias for item in each.items[:-1]))
    giver = dice.choice([item for item in select.items[:-1] if item.alias])
    read = [
        expr
        for item in select.items
        if item is not giver
        for expr in item.expr.walk()
        if expr.column and expr.text == giver.alias
    ]
    if read:
        _become(dice.choice(read), "($0)", [_copy(giver.expr)])
        return
    alike = [
        expr
        for item in select.items[select.items.index(giver) + 1 :]
        for expr in item.expr.walk()
        if expr.kind == giver.expr.kind
    ]
    if not alike:
        raise NotHere
    expr = dice.choice(alike)
    expr.text, expr.parts, expr.column = giver.alias, [], True


def _reordered_keys(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: len(each.group) > 1)
    select.group = [*select.group[1:], select.group[0]]


def _grouped_by_place(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.group and not each.sets)
    texts = [item.expr.sql() for item in select.items]
    at = dice.randrange(len(select.group))
    text = select.group[at].sql()
    names = [item.name for item in select.items]
    if text in texts:
        select.group[at] = Expr(str(texts.index(text) + 1), "long")
    elif text in names:
        select.group[at] = Expr(str(names.index(text) + 1), "long")
    else:
        raise NotHere


def _grouped_by_name(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.group and not each.sets)
    places = [
        (at, item)
        for at, key in enumerate(select.group)
        for item in select.items
        if item.alias and item.expr.sql() == key.sql()
    ]
    if not places:
        select.group = [Expr("ALL", "long")]
        return
    at, item = dice.choice(places)
    select.group[at] = column(item.alias, item.expr.kind)


def _other_sets(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.group)
    select.sets = dice.choice([each for each in ("", "ROLLUP", "CUBE") if each != select.sets])


def _dropped_key(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: len(each.group) > 1)
    key = select.group.pop(dice.randrange(len(select.group)))
    select.items = [item for item in select.items if item.expr is not key] or select.items


def _other_limit(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.limit is not None)
    match dice.randrange(4 if select.order else 3):
        case 0 | 1:
            select.limit = (select.limit or 0) + dice.choice([1, 2])
        case 2:
            select.offset = 1 if select.offset is None else None
        case _:
            text = select.order[0].text
            select.order[0].text = (
                text.replace(" DESC", "") if " DESC" in text else re.sub(r"^(\w+)", r"\1 DESC", text)
            )


def _distinct(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: not each.group)
    select.distinct = not select.distinct


def _distinct_as_group(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.distinct and not each.group)
    select.distinct, select.group = False, [item.expr for item in select.items]


def _dedup_keys(dice: random.Random, tree: Tree) -> None:
    if not tree.dedups:
        raise NotHere
    keys = dice.choice(list(tree.dedups.values()))
    if len(keys) > 1 and dice.random() < 0.5:
        keys.reverse()
    elif dice.random() < 0.4:
        keys[0] = keys[0].upper()
    else:
        keys[0] = "k" if keys[0] != "k" else "id"


def _remembered(_dice: random.Random, tree: Tree) -> None:
    """Keys for ever in place of up to the watermark, or the other way."""
    if not tree.dedups or not tree.marked:
        raise NotHere
    tree.within = set(tree.dedups) - tree.within


def _other_duration(dice: random.Random, tree: Tree) -> None:
    """Changes the duration of a window, a gap or a bound."""
    _, expr = _pick(dice, tree, lambda each: bool(_DURATION.search(each.text)))
    place = dice.choice(list(_DURATION.finditer(expr.text)))
    other = dice.choice([each for each in ("5", "10", "15", "20", "30") if each != place[1]])
    expr.text = f"{expr.text[: place.start(1)]}{other}{expr.text[place.end(1) :]}"


_DURATION: Final = re.compile(r"(\d+)(?='? MINUTE)", re.IGNORECASE)


# Edits of joins and set operations


def _other_join(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.joins)
    join = dice.choice(select.joins)
    kinds = [
        "JOIN",
        "INNER JOIN",
        "LEFT JOIN",
        "LEFT OUTER JOIN",
        "NATURAL JOIN",
        "LEFT SEMI JOIN",
        "LEFT ANTI JOIN",
        "RIGHT JOIN",
        "FULL JOIN",
    ]
    join.kind = dice.choice([each for each in kinds if each != join.kind])
    if join.kind == "NATURAL JOIN":
        join.on, join.using = [], []


def _spelled_join(dice: random.Random, tree: Tree) -> None:
    """Another way to write the same join."""
    select = _select(dice, tree, lambda each: each.joins)
    join = dice.choice(select.joins)
    match join:
        case Join(kind="JOIN", on=[_, *_]) if dice.random() < 0.4:
            select.where += join.on
            join.kind, join.on = "CROSS JOIN", []
        case Join(kind="JOIN"):
            join.kind = "INNER JOIN"
        case Join(kind="INNER JOIN"):
            join.kind = "JOIN"
        case Join(kind="LEFT JOIN"):
            join.kind = "LEFT OUTER JOIN"
        case Join(kind="NATURAL JOIN"):
            join.kind, join.using = "JOIN", ["k"]
        case Join(on=[only]) if only.text.endswith(".k"):
            join.on, join.using = [], ["k"]
        case _:
            raise NotHere


def _turned_condition(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: any(join.on for join in each.joins))
    join = dice.choice([join for join in select.joins if join.on])
    if len(join.on) > 1 and dice.random() < 0.5:
        join.on.reverse()
        return
    expr = join.on[0]
    left, equals, right = expr.text.partition(" = ")
    if not equals or expr.parts:
        raise NotHere
    expr.text = f"{right} = {left}"


def _moved_condition(dice: random.Random, tree: Tree) -> None:
    """From ON to WHERE."""
    select = _select(dice, tree, lambda each: any(len(join.on) > 1 for join in each.joins))
    join = dice.choice([join for join in select.joins if len(join.on) > 1])
    select.where.append(join.on.pop())


def _exchanged_sides(dice: random.Random, tree: Tree) -> None:
    select = _select(dice, tree, lambda each: each.joins and each.joins[0].kind in ("JOIN", "INNER JOIN"))
    join = select.joins[0]
    select.relation, join.relation = join.relation, select.relation


def _every(dice: random.Random, tree: Tree) -> None:
    operation = _operation(dice, tree)
    operation.every = not operation.every


def _other_operation(dice: random.Random, tree: Tree) -> None:
    operation = _operation(dice, tree)
    operation.kind = dice.choice(
        [each for each in ("UNION", "EXCEPT", "INTERSECT") if each != operation.kind]
    )


def _turned_operation(dice: random.Random, tree: Tree) -> None:
    operation = _operation(dice, tree)
    operation.sides.reverse()


# Edits of the cut into steps


def _as_subquery(dice: random.Random, tree: Tree) -> None:
    """A step in the place where it is read."""
    if len(tree.steps) < 2:
        raise NotHere
    name = dice.choice(list(tree.steps)[:-1])
    readers = [
        relation
        for select in tree.selects()
        for relation in (select.relation, *(join.relation for join in select.joins))
        if relation.of == name
    ]
    if not readers:
        raise NotHere
    body = tree.steps.pop(name)
    for relation in readers:
        relation.of, relation.alias = copy.deepcopy(body), relation.alias or name


def _split(dice: random.Random, tree: Tree) -> None:
    """Conditions in a step of their own."""
    name = dice.choice(list(tree.steps))
    body = tree.steps[name]
    if (
        not isinstance(body, Select)
        or body.joins
        or not isinstance(body.relation.of, str)
        or " " in body.relation.of
        or body.relation.alias
    ):
        raise NotHere
    steps = dict[str, Select | SetOperation]()
    for each, other in tree.steps.items():
        if each == name:
            steps["few"] = Select([Item(Expr("*", "any"))], Relation(body.relation.of), where=body.where)
            body.where, body.relation = (
                [],
                Relation("few", body.relation.of if "EXISTS" in body.sql() or "l.k" in body.sql() else ""),
            )
        steps[each] = other
    tree.steps = steps


def _step_more(dice: random.Random, tree: Tree) -> None:
    """One step at the end that hands everything on, or one that is not read."""
    steps = list(tree.steps)
    if dice.random() < 0.5:
        tree.steps["handed"] = Select([Item(Expr("*", "any"))], Relation(steps[-1]))
    else:
        read = sorted(set(COLUMNS) & set(re.findall(r"\w+", " ".join(tree.texts().values()))))
        tree.steps = {
            "unread": Select([Item(column("k", "string"))], Relation(dice.choice(read))),
            **tree.steps,
        }


def _renamed_step(dice: random.Random, tree: Tree) -> None:
    name = dice.choice(list(tree.steps))
    tree.steps = {"other_name" if each == name else each: body for each, body in tree.steps.items()}
    tree.dedups = {"other_name" if each == name else each: keys for each, keys in tree.dedups.items()}
    tree.within = {"other_name" if each == name else each for each in tree.within}
    for select in tree.selects():
        for relation in (select.relation, *(join.relation for join in select.joins)):
            if relation.of == name:
                relation.of, relation.alias = "other_name", relation.alias or name


def _alias_of_relation(dice: random.Random, tree: Tree) -> None:
    """An alias for what is read; or another one."""
    select = _select(dice, tree, lambda each: True)
    relation = dice.choice([select.relation, *(join.relation for join in select.joins)])
    old, new = (
        relation.alias or (relation.of if isinstance(relation.of, str) else ""),
        dice.choice(["t1", "zz"]),
    )
    if not old or " " in old:
        raise NotHere
    relation.alias = new
    heads = [item.expr for item in select.items] + select.where + select.group + select.having + select.order
    heads += [each for join in select.joins for each in join.on]
    for expr in {id(expr): expr for head in heads for expr in head.walk()}.values():
        expr.text = re.sub(rf"(?<![\w.']){re.escape(old)}\.(?=\w)", f"{new}.", expr.text)


def _qualified(dice: random.Random, tree: Tree) -> None:
    select, expr = _pick(dice, tree, lambda each: each.column and "." not in each.text)
    name = select.relation.alias or (select.relation.of if isinstance(select.relation.of, str) else "")
    if not name or select.joins or " " in name:
        raise NotHere
    expr.text = f"{name}.{expr.text}"


TREE_EDITS: Final[dict[str, TreeEdit]] = {
    "other literal": _other_literal,
    "other literal within": _other_inner_literal,
    "other column": _other_column,
    "exchanged columns": _exchange_columns,
    "other function": _other_function,
    "other field name": _other_field_name,
    "replaced": _replaced,
    "neutral": _neutral,
    "brackets": _in_brackets,
    "turned": _turned,
    "turned twice": _turned_twice,
    "reordered conditions": _reordered_conditions,
    "dropped condition": _dropped_condition,
    "doubled condition": _doubled_condition,
    "added condition": _added_condition,
    "random condition": _random_condition,
    "having as where": _having_as_where,
    "reordered items": _reordered_items,
    "exchanged names": _exchanged_names,
    "dropped item": _dropped_item,
    "added item": _added_item,
    "renamed item": _renamed_item,
    "renamed inner": _renamed_inner,
    "lateral alias": _lateral,
    "reordered keys": _reordered_keys,
    "grouped by place": _grouped_by_place,
    "grouped by name": _grouped_by_name,
    "other grouping sets": _other_sets,
    "dropped key": _dropped_key,
    "other limit": _other_limit,
    "distinct": _distinct,
    "distinct as group": _distinct_as_group,
    "dedup keys": _dedup_keys,
    "remembered": _remembered,
    "other duration": _other_duration,
    "other join": _other_join,
    "spelled join": _spelled_join,
    "turned join condition": _turned_condition,
    "moved join condition": _moved_condition,
    "exchanged sides": _exchanged_sides,
    "all or not": _every,
    "other set operation": _other_operation,
    "turned set operation": _turned_operation,
    "as subquery": _as_subquery,
    "split": _split,
    "step more": _step_more,
    "renamed step": _renamed_step,
    "alias of relation": _alias_of_relation,
    "qualified": _qualified,
}


# Edits of the text

_TOKENS: Final = re.compile(r"'[^']*'|`[^`]*`|\w+|\s+|.", re.DOTALL)
_KEYWORDS: Final = (
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "OFFSET", "AS", "AND", "OR", "NOT", "IN", "IS", "NULL",
    "CASE", "WHEN", "THEN",
    "ELSE", "END", "JOIN", "LEFT", "ON", "USING", "NATURAL", "UNION", "ALL", "EXCEPT", "INTERSECT", "DISTINCT", "BETWEEN", "LIKE",
    "OVER", "PARTITION",
    "ROWS", "DESC",
)  # fmt: skip


def _tokenwise(change: Callable[[random.Random, str, str], str], share: float) -> TextEdit:
    def edit(dice: random.Random, texts: dict[str, str]) -> dict[str, str]:
        found = dict[str, str]()
        for name, sql in texts.items():
            tokens = _TOKENS.findall(sql)
            after = [*tokens[1:], ""]
            found[name] = "".join(
                change(dice, token, next_) if dice.random() < share else token
                for token, next_ in zip(tokens, after, strict=True)
            )
        if found == texts:
            raise NotHere
        return found

    return edit


def _is_name(token: str) -> bool:
    return bool(re.fullmatch(r"[a-z_]\w*", token))


def _spaces(dice: random.Random, token: str, _next: str) -> str:
    return dice.choice(["\n", "  ", "\n  ", "\t"]) if token.isspace() else token


def _comments(dice: random.Random, token: str, _next: str) -> str:
    return dice.choice([" /* note */ ", " -- note\n", " /* it's */ "]) if token.isspace() else token


def _keyword_case(_dice: random.Random, token: str, _next: str) -> str:
    return token.lower() if token in _KEYWORDS else token


def _name_case(_dice: random.Random, token: str, next_: str) -> str:
    return token.upper() if _is_name(token) and next_ != "(" and token.upper() not in _KEYWORDS else token


def _function_case(_dice: random.Random, token: str, next_: str) -> str:
    return token.upper() if _is_name(token) and next_ == "(" else token


def _quoted(_dice: random.Random, token: str, next_: str) -> str:
    return f"`{token}`" if _is_name(token) and next_ != "(" and token in _QUOTABLE else token


_QUOTABLE: Final = {name for columns in COLUMNS.values() for name in columns} | {
    "e",
    "r",
    "p",
    "q",
    "net",
    "gross",
    "amount",
    "fee",
    "zone",
    "area",
    "x",
    "n",
    "total",
    "tag",
}


def _as_cte(dice: random.Random, texts: dict[str, str]) -> dict[str, str]:
    """The first step as a CTE of those that read it."""
    names = list(texts)
    if len(names) < 2:
        raise NotHere
    name = names[0]
    found = {each: texts[each] for each in names[1:]}
    for each in found:
        if re.search(rf"\b{name}\b", found[each]):
            found[each] = f"WITH {name} AS ({texts[name]}) {found[each]}"
    return found


def _in_cte(dice: random.Random, texts: dict[str, str]) -> dict[str, str]:
    name = dice.choice(list(texts))
    return {**texts, name: f"WITH c AS ({texts[name]}) SELECT * FROM c"}


def _in_brackets_whole(dice: random.Random, texts: dict[str, str]) -> dict[str, str]:
    name = dice.choice(list(texts))
    return {**texts, name: f"SELECT * FROM ({texts[name]})"}


def _without_as(_dice: random.Random, texts: dict[str, str]) -> dict[str, str]:
    found = {
        name: re.sub(r" AS (?=(?:amount|fee|net|gross|zone|area|x|n|total|tag|a\d|g|c\d|above)\b)", " ", sql)
        for name, sql in texts.items()
    }
    if found == texts:
        raise NotHere
    return found


def _string_case(dice: random.Random, texts: dict[str, str]) -> dict[str, str]:
    """One text literal in other letters."""
    places = [
        (name, each.start(), each.end())
        for name, sql in texts.items()
        for each in re.finditer(r"'[^']*[a-zA-Z][^']*'", sql)
    ]
    if not places:
        raise NotHere
    name, start, end = dice.choice(places)
    return {**texts, name: f"{texts[name][:start]}{texts[name][start:end].swapcase()}{texts[name][end:]}"}


def _field_case(dice: random.Random, texts: dict[str, str]) -> dict[str, str]:
    """One name behind a dot or colon, or in a struct, in other letters."""
    places = [
        (name, each.start(1), each.end(1))
        for name, sql in texts.items()
        for each in re.finditer(r"(?:[.:]|struct\(| AS )([a-z]\w*)\b(?!\()", sql)
    ]
    if not places:
        raise NotHere
    name, start, end = dice.choice(places)
    return {**texts, name: f"{texts[name][:start]}{texts[name][start:end].upper()}{texts[name][end:]}"}


TEXT_EDITS: Final[dict[str, TextEdit]] = {
    "spaces": _tokenwise(_spaces, 0.5),
    "comments": _tokenwise(_comments, 0.2),
    "case of keywords": _tokenwise(_keyword_case, 0.8),
    "case of names": _tokenwise(_name_case, 0.3),
    "case of functions": _tokenwise(_function_case, 0.7),
    "quoted": _tokenwise(_quoted, 0.4),
    "as CTE": _as_cte,
    "in CTE": _in_cte,
    "in brackets": _in_brackets_whole,
    "without AS": _without_as,
    "case of a text": _string_case,
    "case of a field": _field_case,
}


# Columns that an input gains under the same SQL


def _gained(dice: random.Random, tree: Tree) -> dict[str, dict[str, str]]:
    """Columns whose names stand in the SQL already."""
    texts = " ".join(tree.texts().values())
    words = set(re.findall(r"\w+", texts))
    found = dict[str, dict[str, str]]()
    for name in sorted(set(COLUMNS) & words):
        names = [each for each in gains(name) if each in words]
        if names:
            chosen = dice.sample(names, dice.randrange(1, min(3, len(names) + 1)))
            found[name] = {each: gains(name)[each] for each in chosen}
    if not found:
        raise NotHere
    name = dice.choice(sorted(found))
    return {name: found[name]}


def _gained_unread(dice: random.Random, tree: Tree) -> dict[str, dict[str, str]]:
    words = set(re.findall(r"\w+", " ".join(tree.texts().values())))
    name = dice.choice(sorted(set(COLUMNS) & words))
    names = [each for each in gains(name) if each not in words]
    return {name: {each: gains(name)[each] for each in dice.sample(names, 1)}}


GAINING: Final = {"gained a name in use": _gained, "gained an unused name": _gained_unread}
