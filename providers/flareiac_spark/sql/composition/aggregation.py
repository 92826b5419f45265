"""Keys and aggregates of one SELECT that gathers rows."""

from collections.abc import Callable, Iterator

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.composition.predicate_pushdown import split
from flareiac_spark.sql.composition.resolve import Resolver, column_name
from flareiac_spark.sql.composition.scope import CannotTell, Scope
from flareiac_spark.sql.functions import AGGREGATES, WINDOWS
from flareiac_spark.sql.normalize import normalize, same_text
from flareiac_spark.sql.operators import Aggregate, NamedExpr
from flareiac_spark.sql.tree import column_of, unaliased, written_where


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """``outputs``: name and expression over keys and aggregates; ``finish`` resolves what stands behind
    HAVING, such as ORDER BY.
    """

    outputs: list[tuple[str, exp.Expr]]
    having: list[exp.Expr]
    finish: Callable[[exp.Expr], exp.Expr]


def is_gathering(select: exp.Select) -> bool:
    if select.args.get("group") is not None or select.args.get("having") is not None:
        return True
    return any(is_aggregate(node) for expression in select.expressions for node in _own(expression))


def is_aggregate(node: exp.Expr) -> bool:
    """Returns True if the node itself is a call that gathers rows, with its FILTER and the like."""
    match node:
        case exp.Filter() | exp.IgnoreNulls() | exp.RespectNulls() | exp.WithinGroup():
            return is_aggregate(node.this)
        case exp.Anonymous():
            return node.name.lower() in AGGREGATES
        case _:
            return False


