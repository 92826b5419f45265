"""Random queries of one to several steps, as trees that edits change."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.verdicts.expressions import RANDOM, Expr, Expressions, column
from tests.verdicts.inputs import COLUMNS

ALIASES: Final = ("amount", "fee", "net", "gross", "zone", "area", "x", "n", "total", "tag")


@dataclass(slots=True)
class Item:
    expr: Expr
    alias: str = ""

    def sql(self) -> str:
        return f"{self.expr.sql()} AS {self.alias}" if self.alias else self.expr.sql()

    @property
    def name(self) -> str:
        return self.alias or self.expr.text.rpartition(".")[2]


@dataclass(slots=True)
class Relation:
    """A name, or a query in brackets; with an alias or without."""

    of: "str | Select | SetOperation"
    alias: str = ""

    def sql(self) -> str:
        text = self.of if isinstance(self.of, str) else f"({self.of.sql()})"
        return f"{text} {self.alias}" if self.alias else text


@dataclass(slots=True)
class Join:
    kind: str
    relation: Relation
    on: list[Expr] = field(default_factory=list)
    using: list[str] = field(default_factory=list)

    def sql(self) -> str:
        condition = (
            f" ON {' AND '.join(_operand(each) for each in self.on)}"
            if self.on
            else f" USING ({', '.join(self.using)})"
            if self.using
            else ""
        )
        return f"{self.kind} {self.relation.sql()}{condition}"


@dataclass(slots=True)
class Select:
    items: list[Item]
    relation: Relation
    joins: list[Join] = field(default_factory=list)
    where: list[Expr] = field(default_factory=list)
    group: list[Expr] = field(default_factory=list)
    sets: str = ""
    having: list[Expr] = field(default_factory=list)
    order: list[Expr] = field(default_factory=list)
    limit: int | None = None
    offset: int | None = None
    distinct: bool = False

    def sql(self) -> str:
        parts = [
            (
                f"SELECT {'DISTINCT ' if self.distinct else ''}{', '.join(item.sql() for item in self.items)} FROM {self.relation.sql()}"
            )
        ]
        parts += [join.sql() for join in self.joins]
        if self.where:
            parts.append(f"WHERE {' AND '.join(_operand(each) for each in self.where)}")
        if self.group:
            keys = ", ".join(key.sql() for key in self.group)
            parts.append(
                f"GROUP BY {self.sets} ({keys})" if self.sets in ("ROLLUP", "CUBE") else f"GROUP BY {keys}"
            )
        if self.having:
            parts.append(f"HAVING {' AND '.join(_operand(each) for each in self.having)}")
        if self.order:
            parts.append(f"ORDER BY {', '.join(key.sql() for key in self.order)}")
        parts += [
            f"{word} {value}"
            for word, value in (("LIMIT", self.limit), ("OFFSET", self.offset))
            if value is not None
        ]
        return " ".join(parts)


@dataclass(slots=True)
class SetOperation:
    kind: str
    sides: "list[Select | SetOperation]"
    every: bool = False
    by_name: bool = False

    def sql(self) -> str:
        word = f" {self.kind}{' ALL' if self.every else ''}{' BY NAME' if self.by_name else ''} "
        return word.join(
            f"({side.sql()})" if isinstance(side, SetOperation) else side.sql() for side in self.sides
        )


Body = Select | SetOperation


@dataclass(slots=True)
class Tree:
    """``steps`` in order, the last one written. ``dedups``, ``within`` and ``marked``: see ``Version`` and
    ``Pair``.
    """

    family: str
    output: str
    steps: dict[str, Body]
    dedups: dict[str, list[str]] = field(default_factory=dict)
    within: set[str] = field(default_factory=set)
    marked: bool | None = None

    def texts(self) -> dict[str, str]:
        return {name: body.sql() for name, body in self.steps.items()}

    def selects(self) -> "Iterator[Select]":
        """Every SELECT, also those inside others."""
        for body in self.steps.values():
            yield from _selects(body)

    def operations(self) -> "Iterator[SetOperation]":
        for body in self.steps.values():
            yield from _operations(body)


def _selects(body: Body) -> Iterator[Select]:
    match body:
        case Select():
            yield body
            for relation in (body.relation, *(join.relation for join in body.joins)):
                if not isinstance(relation.of, str):
                    yield from _selects(relation.of)
        case SetOperation():
            for side in body.sides:
                yield from _selects(side)


def _operations(body: Body) -> Iterator[SetOperation]:
    if isinstance(body, SetOperation):
        yield body
        for side in body.sides:
            yield from _operations(side)
        return
    for relation in (body.relation, *(join.relation for join in body.joins)):
        if not isinstance(relation.of, str):
            yield from _operations(relation.of)


def _operand(condition: Expr) -> str:
    text = condition.sql()
    return f"({text})" if " OR " in text or text.startswith("CASE") else text


def random_tree(dice: random.Random) -> Tree:
    """A query of a random family."""
    names = list(FAMILIES)
    return FAMILIES[dice.choices(names, weights=[_WEIGHTS[name] for name in names])[0]](_Maker(dice))


class _Maker:
    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def chance(self, share: float) -> bool:
        return self.dice.random() < share

    def expressions(self, scope: Mapping[str, str]) -> Expressions:
        return Expressions(self.dice, scope)

    def aliases(self, count: int) -> list[str]:
        return self.dice.sample(ALIASES, count)

    def conditions(self, scope: Mapping[str, str], most: int = 2) -> list[Expr]:
        return [self.expressions(scope).of("boolean") for _ in range(self.dice.randrange(most + 1))]

    def projection(
        self, source: str, scope: Mapping[str, str], keep: tuple[str, ...] = ()
    ) -> tuple[Select, dict[str, str]]:
        """Columns of a relation, some computed; with what comes out."""
        make = self.expressions(scope)
        plain = [
            name
            for name in scope
            if name in keep or (scope[name] in ("long", "string") and self.chance(0.35))
        ]
        items = [Item(column(name, scope[name])) for name in plain]
        given = {name: scope[name] for name in plain}
        for alias in self.aliases(self.dice.randrange(1, 4)):
            if alias in given:
                continue
            kind = self.dice.choice(["long", "long", "string", "string", "boolean", "double"])
            expr = make.of(kind, 2)
            if self.chance(0.18) and given.keys() & set(ALIASES):
                # An alias further left, read by one further right.
                expr = (
                    Expr(
                        "$0 + 1",
                        "long",
                        [
                            column(
                                next(name for name in given if name in ALIASES and given[name] == "long"),
                                "long",
                            )
                        ],
                    )
                    if any(given[name] == "long" for name in given if name in ALIASES)
                    else expr
                )
                kind = expr.kind
            items.append(Item(expr, alias))
            given[alias] = kind
        return Select(items, Relation(source), where=self.conditions(scope)), given

    def pre(
        self, source: str = "ev", keep: tuple[str, ...] = ("k",)
    ) -> tuple[dict[str, Body], str, dict[str, str]]:
        """None to two steps before the one that counts: the steps, the relation to read, and its columns."""
        scope = dict(COLUMNS[source])
        steps: dict[str, Body] = {}
        for name in ("p", "q")[: self.dice.choice([0, 0, 1, 1, 1, 2])]:
            select, scope = self.projection(source, scope, keep)
            steps[name] = select
            source = name
        return steps, source, scope

    def table_side(self) -> tuple[Relation, dict[str, str]]:
        """A table, or a query over one."""
        name = self.dice.choice(["lookup", "dim"])
        scope = dict(COLUMNS[name])
        number = "factor" if name == "lookup" else "rank"
        way = self.dice.randrange(9)
        items = [Item(column(each, kind)) for each, kind in scope.items()]
        make = self.expressions(scope)
        inner = Select(items, Relation(name))
        match way:
            case 0 | 1 | 2:
                return Relation(name), scope
            case 3:
                inner.order, inner.limit = (
                    [Expr(f"{number}{self.dice.choice(['', ' DESC'])}, k, name", "long")],
                    self.dice.randrange(1, 5),
                )
                inner.offset = self.dice.choice([None, None, 1])
            case 4:
                inner.where = [make.of("boolean", 1)]
            case 5:
                inner.items = [
                    Item(column("k", "string")),
                    Item(
                        make.filled(self.dice.choice(["max($l)", "sum($l)", "count(*)"]), "long", 1), number
                    ),
                ]
                inner.group, scope = [column("k", "string")], {"k": "string", number: "long"}
            case 6:
                words = [
                    "row_number() OVER (PARTITION BY k ORDER BY $0)",
                    "sum($0) OVER (PARTITION BY k ORDER BY name ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
                ]
                inner.items = [
                    Item(column("k", "string")),
                    Item(Expr(self.dice.choice(words), "long", [column(number, "long")]), number),
                ]
                scope = {"k": "string", number: "long"}
            case 7:
                sides: list[Body] = [
                    Select(
                        [Item(column("k", "string"))], Relation(each), where=self.conditions(COLUMNS[each], 1)
                    )
                    for each in self.dice.sample(["lookup", "dim"], 2)
                ]
                kind, every = self.dice.choice(["UNION", "EXCEPT", "INTERSECT"]), self.chance(0.5)
                return Relation(SetOperation(kind, sides, every)), {"k": "string"}
            case _:
                inner.distinct, inner.items, scope = (
                    True,
                    [Item(column("k", "string")), Item(column("name", "string"))],
                    {"k": "string", "name": "string"},
                )
        return Relation(inner), scope

    def subquery(self, scope: Mapping[str, str]) -> Expr:
        """A condition that asks a table."""
        inner = Expressions(self.dice, {"factor": "long", "name": "string"}).of("boolean", 1)
        words = (
            "k IN (SELECT k FROM lookup WHERE $0)",
            "k NOT IN (SELECT k FROM lookup WHERE k IS NOT NULL AND $0)",
            "EXISTS (SELECT 1 FROM lookup l WHERE l.k = {0}.k AND $0)",
            "NOT EXISTS (SELECT 1 FROM lookup l WHERE l.k = {0}.k AND $0)",
            "{1} < (SELECT max(factor) FROM lookup WHERE $0)",
            "{1} > (SELECT count(*) FROM lookup l WHERE l.k = {0}.k AND $0)",
            "k IN (SELECT k FROM dim WHERE name IN (SELECT name FROM lookup WHERE $0))",
        )
        numbers = [name for name, kind in scope.items() if kind == "long"] or ["1"]
        return Expr(
            self.dice.choice(words).replace("{0}", "@").replace("{1}", self.dice.choice(numbers)),
            "boolean",
            [inner],
        )


def _projected(maker: _Maker) -> Tree:
    steps, source, scope = maker.pre()
    select, _ = maker.projection(source, scope, ("id",) if "id" in scope else ())
    if maker.chance(0.15):
        select.where.append(Expr(maker.dice.choice(RANDOM), "boolean"))
    return Tree("projection", "append", {**steps, "out": select})


def _with_table(maker: _Maker) -> Tree:
    steps, source, scope = maker.pre(keep=("id", "k"))
    relation, other = maker.table_side()
    left, right = "e", "r"
    relation.alias = right
    both = {
        **{f"{left}.{name}": kind for name, kind in scope.items() if kind in ("long", "string")},
        **{f"{right}.{name}": kind for name, kind in other.items()},
    }
    make = maker.expressions(both)
    kind = maker.dice.choice(["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "INNER JOIN", "JOIN"])
    on = [Expr(f"{left}.k = {right}.k", "boolean")]
    if maker.chance(0.3):
        on.append(make.of("boolean", 1))
    one_side = kind.endswith(("SEMI JOIN", "ANTI JOIN"))
    seen = {name: each for name, each in both.items() if name.startswith(left)} if one_side else both
    make = maker.expressions(seen)
    names = [f"{left}.id"] if "id" in scope else []
    names += maker.dice.sample(sorted(set(seen) - set(names)), min(2, len(seen) - len(names)))
    items = [Item(column(name, seen[name]), f"c{at}" if at else "") for at, name in enumerate(names)]
    items.append(Item(make.of(maker.dice.choice(["long", "string"])), maker.aliases(1)[0]))
    join = Join(kind, relation, on=on)
    if maker.chance(0.25) and not one_side:
        join = Join("NATURAL JOIN" if maker.chance(0.5) else "JOIN", relation, using=[])
        if join.kind == "JOIN":
            join.using = ["k"]
    select = Select(items, Relation(source, left), [join], maker.conditions(seen, 1))
    return Tree("stream with table", "append", {**steps, "out": select})


def _asking(maker: _Maker) -> Tree:
    steps, source, scope = maker.pre(keep=("id", "k"))
    select, _ = maker.projection(source, scope, ("id",))
    condition = maker.subquery(scope)
    condition.text = condition.text.replace("@", source)
    select.where.append(condition)
    if maker.chance(0.3):
        select.items.append(
            Item(Expr(f"(SELECT max(l.factor) FROM lookup l WHERE l.k = {source}.k)", "long"), "most")
        )
    return Tree("subquery", "append", {**steps, "out": select})


def _keys(maker: _Maker, scope: Mapping[str, str]) -> list[Item]:
    make = maker.expressions(scope)
    names = [
        name for name in scope if scope[name] in ("string", "long") and name not in ("id", "js")
    ] or list(scope)
    keys = [
        Item(column(name, scope[name]))
        for name in maker.dice.sample(names, min(len(names), maker.dice.choice([1, 1, 2])))
    ]
    if maker.chance(0.35):
        keys.append(Item(make.of(maker.dice.choice(["string", "string", "long"]), 2), "g"))
    return keys


def _aggregated(maker: _Maker) -> Tree:
    steps, source, scope = maker.pre()
    keys = _keys(maker, scope)
    make = maker.expressions(scope)
    kinds = maker.dice.choices(
        ["long", "string", "double", "boolean"], weights=[3, 1, 1, 1], k=maker.dice.randrange(1, 4)
    )
    aliases = _aggregate_names(maker, scope, len(kinds))
    aggregates = [Item(make.aggregate(kind), alias) for kind, alias in zip(kinds, aliases, strict=True)]
    select = Select(
        [*keys, *aggregates],
        Relation(source),
        where=maker.conditions(scope, 1),
        group=[item.expr for item in keys],
    )
    if maker.chance(0.3) and any(key.alias for key in keys):
        # GROUP BY an alias
        select.group = [column(key.alias, "string") if key.alias else key.expr for key in keys]
    if maker.chance(0.12):
        select.sets = maker.dice.choice(["ROLLUP", "CUBE"])
    if maker.chance(0.3):
        select.having = [_having(maker, aggregates[0])]
    if maker.chance(0.15):
        select.where.append(_in_lookup(maker, scope, source))
    tree = Tree(
        "aggregation",
        "merge" if maker.chance(0.35) and not select.sets else "complete",
        {**steps, "out": select},
    )
    if maker.chance(0.3):
        _stand_above(maker, tree)
    return tree


def _aggregate_names(maker: _Maker, scope: Mapping[str, str], count: int) -> list[str]:
    """Some of them are names that an input may gain."""
    usual = [f"a{at}" for at in range(count)]
    free = [name for name in ALIASES if name not in scope]
    return [
        maker.dice.choice(free) if at == 0 and free and maker.chance(0.4) else name
        for at, name in enumerate(usual)
    ]


def _having(maker: _Maker, item: Item) -> Expr:
    if item.expr.kind != "long":
        return Expr("count(*) > 1", "boolean")
    inner = column(item.alias, "long") if maker.chance(0.5) else _again(item.expr)
    return Expr(f"$0 {maker.dice.choice(['>', '>=', '<>'])} {maker.dice.randrange(4)}", "boolean", [inner])


def _in_lookup(maker: _Maker, scope: Mapping[str, str], source: str) -> Expr:
    if "k" not in scope:
        return Expr("1 = 1", "boolean")
    condition = maker.subquery(scope)
    condition.text = condition.text.replace("@", source)
    return condition


def _stand_above(maker: _Maker, tree: Tree) -> None:
    """One step more, over the aggregation."""
    inner = tree.steps.pop("out")
    assert isinstance(inner, Select)
    tree.steps["agg"] = inner
    scope = {item.name: item.expr.kind for item in inner.items}
    items = [Item(column(name, kind)) for name, kind in scope.items()]
    make = maker.expressions(scope)
    items.append(Item(make.of(maker.dice.choice(["long", "string"]), 1), "above"))
    tree.steps["out"] = Select(
        items, Relation("agg"), where=maker.conditions(scope, 1) if maker.chance(0.4) else []
    )


def _table_below(maker: _Maker) -> Tree:
    """An aggregation over a stream that is joined with a table."""
    steps, source, scope = maker.pre(keep=("k", "v"))
    relation, other = maker.table_side()
    relation.alias = "r"
    both = {
        **{f"e.{name}": kind for name, kind in scope.items() if kind in ("long", "string")},
        **{f"r.{name}": kind for name, kind in other.items()},
    }
    make = maker.expressions(both)
    kind = maker.dice.choice(["JOIN", "LEFT JOIN", "JOIN"])
    items = [
        Item(column("e.k", "string")),
        *(Item(make.aggregate("long"), f"a{at}") for at in range(maker.dice.randrange(1, 3))),
    ]
    if maker.chance(0.3):
        left = {name: each for name, each in scope.items() if each in ("long", "string")}
        free = {**other, **left}
        make = maker.expressions(
            {name: each for name, each in free.items() if (name in left) != (name in other) or name == "k"}
        )
        items = [Item(column("k", "string")), Item(make.aggregate("long"), "a0")]
        join = Join("NATURAL JOIN", relation) if maker.chance(0.6) else Join("JOIN", relation, using=["k"])
    else:
        join = Join(kind, relation, on=[Expr("e.k = r.k", "boolean")])
    select = Select(items, Relation(source, "e"), [join], [], [items[0].expr])
    return Tree("table below state", "complete" if maker.chance(0.6) else "merge", {**steps, "out": select})


def _windowed(maker: _Maker) -> Tree:
    word = maker.dice.choice(
        [
            "window(ts, '{0} minutes')",
            "window(ts, '{0} minutes', '5 minutes')",
            "session_window(ts, '{0} minutes')",
            "date_trunc('HOUR', ts)",
        ]
    )
    text = word.format(maker.dice.choice([5, 10, 15]))
    steps, source, scope = maker.pre(keep=("ts", "k"))
    make = maker.expressions(scope)
    start = "" if "trunc" in text else maker.dice.choice([".start", ".end", ".start"])
    group: list[Expr] = [Expr(text, "window")]
    items = [Item(Expr(f"$0{start}", "timestamptz", [group[0]]), "since")]
    if start and not text.startswith("session") and maker.chance(0.5):
        items = [Item(Expr(f"{text.partition('(')[0]}{start}", "timestamptz"), "since")]
    if maker.chance(0.6) or text.startswith("session"):
        items.append(Item(column("k", "string")))
        group.append(column("k", "string"))
    items += [Item(make.aggregate("long"), f"a{at}") for at in range(maker.dice.randrange(1, 3))]
    select = Select(items, Relation(source), where=maker.conditions(scope, 1), group=group)
    return Tree("window", "append" if start else "complete", {**steps, "out": select})


def _deduped(maker: _Maker) -> Tree:
    steps, source, scope = maker.pre(keep=("k", "id"))
    select, given = maker.projection(source, scope, ("k",))
    tree = Tree("dedup", "append", {**steps, "out": select})
    if maker.chance(0.4):
        select.distinct, tree.output = True, "merge"
    else:
        names = [name for name, kind in given.items() if kind in ("long", "string")]
        tree.dedups["out"] = maker.dice.sample(names, min(len(names), maker.dice.choice([1, 2])))
    if maker.chance(0.25):
        tree.steps["top"] = Select(
            [Item(column(name, kind)) for name, kind in given.items()],
            Relation("out"),
            where=maker.conditions(given, 1),
        )
    return tree


def _two_streams(maker: _Maker) -> Tree:
    steps, source, scope = maker.pre(keep=("id", "k", "ts"))
    kind = maker.dice.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "RIGHT JOIN", "FULL JOIN"])
    bound = maker.dice.choice(
        [
            "m.ts BETWEEN e.ts AND e.ts + INTERVAL 10 MINUTES",
            "e.ts < m.ts + INTERVAL '5' MINUTE AND e.ts > m.ts - INTERVAL 5 MINUTES",
        ]
    )
    left = {f"e.{name}": each for name, each in scope.items() if each in ("long", "string")}
    both = left if "SEMI" in kind else {**left, "m.w": "long", "m.k": "string"}
    make = maker.expressions(both)
    names = maker.dice.sample(sorted(both), 2)
    items = [Item(column(name, both[name]), f"c{at}") for at, name in enumerate(names)]
    if maker.chance(0.5):
        items.append(Item(make.of("long", 1), "x"))
    on = [Expr("e.k = m.k", "boolean"), Expr(bound, "boolean")]
    select = Select(
        items,
        Relation(source, "e"),
        [Join(kind, Relation("more", "m"), on=on)],
        maker.conditions(both, 1) if maker.chance(0.4) else [],
    )
    return Tree("two streams", "append", {**steps, "out": select})


def _united(maker: _Maker) -> Tree:
    sides: list[Body] = []
    for name in maker.dice.sample(["ev", "ev", "more", "ev"], maker.dice.choice([2, 2, 3])):
        scope = COLUMNS[name]
        make = maker.expressions(scope)
        items = [
            Item(column("k", "string")),
            Item(make.of("long", 1), "n"),
            Item(make.of("string", 1), "tag"),
        ]
        sides.append(Select(items, Relation(name), where=maker.conditions(scope, 1)))
    steps: dict[str, Body] = {"u": SetOperation("UNION", sides, every=True, by_name=maker.chance(0.15))}
    scope = {"k": "string", "n": "long", "tag": "string"}
    make = maker.expressions(scope)
    if maker.chance(0.5):
        select = Select(
            [Item(column("k", "string")), Item(make.aggregate("long"), "a0")],
            Relation("u"),
            group=[column("k", "string")],
        )
        return Tree("union", "complete", {**steps, "out": select})
    return Tree(
        "union",
        "append",
        {
            **steps,
            "out": Select(
                [Item(column(name, kind)) for name, kind in scope.items()],
                Relation("u"),
                where=maker.conditions(scope, 1),
            ),
        },
    )


def _of_tables(maker: _Maker) -> Tree:
    """A batch job's query: tables alone, with everything that streams do not allow."""
    steps, source, scope = maker.pre(keep=("id", "k"))
    select, given = maker.projection(source, scope, ("id", "k"))
    match maker.dice.randrange(4):
        case 0:
            select.items.append(Item(maker.expressions(scope).windowed(), "w"))
        case 1:
            select.order = [Expr(f"id{maker.dice.choice(['', ' DESC', ' DESC NULLS LAST'])}", "long")]
            select.limit = maker.dice.randrange(1, 9)
            select.offset = maker.dice.choice([None, None, 2])
        case 2:
            other = Select(
                [Item(column(name, kind)) for name, kind in given.items()],
                Relation("half"),
                where=maker.conditions(given, 1),
            )
            half = Select(
                [Item(column(name, kind)) for name, kind in given.items()],
                Relation("whole"),
                where=maker.conditions(given, 1),
            )
            steps["whole"] = select
            steps["half"] = half
            first = Select([Item(column(name, kind)) for name, kind in given.items()], Relation("whole"))
            operation = SetOperation(
                maker.dice.choice(["UNION", "EXCEPT", "INTERSECT"]), [first, other], maker.chance(0.5)
            )
            return Tree("tables alone", "batch", {**steps, "out": operation})
        case _:
            select.distinct = True
    return Tree("tables alone", "batch", {**steps, "out": select})


