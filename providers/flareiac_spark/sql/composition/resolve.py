"""An expression of one SELECT with every column resolved."""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from flareiac_spark.sql.composition.scope import CannotTell, Given, Scope, fields_of
from flareiac_spark.sql.functions import CASTS, GENERATORS, NAMING, WINDOWS
from flareiac_spark.sql.tree import bare, is_call, is_star

Aside = Callable[["exp.Expr", Scope], "exp.Expr"]
"""The function that makes the expression which stands for a query inside an expression."""


class Resolver:
    """``earlier``: the columns that the same SELECT has defined so far, which later ones may use where no
    relation gives the name.
    """

    def __init__(self, scope: Scope, aside: Aside) -> None:
        self._scope, self.aside = scope, aside
        self.earlier: dict[str, exp.Expr] = {}
        self.forbidden: set[str] = set()
        """Names that could mean two things."""
        self.windows: list[exp.Expr] = []
        """The window calls of GROUP BY, which give a column of their function's name."""
        self._variables: list[dict[str, str]] = []
        """The variables of the lambdas around what is resolved: in lower case, and as declared."""

    def resolve(self, node: exp.Expr) -> exp.Expr:
        """A tree of its own. Raises ``CannotTell``."""
        match node:
            case exp.Column(this=exp.Star()):
                raise CannotTell("a star inside an expression")
            case exp.Column():
                return self._column(node)
            case exp.Query():
                return self.aside(node, self._scope)
            case exp.Lambda():
                return self._lambda(node)
            case exp.Identifier():
                return self._variable([node.name]) or node.copy()
            case exp.Anonymous() if node.name.lower() in NAMING:
                return exp.Anonymous(this=node.name.lower(), expressions=self._named(node))
            case exp.Tuple():
                return exp.Tuple(expressions=self._named(node))
            case exp.Anonymous() if node.name.lower() in GENERATORS:
                raise CannotTell("rows are made inside an expression")
            case exp.Alias():
                return exp.Alias(this=self.resolve(node.this), alias=node.args["alias"].copy())
            case exp.Dot(expression=exp.Identifier() as field):
                return fields_of(self.resolve(node.this), [field.name])
            case exp.DataType():
                return node.copy()
            case exp.Placeholder() | exp.Parameter() | exp.SessionParameter():
                raise CannotTell("a parameter in the SQL")
            case _:
                return self._rebuilt(node)

    def _rebuilt(self, node: exp.Expr) -> exp.Expr:
        arguments: dict[str, Any] = {}
        for name, value in node.args.items():
            if isinstance(value, list):
                arguments[name] = [each for argument in value for each in self._listed(argument, node)]
            else:
                arguments[name] = self._single(value)
        return type(node)(**arguments)

    def _listed(self, argument: Any, parent: exp.Expr) -> list[Any]:
        if not is_star(argument):
            return [self._single(argument)]
        if is_call(parent, ("count",)) and isinstance(argument, exp.Star):
            return [argument.copy()]
        return [each.value("*") for each in self._stars(argument)]

    def _stars(self, star: exp.Expr) -> list[Given]:
        given = self._scope.starred(star)
        if any(each.open and each.without for each in given):
            raise CannotTell("a star with exceptions inside an expression")
        return given

    # Names

    def _named(self, call: exp.Expr) -> list[exp.Expr]:
        """The arguments of what makes a struct, each with the name that its field gets: columns are put into
        each other, and what a field is called must not get lost with the name of the column that it was made
        of.
        """
        arguments: list[exp.Expr] = []
        for expression in call.expressions:
            if is_star(expression):
                arguments += [
                    _called(each.value("*"), "" if each.open else _made_up(each))
                    for each in self._stars(expression)
                ]
            else:
                arguments.append(self._field(expression))
        return arguments

    def _field(self, expr: exp.Expr) -> exp.Expr:
        expr = bare(expr)
        match expr:
            case exp.Alias():
                return _called(self.resolve(expr.this), expr.alias)
            case exp.Column():
                variable = self._variable([part.name for part in expr.parts])
                return _called(
                    self.resolve(expr),
                    expr.name if variable is None or len(expr.parts) > 1 else _declared(variable, expr.name),
                )
            case exp.Identifier() if (variable := self._variable([expr.name])) is not None:
                return _called(variable, _declared(variable, expr.name))
            case exp.Dot():
                rooted = isinstance(_root(expr), exp.Column)
                return _called(
                    self.resolve(expr), expr.expression.name if rooted else f".{expr.expression.name}"
                )
            case _:
                return self.resolve(expr)

    def _lambda(self, node: exp.Lambda) -> exp.Expr:
        names = {each.name.lower(): each.name for each in node.expressions}
        self._variables.append(names)
        try:
            body = self.resolve(node.this)
            declared = [self._variable([name]) for name in names]
        finally:
            self._variables.pop()
        return exp.Lambda(this=body, expressions=declared)

    def _variable(self, parts: list[str]) -> exp.Expr | None:
        """A lambda's variable as it was declared, and fields of it; None where the name is not one."""
        for depth in range(len(self._variables) - 1, -1, -1):
            names = list(self._variables[depth])
            if parts[0].lower() in names:
                variable = exp.to_identifier(self._variables[depth][parts[0].lower()])
                return fields_of(variable, parts[1:])
        return None

    def _single(self, value: Any) -> Any:
        return self.resolve(value) if isinstance(value, exp.Expr) else value

    def _column(self, column: exp.Column) -> exp.Expr:
        if (variable := self._variable([part.name for part in column.parts])) is not None:
            return variable
        return self._of_relations([part.name for part in column.parts])

    def _of_relations(self, written: list[str]) -> exp.Expr:
        parts = [part.lower() for part in written]
        if parts[0] in self.forbidden and not self._qualifies(parts):
            raise CannotTell(f"whether {parts[0]} is a column or an output is not known")
        defined = self.earlier.get(parts[0])
        if defined is not None and not self._scope.surely(parts[0]) and not self._qualifies(parts):
            return self._of_earlier(written, defined)
        is_window = parts[0] in WINDOWS and not self._scope.surely(parts[0]) and not self._qualifies(parts)
        meaning = self._window(parts) if is_window else None
        if meaning is None:
            meaning = self._scope.find(written)
        if meaning is None:
            raise CannotTell(f"what {'.'.join(parts)} means is not known")
        return meaning

    def _qualifies(self, parts: list[str]) -> bool:
        return len(parts) > 1 and any(source.answers(parts[:1]) for source in self._scope.sources)

    def _of_earlier(self, parts: list[str], defined: exp.Expr) -> exp.Expr:
        """The definition of an earlier name. Where a relation could give the name too, only Spark knows which
        is meant, unless the definition itself reads that column.
        """
        if self._scope.maybe(parts[0].lower()):
            meaning = self._scope.find(parts)
            if meaning is not None and any(
                column == meaning.find(exp.Column) for column in defined.find_all(exp.Column)
            ):
                return meaning
            raise CannotTell(f"whether {parts[0]} is a column or the one defined beside it is not known")
        return fields_of(defined.copy(), parts[1:])

    def _window(self, parts: list[str]) -> exp.Expr | None:
        calls = [call for call in self.windows if is_call(call, parts[:1])]
        return fields_of(calls[0].copy(), parts[1:]) if len(calls) == 1 else None


def column_name(expr: exp.Expr) -> str:
    """The name that an item of SELECT gives its column; "" where Spark makes one up."""
    match expr:
        case exp.Alias() | exp.Column():
            return str(expr.alias_or_name)
        case exp.Dot():
            return str(expr.expression.name)
        case exp.Paren():
            return column_name(expr.this)
        case exp.Cast(this=exp.Column() as column) if len(column.parts) == 1:
            return str(column.name)
        case exp.Anonymous(expressions=[exp.Column() as column]) if (
            expr.name.lower() in CASTS and len(column.parts) == 1
        ):
            return str(column.name)
        case _:
            return ""


def _called(value: exp.Expr, name: str) -> exp.Expr:
    """Names a value by its place if it has no name of its own."""
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True)) if name else value


def _made_up(given: Given) -> str:
    if not given.shown:
        raise CannotTell("the name that Spark makes up for a column counts, and is not known here")
    return given.shown


def _declared(variable: exp.Expr, written: str) -> str:
    """The spellings by which a field may be called. Spark does not show which of two it takes: both count."""
    return variable.name if variable.name == written else f"{variable.name} {written}"


def _root(dot: exp.Expr) -> exp.Expr:
    while isinstance(dot, exp.Dot):
        dot = dot.this
    return dot