def _own(expr: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression but those of OVER and of queries inside."""
    yield expr
    if not isinstance(expr, exp.Window | exp.Query):
        for child in expr.iter_expressions():
            yield from _own(child)


def gathered(select: exp.Select, aggregate: Aggregate, scope: Scope, resolver: Resolver) -> Gathered:
    """Fills the aggregate's keys and calls."""
    return _Gatherer(select, aggregate, scope, resolver).all()


class _Gatherer:
    def __init__(self, select: exp.Select, aggregate: Aggregate, scope: Scope, resolver: Resolver) -> None:
        self._select, self._aggregate, self._scope, self._resolver = select, aggregate, scope, resolver
        self._keys: dict[str, str] = {}
        self._calls: dict[str, str] = {}
        self._words: list[str] = []
        self._sets_written: list[tuple[exp.Expr, str]] = []
        self._places: dict[str, str] = {}
        """The keys by how they are written, as ROLLUP and the like name them."""
        self._written: set[tuple[str, str]] = set()
        """The keys and calls, each with how it is written: of what has two names below the state keeps two
        values.
        """

    def all(self) -> Gathered:
        named = self._named()
        self._group(named)
        outputs = [(name, self._output(expr, name)) for name, expr in named]
        having = self._select.args.get("having")
        finish = self._finish()
        conditions = (
            [self._above(operand) for operand in split(finish.resolve(having.this))]
            if having is not None
            else []
        )
        return Gathered(
            outputs=outputs, having=conditions, finish=lambda node: self._above(finish.resolve(node))
        )

    def _output(self, expr: exp.Expr, name: str) -> exp.Expr:
        resolved = self._resolved(expr)
        self._words = _words(unaliased(expr), resolved)
        output = self._above(resolved, name)
        self._words = []
        return output

    def _named(self) -> list[tuple[str, exp.Expr]]:
        named = []
        for expression in self._select.expressions:
            if expression.is_star and not isinstance(expression, exp.Anonymous):
                raise CannotTell("a star beside aggregates")
            if isinstance(expression, exp.Aliases):
                raise CannotTell("rows are made beside aggregates")
            named.append((column_name(expression), expression))
        return named

    def _resolved(self, expr: exp.Expr) -> exp.Expr:
        if not isinstance(expr, exp.Alias):
            return self._resolver.resolve(expr)
        resolved = self._resolver.resolve(expr.this)
        self._resolver.earlier[expr.alias.lower()] = resolved.copy()
        return resolved

    # Keys

    def _group(self, named: list[tuple[str, exp.Expr]]) -> None:
        group = self._select.args.get("group")
        if group is None:
            return
        if group.args.get("all"):
            expressions = [
                unaliased(expr) for _, expr in named if not any(is_aggregate(node) for node in _own(expr))
            ]
        else:
            expressions = list(group.expressions)
        for name in ("rollup", "cube", "grouping_sets", "totals"):
            expressions += self._sets(name, group.args.get(name))
        for expression in expressions:
            self._key(expression, named)
        for node, name in self._sets_written:
            self._aggregate.sets += normalize(node, lambda _, column: self._places.get(column.lower(), "?"))
            self._aggregate.sets += name
        self._resolver.windows = [key.expr for key in self._aggregate.keys]

    def _sets(self, name: str, nodes: object) -> list[exp.Expr]:
        """ROLLUP and the like: their columns become keys, their form a text."""
        keys: list[exp.Expr] = []
        for node in nodes if isinstance(nodes, list) else []:
            for child in node.iter_expressions():
                keys += child.expressions if isinstance(child, exp.Tuple) else [child]
            self._sets_written.append((node, name))
        return [child.this if isinstance(child, exp.Paren) else child for child in keys]

    def _key(self, expression: exp.Expr, named: list[tuple[str, exp.Expr]]) -> None:
        if isinstance(expression, exp.Rollup | exp.Cube | exp.GroupingSets):
            for child in self._sets(expression.key, [expression]):
                self._key(child, named)
            return
        if isinstance(expression, exp.Literal):
            position = expression.name
            if expression.is_string or not (
                position.isdecimal() and len(position) < 10 and 0 < int(position) <= len(named)
            ):
                return  # a text groups nothing
            expression = unaliased(named[int(position) - 1][1])
        elif isinstance(expression, exp.Column) and len(expression.parts) == 1:
            expression = self._by_alias(expression, named)
        resolved = self._resolver.resolve(expression)
        if resolved.find(exp.Column) is None and not isinstance(resolved, exp.Anonymous):
            return  # Spark drops constants
        text = same_text(resolved)
        written = normalize(expression, lambda _, name: name.lower())
        if (text, written) not in self._written:
            self._written.add((text, written))
            name = f"k{len(self._aggregate.keys)}"
            self._keys.setdefault(text, name)
            self._places[written] = name
            self._aggregate.keys.append(NamedExpr(name=name, expr=resolved, step=self._aggregate.step))

    def _by_alias(self, column: exp.Column, named: list[tuple[str, exp.Expr]]) -> exp.Expr:
        """A column of the relations goes before an alias. Where both could be meant, an alias is, unless it
        is made of that column.
        """
        name = column.name.lower()
        aliased: list[exp.Expr] = [
            expr.this for given, expr in named if given.lower() == name and isinstance(expr, exp.Alias)
        ]
        if not aliased or self._scope.surely(name):
            return column
        if len(aliased) > 1:
            raise CannotTell(f"{name} is the name of two columns")
        reads = {each.name.lower() for each in aliased[0].find_all(exp.Column)}
        if not self._scope.maybe(name):
            return aliased[0]
        if name in reads:
            return column
        keys = {
            each.name.lower()
            for each in self._select.args["group"].expressions
            if isinstance(each, exp.Column)
        }
        if reads <= keys:
            raise CannotTell(f"whether GROUP BY {name} means a column or an alias is not known")
        return aliased[0]

    # What stands above the aggregation

    def _above(self, resolved: exp.Expr, given: str = "") -> exp.Expr:
        """The expression with keys and aggregates replaced by their names. ``given``: the output's name, if
        it is one.
        """
        text = same_text(resolved)
        if text in self._keys:
            return self._column(self._keys[text], resolved)
        if is_aggregate(resolved):
            return self._call(resolved, text, given, self._words.pop(0) if self._words else None)
        match resolved:
            case exp.Column():
                raise CannotTell(f"{resolved.name} is neither grouped nor aggregated")
            case exp.Window():
                raise CannotTell("OVER beside aggregates")
            case exp.Anonymous() if (
                not resolved.name.startswith("@")
                and resolved.name.lower() not in WINDOWS
                and self._reads_rows(resolved)
            ):
                return self._call(resolved, text, given)
        for child in list(resolved.iter_expressions()):
            child.replace(self._above(child))
        return resolved

    def _reads_rows(self, call: exp.Anonymous) -> bool:
        """Returns True if an unknown function can only be an aggregate, since it reads a column that is
        neither grouped nor aggregated.
        """

        def loose(node: exp.Expr) -> bool:
            if same_text(node) in self._keys or is_aggregate(node):
                return False
            if isinstance(node, exp.Anonymous):
                return False  # this one is asked itself
            return isinstance(node, exp.Column) or any(loose(child) for child in node.iter_expressions())

        return any(loose(argument) for argument in call.expressions)

    def _call(self, call: exp.Expr, text: str, given: str, written: str | None = None) -> exp.Expr:
        if text not in self._calls:
            name = self._calls[text] = f"a{len(self._calls)}"
            self._aggregate.calls.append(
                NamedExpr(name=name, expr=call.copy(), step=self._aggregate.step, given=given.lower())
            )
        elif written is not None and (text, written) not in self._written:
            raise CannotTell("one value is aggregated under two names, and the state keeps both results")
        self._written.add((text, written or ""))
        return self._column(self._calls[text], call)

    def _column(self, name: str, meaning: exp.Expr) -> exp.Expr:
        return written_where(column_of(self._aggregate.id, name), meaning)

    def _finish(self) -> Resolver:
        """The resolver of the names in HAVING and ORDER BY: the relations' columns, and the outputs. One name
        for both is not read.
        """
        finish = Resolver(self._scope, self._resolver.aside)
        finish.windows = self._resolver.windows
        for expression in self._select.expressions:
            if isinstance(expression, exp.Alias):
                defined = self._resolver.earlier[expression.alias.lower()]
                if self._scope.surely(expression.alias.lower()) and defined != self._scope.find(
                    [expression.alias.lower()]
                ):
                    finish.forbidden.add(expression.alias.lower())
                finish.earlier[expression.alias.lower()] = defined
        return finish


def _topmost(tree: exp.Expr) -> list[exp.Expr]:
    """The aggregates of an expression, those inside others left out, as they stand."""
    if is_aggregate(tree):
        return [tree]
    return [aggregate for child in tree.iter_expressions() for aggregate in _topmost(child)]


def _words(tree: exp.Expr, resolved: exp.Expr) -> list[str]:
    """The normalized text of each aggregate of ``resolved``; empty where an alias brought in others."""
    written = [normalize(each, lambda _, name: name.lower()) for each in _topmost(tree)]
    return written if len(written) == len(_topmost(resolved)) else []
