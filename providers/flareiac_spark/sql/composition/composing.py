"""The common ground of the readers of all clauses: the operators made so far, and the way to other texts."""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from sqlglot import exp

from flareiac_spark.sql.composition.relation import Names, Relation
from flareiac_spark.sql.composition.resolve import Resolver
from flareiac_spark.sql.composition.scope import CannotTell, Scope
from flareiac_spark.sql.operators import Hint, Operator

_MOST: Final = 2_000
"""Operators of one query; more are not composed (a step that is read twice counts twice)."""

_Known = TypeVar("_Known", bound=Operator)
Resolve = Callable[[exp.Expr], exp.Expr]
"""Gives the columns in an expression their meaning."""


class Made:
    """The parts of a query so far: its operators by id, its hints, and the windows that it computes."""

    def __init__(self) -> None:
        self.operators: dict[str, Operator] = {}
        self.hints: list[Hint] = []
        self.windows: set[str] = set()
        """The windows that a projection computes: Spark makes rows of them, read or not."""
        self._count = 0

    def id(self, kind: str) -> str:
        """A new id. ``@`` stands in no name that Spark reads unquoted."""
        self._count += 1
        if self._count > _MOST:
            raise CannotTell("the query has too many parts")
        return f"@{kind}{self._count}"

    def known(self, operator: _Known) -> _Known:
        """The operator, which is found by its id from here on."""
        self.operators[operator.id] = operator
        return operator


class Composing(Protocol):
    """A composer, as the readers of clauses see it. All of it raises ``CannotTell``."""

    made: Made

    def query(self, tree: exp.Expr, names: Names) -> Relation:
        """The rows of a query, where these names have these meanings."""

    def named(self, parts: tuple[str, ...], names: Names) -> Relation:
        """The rows for which a name in FROM stands, its parts in lower case."""

    def resolver(self, scope: Scope, names: Names) -> Resolver:
        """Gives the columns of a SELECT their meaning, and those of the queries inside its expressions."""
