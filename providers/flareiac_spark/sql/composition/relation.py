"""Rows while they are composed, and the names that a text sees."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.composition.scope import CannotTell, Given, Scope
from flareiac_spark.sql.operators import Block, Output
from flareiac_spark.sql.tree import column_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relation:
    """Rows, and the columns that can be read of them."""

    block: Block
    given: list[Given]

    @property
    def is_open(self) -> bool:
        """True if some of the columns are not known."""
        return any(each.open for each in self.given)

    @property
    def outputs(self) -> list[Output]:
        """The columns as those that come out of a query."""
        return [
            Output(
                name=each.name, shown=each.shown, expr=each.value("*"), step=each.step, without=each.without
            )
            for each in self.given
        ]

    def renamed(self, columns: Sequence[str]) -> "Relation":
        """Under the names that an alias gives the columns; as it is where there are none."""
        if not columns:
            return self
        if self.is_open or len(columns) != len(self.given):
            raise CannotTell("the columns that an alias renames are not known")
        given = [
            replace(each, name=name.lower(), shown=name)
            for name, each in zip(columns, self.given, strict=True)
        ]
        return Relation(block=self.block, given=given)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """The meanings of relation names where a query stands: CTEs (each with the names that it sees itself),
    then steps and inputs.

    ``step``: the one whose text is read. ``steps``: those being composed, so that none reads itself.
    ``outer``: what a query inside an expression sees of the query around it.
    """

    step: str
    steps: tuple[str, ...] = ()
    ctes: "Mapping[str, tuple[exp.Expr, Names, Sequence[str]]]"
    outer: Scope | None = None

    def with_ctes(self, tree: exp.Expr) -> "Names":
        """The names that the query behind a WITH clause sees. A CTE sees those before it."""
        clause = tree.args.get("with_")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            raise CannotTell("a recursive query is not read here")
        ctes = dict(self.ctes)
        for cte in clause.expressions:
            ctes[cte.alias.lower()] = (cte.this, replace(self, ctes=dict(ctes)), cte.alias_column_names)
        return replace(self, ctes=ctes)


def given_by(giver: str, column: str, shown: str, step: str, place: int) -> Given:
    """A column of an operator, under the name by which a query reads it."""
    expr = column_of(giver, column)
    return Given(name=shown.lower(), shown=shown, expr=expr, step=step, place=(place, ""))