def _unnested(maker: _Maker) -> Tree:
    scope = COLUMNS["ev"]
    call = maker.dice.choice(
        [
            "explode(arr)",
            "posexplode(arr)",
            "explode(map_keys(m))",
            "explode_outer(arr)",
            "inline(transform(arr, x -> struct(x AS p, x * 2 AS q)))",
        ]
    )
    names = {"posexplode(arr)": "at, e"}.get(call, "p, q" if call.startswith("inline") else "e")
    e = "q" if call.startswith("inline") else "e"
    body = Select(
        [Item(column("id", "long")), Item(column("k", "string")), Item(Expr(e, "long"), "n")],
        Relation(f"ev LATERAL VIEW {call} x AS {names}"),
        where=maker.conditions(scope, 1),
    )
    if maker.chance(0.4):
        rest = Select(
            [Item(column("k", "string")), Item(Expr("count(*)", "long"), "a0")],
            Relation("out"),
            group=[column("k", "string")],
        )
        return Tree("unnested", "complete", {"out": body, "sums": rest})
    return Tree("unnested", "append", {"out": body})


def _sessions(maker: _Maker) -> Tree:
    steps, source, scope = maker.pre(keep=("ts", "k"))
    make = maker.expressions(scope)
    gap = maker.dice.choice(
        ["'5 minutes'", "'10 minutes'", "CASE WHEN k = 'a' THEN '5 minutes' ELSE '10 minutes' END"]
    )
    session = Expr(f"session_window(ts, {gap})", "window")
    items = [
        Item(Expr(f"$0{maker.dice.choice(['.start', '.end'])}", "timestamptz", [session]), "since"),
        Item(column("k", "string")),
    ]
    items += [Item(make.aggregate("long"), f"a{at}") for at in range(maker.dice.randrange(1, 3))]
    select = Select(
        items, Relation(source), where=maker.conditions(scope, 1), group=[session, column("k", "string")]
    )
    return Tree(
        "sessions", "append" if maker.chance(0.8) else "complete", {**steps, "out": select}, marked=True
    )


