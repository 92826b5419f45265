"""An expression of one SELECT with every column resolved."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flareiac_spark.sql.functions import WINDOWS
from flareiac_spark.sql.scope import CannotTell, Scope

if TYPE_CHECKING:
    from sqlglot import exp

Aside = Callable[["exp.Expr", Scope], "exp.Expr"]
"""What stands for a query inside an expression."""


class Resolver:
    """``earlier``: the columns that the same SELECT has defined so far, which later ones may use where no relation gives the name."""

    def __init__(self, scope: Scope, aside: Aside) -> None:
        self._scope, self.aside = scope, aside
        self.earlier: dict[str, exp.Expr] = {}
        self.forbidden: set[str] = set()
        """Names that could mean two things."""
        self.windows: list[exp.Expr] = []
        """The window calls of GROUP BY, which give a column of their function's name."""

    def resolve(self, node: "exp.Expr") -> "exp.Expr":
        """A tree of its own. Raises ``CannotTell``."""
        from sqlglot import exp

        match node:
            case exp.Column(this=exp.Star()):
                raise CannotTell("a star inside an expression")
            case exp.Column():
                return self._column(node)
            case exp.Query():
                return self.aside(node, self._scope)
            case exp.Placeholder() | exp.Parameter() | exp.SessionParameter():
                raise CannotTell("a parameter in the SQL")
            case _:
                return self._rebuilt(node)

    def _rebuilt(self, node: "exp.Expr") -> "exp.Expr":
        arguments: dict[str, Any] = {}
        for name, value in node.args.items():
            if isinstance(value, list):
                arguments[name] = [each for item in value for each in self._listed(item, node)]
            else:
                arguments[name] = self._single(value)
        return type(node)(**arguments)

    def _listed(self, item: Any, parent: "exp.Expr") -> list[Any]:
        from sqlglot import exp

        is_star = isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))
        if not is_star:
            return [self._single(item)]
        if isinstance(parent, exp.Anonymous) and parent.name.lower() == "count" and isinstance(item, exp.Star):
            return [item.copy()]
        if isinstance(item, exp.Star) and any(item.args.values()):
            raise CannotTell("a star with exceptions inside an expression")
        qualifier = [part.name.lower() for part in item.parts[:-1]] if isinstance(item, exp.Column) else []
        sources = [source for source in self._scope.sources if not qualifier or source.answers(qualifier)]
        return [given.value("*") for source in sources for given in source.given]

    def _single(self, value: Any) -> Any:
        from sqlglot import exp

        return self.resolve(value) if isinstance(value, exp.Expr) else value

    def _column(self, column: "exp.Column") -> "exp.Expr":
        parts = [part.name.lower() for part in column.parts]
        if parts[0] in self.forbidden and not self._qualifies(parts):
            raise CannotTell(f"whether {parts[0]} is a column or an output is not known")
        defined = self.earlier.get(parts[0])
        if defined is not None and not self._scope.surely(parts[0]) and not self._qualifies(parts):
            return self._of_earlier(parts, defined)
        is_window = parts[0] in WINDOWS and not self._scope.surely(parts[0]) and not self._qualifies(parts)
        found = self._window(parts) if is_window else None
        if found is None:
            found = self._scope.find(parts)
        if found is None:
            raise CannotTell(f"what {'.'.join(parts)} means is not known")
        return found

    def _qualifies(self, parts: list[str]) -> bool:
        return len(parts) > 1 and any(source.answers(parts[:1]) for source in self._scope.sources)

    def _of_earlier(self, parts: list[str], defined: "exp.Expr") -> "exp.Expr":
        """Where a relation could give the name too, only Spark knows which is meant, unless the definition itself reads that column."""
        from sqlglot import exp

        if self._scope.maybe(parts[0]):
            found = self._scope.find(parts)
            if found is not None and any(column == found.find(exp.Column) for column in defined.find_all(exp.Column)):
                return found
            raise CannotTell(f"whether {parts[0]} is a column or the one defined beside it is not known")
        rest: exp.Expr = defined.copy()
        for name in parts[1:]:
            rest = exp.Dot(this=rest, expression=exp.to_identifier(name))
        return rest

    def _window(self, parts: list[str]) -> "exp.Expr | None":
        from sqlglot import exp

        calls = [call for call in self.windows if isinstance(call, exp.Anonymous) and call.name.lower() == parts[0]]
        if len(calls) != 1:
            return None
        found: exp.Expr = calls[0].copy()
        for name in parts[1:]:
            found = exp.Dot(this=found, expression=exp.to_identifier(name))
        return found
