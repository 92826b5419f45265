"""Composes the query that feeds one output into operators, however it is cut into steps, CTEs and subqueries.

Names of steps, aliases and the order of CTEs are gone; columns are resolved; projections are put into what
reads them; filters stand where Spark's optimizer moves them. What cannot be determined raises ``CannotTell``.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.aggregation import gathered, is_aggregate, is_gathering
from flareiac_spark.sql.fingerprint import fingerprint
from flareiac_spark.sql.functions import GENERATORS, JOIN_HINTS, UNSTABLE, WINDOWS
from flareiac_spark.sql.joining import join_kind, joined
from flareiac_spark.sql.normalize import is_stable, same_text
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Composed,
    Compute,
    Condition,
    Dedup,
    Generate,
    Hint,
    Item,
    Join,
    Limit,
    Operator,
    Output,
    Scan,
    Sort,
    Union,
    UnionColumn,
    all_below,
    prune,
    read_by,
)
from flareiac_spark.sql.predicate_pushdown import add_filter, on_conditions, split, substituted
from flareiac_spark.sql.raw_parse import raw_parse
from flareiac_spark.sql.resolve import Resolver, column_name
from flareiac_spark.sql.scope import CannotTell, Given, Scope, Source
from flareiac_spark.sql.tree import column_of, is_call, is_star, mark_step, unaliased

_MOST: Final = 2_000
"""Operators of one query; more are not composed (a step that is read twice counts twice)."""
_SELECT: Final = frozenset(
    {
        "with_",
        "expressions",
        "hint",
        "distinct",
        "from_",
        "joins",
        "laterals",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
    }
)
_SET: Final = frozenset({"with_", "this", "expression", "distinct", "by_name", "order", "limit", "offset"})
_TABLE: Final = frozenset({"this", "db", "catalog", "alias"})
_SUBQUERY: Final = frozenset({"this", "alias", "with_", "order", "limit", "offset"})

_Known = TypeVar("_Known", bound=Operator)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relation:
    """Rows, and the columns that can be read of them."""

    block: Block
    given: list[Given]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """The meanings of relation names where a query stands: CTEs (each with the names that it sees itself),
    then steps and inputs.

    ``steps``: those being composed, so that none reads itself.
    """

    step: str
    steps: tuple[str, ...]
    ctes: "Mapping[str, tuple[exp.Expr, Names, Sequence[str]]]"
    outer: Scope | None = None


def compose(
    steps: Mapping[str, str],
    source: str,
    streamed: Collection[str],
    columns: Mapping[str, Mapping[str, str]],
    dedups: Mapping[str, tuple[str, ...]],
    identities: Mapping[str, str],
    moved: Collection[str] = (),
    watermarked: Collection[str] = (),
) -> Composed:
    """The query behind ``source``, without what nothing reads. ``moved``: relations (in lower case) whose
    columns may be others than those of the query that this one is compared with. ``watermarked``: steps that
    no filter moves across. Raises ``CannotTell``.
    """
    return _Composer(steps, streamed, columns, dedups, identities, moved, watermarked).whole(source)


class _Composer:
    def __init__(
        self,
        steps: Mapping[str, str],
        streamed: Collection[str],
        columns: Mapping[str, Mapping[str, str]],
        dedups: Mapping[str, tuple[str, ...]],
        identities: Mapping[str, str],
        moved: Collection[str],
        watermarked: Collection[str],
    ) -> None:
        self._moved = moved
        self._watermarked = {name.lower() for name in watermarked}
        self._identities = {name.lower(): identity for name, identity in identities.items()}
        self._steps = {name.lower(): (name, sql) for name, sql in steps.items()}
        self._streamed = {name.lower() for name in streamed}
        self._columns = {name.lower(): dict(known) for name, known in columns.items()}
        self._dedups = {name.lower(): keys for name, keys in dedups.items()}
        self._operators: dict[str, Operator] = {}
        self._hints: list[Hint] = []
        self._windows: set[str] = set()
        """The windows that a projection computes: Spark makes rows of them, read or not."""
        self._count = 0

    def whole(self, source: str) -> Composed:
        relation = self._named((source.lower(),), Names(step=source, steps=(), ctes={}))
        composed = Composed(
            block=relation.block, outputs=_outputs(relation), operators=self._operators, hints=self._hints
        )
        prune(composed)
        if self._windows - _windows_of(composed):
            raise CannotTell(
                "a window that stands in no output and in no key makes or drops rows all the same"
            )
        return composed

    def _id(self, kind: str) -> str:
        self._count += 1
        if self._count > _MOST:
            raise CannotTell("the query has too many parts")
        return f"@{kind}{self._count}"

    def _known(self, operator: _Known) -> _Known:
        self._operators[operator.id] = operator
        return operator

    # Relations

    def _named(self, parts: tuple[str, ...], names: Names) -> Relation:
        name = parts[-1]
        if len(parts) == 1 and name in names.ctes:
            tree, inside, columns = names.ctes[name]
            return _renamed(self._query(tree, inside), columns)
        if len(parts) == 1 and name in self._steps and name not in names.steps:
            return self._step(name, names)
        return self._scan(parts, names.step)

    def _step(self, name: str, names: Names) -> Relation:
        written, sql = self._steps[name]
        tree = raw_parse(sql)
        if tree is None:
            raise CannotTell(f"the SQL of step {written} is not read here")
        relation = self._query(tree, Names(step=written, steps=(*names.steps, name), ctes={}))
        if name in self._watermarked:
            relation = self._watermark(relation, written)
        return self._dedup(relation, written, self._dedups[name]) if name in self._dedups else relation

    def _watermark(self, relation: Relation, step: str) -> Relation:
        """Filters stay on the side of a watermark on which they are written: it is made of the rows that it
        sees.
        """
        mark = self._known(Compute(id=self._id("watermark"), step=step, input=relation.block, items=[]))
        return Relation(block=Block(base=mark), given=relation.given)

    def _scan(self, parts: tuple[str, ...], step: str) -> Relation:
        relation = ".".join(parts)
        scan = self._known(
            Scan(
                id=self._id("scan"),
                step=step,
                relation=self._identities.get(relation, relation),
                streams=relation in self._streamed,
            )
        )

        known = self._columns.get(relation) or {}
        given = [
            Given(
                name=name.lower(),
                shown=name,
                expr=column_of(scan.id, name.lower()),
                step=step,
                place=(place, ""),
            )
            for place, name in enumerate(known)
        ]
        anything = Given(
            name="*",
            shown="*",
            expr=column_of(scan.id, "*"),
            step=step,
            place=(0, ""),
            open=True,
            moved=relation in self._moved,
        )
        return Relation(block=Block(base=scan), given=given or [anything])

    def _dedup(self, relation: Relation, step: str, keys: tuple[str, ...]) -> Relation:
        source = Source(names=(), given=relation.given)
        values = [(key.lower(), source.find(key.lower())) for key in keys]
        items = [Item(name=name, expr=value, step=step) for name, value in values if value is not None]
        if len(items) < len(keys):
            raise CannotTell(f"what {step} is deduplicated by is not known")
        if not keys:
            items = [Item(name=each.name, expr=each.value("*"), step=step) for each in relation.given]
        dedup = Dedup(
            id=self._id("dedup"),
            step=step,
            input=relation.block,
            keys=items,
        )
        return Relation(block=Block(base=self._known(dedup)), given=relation.given)

    # Queries

    def _query(self, tree: exp.Expr, names: Names) -> Relation:
        names = self._with_ctes(tree, names)
        match tree:
            case exp.Select():
                return self._select(tree, names)
            case exp.SetOperation():
                return self._set_operation(tree, names)
            case exp.Subquery():
                _only(tree, _SUBQUERY)
                relation = self._query(tree.this, names)
                return self._limited(self._ordered(relation, tree, None, names), tree, names)
            case _:
                raise CannotTell(f"{tree.key} is not read here")

    def _with_ctes(self, tree: exp.Expr, names: Names) -> Names:
        clause = tree.args.get("with_")
        if clause is None:
            return names
        if clause.args.get("recursive"):
            raise CannotTell("a recursive query is not read here")
        ctes = dict(names.ctes)
        for cte in clause.expressions:
            ctes[cte.alias.lower()] = (cte.this, replace(names, ctes=dict(ctes)), cte.alias_column_names)
        return replace(names, ctes=ctes)

    def _set_operation(self, tree: exp.SetOperation, names: Names) -> Relation:
        _only(tree, _SET)
        sides = [self._query(side, names) for side in (tree.this, tree.expression)]
        given = [each.given for each in sides]
        if any(each.open for side in given for each in side):
            raise CannotTell("the columns of the relations that are united are not known")
        if tree.args.get("by_name"):
            given[1] = [each for first in given[0] for each in given[1] if each.name == first.name]
        # by name neither side may have a column of its own
        if not len(given[0]) == len(given[1]) == len(sides[1].given):
            raise CannotTell("relations with different columns are united")
        distinct = bool(tree.args.get("distinct"))
        kind = "union" if isinstance(tree, exp.Union) else tree.key if distinct else f"{tree.key} all"
        if kind != "union" and any(side.block.base.streams for side in sides):
            raise CannotTell(f"{kind} over a stream is not read here")
        relation = self._union(kind, sides, given, names.step)
        relation = self._distinct(relation, names.step) if distinct else relation
        return self._limited(self._ordered(relation, tree, None, names), tree, names)

    def _union(self, kind: str, sides: list[Relation], given: list[list[Given]], step: str) -> Relation:
        inputs: list[Block] = []
        rows: list[list[exp.Expr]] = []
        for side, columns in zip(sides, given, strict=True):
            values = [column.value(column.name) for column in columns]
            base = side.block.base
            if (
                kind == "union"
                and isinstance(base, Union)
                and base.kind == "union"
                and not side.block.filters
            ):
                for place, block in enumerate(base.inputs):
                    meaning = {(base.id, column.name): column.exprs[place] for column in base.columns}
                    inputs.append(block)
                    rows.append([substituted(value, meaning.get) for value in values])
            else:
                inputs.append(side.block)
                rows.append(values)
        united = [
            UnionColumn(name=f"u{place}", exprs=list(exprs))
            for place, exprs in enumerate(zip(*rows, strict=True))
        ]
        union = self._known(Union(id=self._id("union"), step=step, kind=kind, inputs=inputs, columns=united))
        outputs = [
            _given(first.shown, union.id, f"u{place}", step, place) for place, first in enumerate(given[0])
        ]
        return Relation(block=Block(base=union), given=outputs)

    def _distinct(self, relation: Relation, step: str) -> Relation:
        """All columns are keys. Of a relation whose columns are not known, ``*`` is one key that stands for
        them.
        """
        keys = [
            Item(name=f"k{place}", expr=each.value("*"), step=step, given=each.name)
            for place, each in enumerate(relation.given)
        ]
        aggregate = Aggregate(
            id=self._id("distinct"),
            step=step,
            input=relation.block,
            keys=keys,
            calls=[],
            distinct=True,
        )
        self._known(aggregate)
        if any(each.open for each in relation.given):
            if len(relation.given) > 1:
                raise CannotTell("which columns are distinct is not known")
            return Relation(block=Block(base=aggregate), given=relation.given)
        outputs = [
            _given(each.shown, aggregate.id, f"k{place}", step, place)
            for place, each in enumerate(relation.given)
        ]
        return Relation(block=Block(base=aggregate), given=outputs)

    # SELECT

    def _select(self, tree: exp.Select, names: Names) -> Relation:
        _only(tree, _SELECT)
        self._hinted(tree.args.get("hint"), names.step)
        block, scope = self._from(tree, names)
        where = tree.args.get("where")
        resolver = self._resolver(scope, names)
        if where is not None:
            for operand in split(resolver.resolve(where.this)):
                add_filter(block, Condition(expr=operand, step=names.step))
        if is_gathering(tree):
            relation, finish = self._grouped(tree, block, scope, resolver, names)
        else:
            relation = self._projected(tree, block, scope, resolver, names)
            finish = resolver.resolve
        if tree.args.get("distinct") is not None:
            if tree.args["distinct"].args.get("on"):
                raise CannotTell("DISTINCT ON is not read here")
            relation = self._distinct(relation, names.step)
        relation = self._ordered(relation, tree, finish, names)
        return self._limited(relation, tree, names)

    def _hinted(self, hint: exp.Expr | None, step: str) -> None:
        """Hints about joins change no row. Others put rows into another order, and so into other places of
        what takes them in order.
        """
        for each in hint.expressions if hint is not None else ():
            if each.name.lower() not in JOIN_HINTS:
                raise CannotTell(f"the hint {each.name or each.sql(dialect='spark')} is not read here")
            self._hints.append(Hint(text=" ".join(each.sql(dialect="spark").lower().split()), step=step))

    def _resolver(self, scope: Scope, names: Names) -> Resolver:
        return Resolver(scope, lambda query, inside: self._aside(query, inside, names))

    def _aside(self, query: exp.Expr, scope: Scope, names: Names) -> exp.Expr:
        """A query inside an expression, as the text of its outline and the outer columns that it reads."""
        before = set(self._operators)
        relation = self._query(query, replace(names, outer=scope))
        own = set(self._operators) - before
        if any(self._operators[each].streams for each in own):
            raise CannotTell("a stream is read inside an expression")
        composed = Composed(block=relation.block, outputs=_outputs(relation), operators=self._operators)
        prune(composed)
        text, outer = fingerprint(composed)
        random = any(f"{name}(" in text for name in UNSTABLE)
        return exp.Anonymous(
            this="@random_query" if random else "@query", expressions=[exp.Literal.string(text), *outer]
        )

    def _from(self, tree: exp.Select, names: Names) -> tuple[Block, Scope]:
        clause = tree.args.get("from_")
        if clause is None:
            raise CannotTell("a query without FROM is not read here")
        first = self._source(clause.this, names)
        block, scope = first[0], Scope(sources=[first[1]], outer=names.outer)
        for join in tree.args.get("joins") or ():
            block, scope = self._join(join, block, scope, names)
        for lateral in tree.args.get("laterals") or ():
            block, scope = self._lateral(lateral, block, scope, names)
        return block, scope

    def _source(self, node: exp.Expr, names: Names) -> tuple[Block, Source]:
        match node:
            case exp.Table(this=exp.Identifier()):
                _only(node, _TABLE)
                parts = tuple(part.name.lower() for part in node.parts)
                relation = _renamed(self._named(parts, names), node.alias_column_names)
                return relation.block, Source(
                    names=(node.alias.lower(),) if node.alias else parts, given=relation.given
                )
            case exp.Subquery():
                relation = _renamed(self._query(node, names), node.alias_column_names)
                return relation.block, Source(
                    names=(node.alias.lower(),) if node.alias else (), given=relation.given
                )
            case _:
                raise CannotTell(f"FROM {node.key} is not read here")

    def _join(self, node: exp.Join, block: Block, scope: Scope, names: Names) -> tuple[Block, Scope]:
        kind = join_kind(node)
        right, source = self._source(node.this, names)
        join = Join(id=self._id("join"), step=names.step, left=block, right=right, kind=kind)
        self._known(join)
        seen = joined(join, node, scope, source)
        conditions = [Condition(expr=equation, step=names.step) for equation in seen.equal]
        if (on := node.args.get("on")) is not None:
            resolver = self._resolver(seen.inside, names)
            conditions += [
                Condition(expr=operand, step=names.step) for operand in split(resolver.resolve(on))
            ]
        on_conditions(join, conditions)
        return Block(base=join), seen.outside

    def _lateral(self, node: exp.Lateral, block: Block, scope: Scope, names: Names) -> tuple[Block, Scope]:
        if not node.args.get("view"):
            raise CannotTell("LATERAL is not read here")
        columns = node.alias_column_names
        if not columns:
            raise CannotTell("LATERAL VIEW without names of columns is not read here")
        resolver = self._resolver(scope, names)
        call, outer = _rows_made(node.this, resolver), bool(node.args.get("outer"))
        rows, given = self._generated(block, call, outer, columns, names)
        source = Source(names=(node.alias.lower(),) if node.alias else (), given=given)
        return rows, replace(scope, sources=[*scope.sources, source])

    def _projected(
        self, tree: exp.Select, block: Block, scope: Scope, resolver: Resolver, names: Names
    ) -> Relation:
        given: list[Given] = []
        for item in tree.expressions:
            if is_star(item):
                given += scope.starred(item)
                continue
            names_of = _item_names(item)
            if is_call(unaliased(item), GENERATORS):
                call = _rows_made(unaliased(item), resolver)
                outer = call.name.endswith("_outer")
                block, columns = self._generated(block, call, outer, names_of, names)
                given += columns
                continue
            if isinstance(item, exp.Aliases):
                raise CannotTell("several names for one expression are not read here")
            expr = resolver.resolve(unaliased(item))
            if not is_stable(expr) or expr.find(exp.Window) is not None:
                block, expr = self._computed(block, expr, names)
            mark_step(expr, names.step)
            self._windows |= _windows_in(expr)
            given.append(
                Given(
                    name=names_of[0].lower(),
                    shown=names_of[0],
                    expr=expr,
                    step=names.step,
                    place=(len(given), ""),
                )
            )
            if isinstance(item, exp.Alias):
                resolver.earlier[names_of[0].lower()] = expr
        return Relation(block=block, given=_placed(given))

    def _generated(
        self, block: Block, call: exp.Expr, outer: bool, columns: Sequence[str], names: Names
    ) -> tuple[Block, list[Given]]:
        generate = Generate(id=self._id("rows"), step=names.step, input=block, call=call, outer=outer)
        self._known(generate)
        given = [
            _given(name, generate.id, f"g{place}", names.step, place) for place, name in enumerate(columns)
        ]
        return Block(base=generate), given

    def _computed(self, block: Block, expr: exp.Expr, names: Names) -> tuple[Block, exp.Expr]:
        compute = Compute(
            id=self._id("compute"),
            step=names.step,
            input=block,
            items=[Item(name="x0", expr=expr, step=names.step)],
        )
        self._known(compute)
        return Block(base=compute), _given("", compute.id, "x0", names.step, 0).expr

    def _grouped(
        self, tree: exp.Select, block: Block, scope: Scope, resolver: Resolver, names: Names
    ) -> tuple[Relation, Callable[[exp.Expr], exp.Expr]]:
        aggregate = Aggregate(id=self._id("group"), step=names.step, input=block, keys=[], calls=[])
        self._known(aggregate)
        found = gathered(tree, aggregate, scope, resolver)
        above = Block(base=aggregate)
        for condition in found.having:
            add_filter(above, Condition(expr=condition, step=names.step))
        for _, expr in found.outputs:
            mark_step(expr, names.step)
        given = [
            Given(name=name.lower(), shown=name, expr=expr, step=names.step, place=(place, ""))
            for place, (name, expr) in enumerate(found.outputs)
        ]
        return Relation(block=above, given=given), found.finish

    def _ordered(
        self, relation: Relation, tree: exp.Expr, finish: Callable[[exp.Expr], exp.Expr] | None, names: Names
    ) -> Relation:
        """``finish`` resolves what is no output."""
        order = tree.args.get("order")
        if order is None:
            return relation
        outputs = self._resolver(Scope(sources=[Source(names=(), given=relation.given)]), names)
        keys: list[exp.Expr] = []
        for key in order.expressions:
            try:
                if finish is not None and any(is_aggregate(node) for node in key.walk()):
                    keys.append(finish(key))
                else:
                    keys.append(outputs.resolve(key))
            except CannotTell:
                if finish is None:
                    raise
                keys.append(finish(key))
        sort = Sort(
            id=self._id("sort"),
            step=names.step,
            input=relation.block,
            keys=keys,
        )
        return Relation(block=Block(base=self._known(sort)), given=relation.given)

    def _limited(self, relation: Relation, tree: exp.Expr, names: Names) -> Relation:
        bounds = [bound for name in ("limit", "offset") if (bound := tree.args.get(name)) is not None]
        if not bounds:
            return relation
        resolver = self._resolver(Scope(sources=[]), names)
        counts = [resolver.resolve(bound) for bound in bounds]
        count = counts[0] if len(counts) == 1 else exp.Tuple(expressions=counts)
        found = Limit(id=self._id("limit"), step=names.step, input=relation.block, count=count)
        return Relation(block=Block(base=self._known(found)), given=relation.given)


def _windows_in(expr: exp.Expr) -> set[str]:
    return {same_text(call) for call in expr.find_all(exp.Anonymous) if is_call(call, WINDOWS)}


def _windows_of(composed: Composed) -> set[str]:
    """The windows that an output, or the key or column of an operator, is made of."""
    exprs = [output.expr for output in composed.outputs]
    exprs += [expr for operator in all_below(composed.block.base) for expr in read_by(operator)]
    return set().union(*map(_windows_in, exprs))


def _outputs(relation: Relation) -> list[Output]:
    return [
        Output(name=each.name, shown=each.shown, expr=each.value("*"), step=each.step, without=each.without)
        for each in relation.given
    ]


def _rows_made(call: exp.Expr, resolver: Resolver) -> exp.Expr:
    if not is_call(call, GENERATORS):
        raise CannotTell("what makes rows here is not known")
    return exp.Anonymous(
        this=call.name.lower(), expressions=[resolver.resolve(each) for each in call.expressions]
    )


def _given(shown: str, giver: str, column: str, step: str, place: int) -> Given:
    expr = column_of(giver, column)
    return Given(name=shown.lower(), shown=shown, expr=expr, step=step, place=(place, ""))


def _renamed(relation: Relation, columns: Sequence[str]) -> Relation:
    if not columns:
        return relation
    if any(each.open for each in relation.given) or len(columns) != len(relation.given):
        raise CannotTell("the columns that an alias renames are not known")
    given = [
        replace(each, name=name.lower(), shown=name)
        for name, each in zip(columns, relation.given, strict=True)
    ]
    return Relation(block=relation.block, given=given)


def _placed(given: list[Given]) -> list[Given]:
    """Places by the order in which columns are given; those of an open relation stay side by side."""
    return [replace(each, place=(place, "")) for place, each in enumerate(given)]


def _item_names(item: exp.Expr) -> list[str]:
    """The names of a SELECT item: that of its alias or column, several of a function that makes rows, ""
    where Spark makes one up.
    """
    match item:
        case exp.Aliases():
            return [identifier.name for identifier in item.args["expressions"]]
        case exp.Anonymous() if item.name.lower() in {"explode", "explode_outer"}:
            return ["col"]
        case exp.Anonymous() if item.name.lower() in GENERATORS:
            raise CannotTell(f"{item.name.lower()} without names of columns is not read here")
        case _:
            return [column_name(item)]


def _only(tree: exp.Expr, known: frozenset[str]) -> None:
    for name, value in tree.args.items():
        if value and name not in known:
            raise CannotTell(f"{name.strip('_').upper()} is not read here")