def _timed(maker: _Maker) -> Tree:
    """An aggregation that forgets what the watermark has passed, and writes every change of a group."""
    steps, source, scope = maker.pre(keep=("ts", "k"))
    make = maker.expressions(scope)
    time = Expr(
        maker.dice.choice(["window(ts, '10 minutes')", "window(ts, '20 minutes', '10 minutes')"]), "window"
    )
    items = [Item(Expr("$0.start", "timestamptz", [time]), "since"), Item(column("k", "string"))]
    items += [Item(make.aggregate("long"), f"a{at}") for at in range(maker.dice.randrange(1, 3))]
    select = Select(
        items, Relation(source), where=maker.conditions(scope, 1), group=[time, column("k", "string")]
    )
    if maker.chance(0.3):
        select.having = [_having(maker, items[2])]
    tree = Tree("aggregation by time", "merge", {**steps, "out": select}, marked=True)
    if maker.chance(0.3):
        _stand_above(maker, tree)
    return tree


def _within(maker: _Maker) -> Tree:
    """Keys that are remembered up to the watermark."""
    steps, source, scope = maker.pre(keep=("k", "id", "ts"))
    select, given = maker.projection(source, scope, ("k", "ts"))
    names = [name for name, kind in given.items() if kind in ("long", "string")]
    keys = maker.dice.sample(names, min(len(names), maker.dice.choice([1, 2])))
    tree = Tree(
        "dedup within watermark", "append", {**steps, "out": select}, {"out": keys}, {"out"}, marked=True
    )
    if maker.chance(0.4):
        scope = {name: kind for name, kind in given.items() if kind in ("long", "string")}
        top = Select(
            [Item(column(name, kind)) for name, kind in scope.items()],
            Relation("out"),
            where=maker.conditions(scope, 1),
        )
        tree.steps["top"] = top
    return tree


