"""One of the two queries that are compared, with the names that the comparison gives its columns."""

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.differences.to_sql import to_sql
from flareiac_spark.sql.normalize import normalize
from flareiac_spark.sql.operators import Aggregate, Composed, Join, Scan, Symbol, Union, meanings
from flareiac_spark.sql.value_types import Buffer, buffer_of, type_of

Types = Callable[[str, str], str | None]
"""The type of a column, given the relation and the column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Written:
    """A query with the types of what it reads, and the order in which the writer takes its columns (empty: as
    they come).

    ``exact_names``: what reads it minds the case of a column's name.
    """

    composed: Composed
    types: Types
    columns: Sequence[str]
    exact_names: bool


class Side:
    """One of the two queries.

    The ids of operators differ between two queries that mean the same, so no text of an expression may hold
    one. ``names`` has the columns that were paired with one of the other side: both sides call them the same.
    A column without a partner is called by ``mark`` and its id, which no column of the other side is.
    """

    def __init__(self, written: Written, mark: str) -> None:
        self.composed, self.writes, self._types, self._mark = (
            written.composed,
            written.columns,
            written.types,
            mark,
        )
        self.exact_names = written.exact_names
        self.names: dict[Symbol, str] = {}
        self.meanings: dict[Symbol, exp.Expr] = {}
        """The expressions of an operator's columns that the other query does not have."""

    def text(self, expr: exp.Expr) -> str:
        """The text by which the expressions of both sides are compared. It is no SQL."""
        return normalize(expr, self._named)

    def _named(self, giver: str, name: str) -> str:
        if (known := self.names.get((giver, name))) is not None:
            return known
        if (meaning := self.meanings.get((giver, name))) is not None:
            return self.text(meaning)
        return f"{self.names.get((giver, '*'), self._mark + giver)}.{name}"

    def show(self, expr: exp.Expr) -> str:
        """The expression as short SQL for people."""
        return to_sql(expr, self.composed)

    def listed(self, exprs: Iterable[exp.Expr], between: str = ", ") -> str:
        """Several expressions as SQL for people."""
        return between.join(map(self.show, exprs))

    def buffer(self, call: exp.Expr) -> Buffer | None:
        """The types that the state keeps for an aggregate; None where they cannot be determined."""
        return buffer_of(call, self._type)

    def type(self, expr: exp.Expr) -> str | None:
        """The type of an expression; None where it cannot be determined."""
        return type_of(expr, self._type)

    def _type(self, giver: str, name: str) -> str | None:
        operator = self.composed.operators.get(giver)
        match operator:
            case Scan():
                return self._types(operator.relation, name)
            case Aggregate() | Join() | Union():
                types = {self.type(expr) for expr in meanings(operator, name)}
                return types.pop() if len(types) == 1 else None
            case _:
                return None