def _limited(maker: _Maker) -> Tree:
    """The first rows of a stream, counted from batch to batch."""
    steps, source, scope = maker.pre(keep=("k", "id"))
    select, given = maker.projection(source, scope, ("k",))
    select.limit, select.distinct = maker.dice.choice([3, 8, 20, 30, 40]), maker.chance(0.2)
    tree = Tree("limit", "append", {**steps, "out": select}, marked=False)
    if maker.chance(0.25):
        scope = {name: kind for name, kind in given.items() if kind in ("long", "string")}
        tree.steps["top"] = Select(
            [Item(column(name, kind)) for name, kind in scope.items()], Relation("out")
        )
    return tree


def _chained(maker: _Maker) -> Tree:
    """An aggregation over something that keeps state itself."""
    steps, source, scope = maker.pre(keep=("k", "id", "ts", "v"))
    steps["first"], time, given, dedups = _first_state(maker, source, scope)
    make = maker.expressions(given)
    over = Expr(f"window({time}, '{maker.dice.choice([10, 15, 20])} minutes')", "window")
    items = [Item(Expr("$0.start", "timestamptz", [over]), "since")]
    group = [over]
    if "k" in given and maker.chance(0.5):
        items.append(Item(column("k", "string")))
        group.append(column("k", "string"))
    items += [Item(make.aggregate("long"), f"b{at}") for at in range(maker.dice.randrange(1, 3))]
    steps["out"] = Select(items, Relation("first"), group=group)
    return Tree("several states", "append", steps, dedups, set(dedups), marked=True)


def _first_state(
    maker: _Maker, source: str, scope: Mapping[str, str]
) -> tuple[Body, str, dict[str, str], dict[str, list[str]]]:
    """The lower of two states: its query, what is its time, what comes out beside, and keys that are told
    apart.
    """
    given = {name: scope[name] for name in ("k", "id", "v") if name in scope}
    items = [Item(column(name, kind)) for name, kind in given.items()]
    ts = Item(column("ts", "timestamptz"))
    match maker.dice.randrange(4):
        case 0:
            keys = maker.dice.sample(sorted(given), maker.dice.choice([1, 2]))
            return (
                Select([*items, ts], Relation(source), where=maker.conditions(scope, 1)),
                "ts",
                given,
                {"first": keys},
            )
        case 1:
            return Select([*items[:1], ts], Relation(source), distinct=True), "ts", {"k": "string"}, {}
        case 2:
            kind = maker.dice.choice(["JOIN", "LEFT JOIN"])
            on = [
                Expr("e.k = m.k", "boolean"),
                Expr("m.ts BETWEEN e.ts AND e.ts + INTERVAL 10 MINUTES", "boolean"),
            ]
            sides = [Item(column(f"e.{name}", given[name]), name) for name in given] + [
                Item(column("m.w", "long"), "w")
            ]
            joined = Select(
                [*sides, Item(column("e.ts", "timestamptz"), "ts")],
                Relation(source, "e"),
                [Join(kind, Relation("more", "m"), on)],
            )
            return joined, "ts", {**given, "w": "long"}, {}
        case _:
            win = Expr("window(ts, '5 minutes')", "window")
            inner = [
                Item(win, "win"),
                Item(column("k", "string")),
                Item(maker.expressions(scope).aggregate("long"), "a0"),
            ]
            below = Select(
                inner, Relation(source), where=maker.conditions(scope, 1), group=[win, column("k", "string")]
            )
            return below, maker.dice.choice(["win", "window_time(win)"]), {"k": "string", "a0": "long"}, {}


def _again(expr: Expr) -> Expr:
    """A copy."""
    return Expr(expr.text, expr.kind, [_again(part) for part in expr.parts], expr.column)


FAMILIES: Final[Mapping[str, Callable[[_Maker], Tree]]] = {
    "projection": _projected,
    "stream with table": _with_table,
    "subquery": _asking,
    "aggregation": _aggregated,
    "table below state": _table_below,
    "window": _windowed,
    "dedup": _deduped,
    "two streams": _two_streams,
    "union": _united,
    "tables alone": _of_tables,
    "unnested": _unnested,
    "sessions": _sessions,
    "aggregation by time": _timed,
    "dedup within watermark": _within,
    "limit": _limited,
    "several states": _chained,
}
_WEIGHTS: Final = {
    "projection": 5,
    "stream with table": 4,
    "subquery": 3,
    "aggregation": 7,
    "table below state": 4,
    "window": 3,
    "dedup": 3,
    "two streams": 3,
    "union": 2,
    "tables alone": 3,
    "unnested": 1,
    "sessions": 2,
    "aggregation by time": 2,
    "dedup within watermark": 2,
    "limit": 1,
    "several states": 3,
}
