"""A query as operators over rows: filters and projections melted together, what holds state on its own.

Every expression is a sqlglot tree whose columns are resolved: ``table`` is the id of the operator that gives
the column, ``this`` its name there. The lists are filled while a query is composed and cut down to what is
read (``prune``); nothing changes them later.
"""

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass

Symbol = tuple[str, str]
"""Operator id and column name."""
NESTED: Final = ("@query", "@random_query")
"""The calls that stand for a query inside of an expression."""


@dataclass(slots=True, kw_only=True, eq=False)
class NamedExpr:
    """A named expression. ``given``: its name among the outputs where that is known."""

    name: str
    expr: exp.Expr
    step: str
    given: str = ""
    place: tuple[int, str] = (0, "")


@dataclass(slots=True, kw_only=True, eq=False)
class Condition:
    """One operand of a filter's AND. ``moved``: written above the operator that it now stands below, as
    Spark's optimizer moves it.
    """

    expr: exp.Expr
    step: str
    moved: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Block:
    """The rows of an operator that pass all filters."""

    base: "Operator"
    filters: list[Condition] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False)
class Scan:
    id: str
    step: str
    relation: str
    streams: bool


@dataclass(slots=True, kw_only=True, eq=False)
class _OverOne:
    """An operator that works on the rows of one other operator."""

    id: str
    step: str
    input: Block

    @property
    def streams(self) -> bool:
        return self.input.base.streams


@dataclass(slots=True, kw_only=True, eq=False)
class Aggregate(_OverOne):
    """Also DISTINCT (all columns are keys). ``sets``: the text of ROLLUP, CUBE or GROUPING SETS."""

    keys: list[NamedExpr]
    calls: list[NamedExpr]
    distinct: bool = False
    sets: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Dedup(_OverOne):
    keys: list[NamedExpr]


@dataclass(slots=True, kw_only=True, eq=False)
class Join:
    """``stateful``: of two streams, which hands on the ``kept`` columns of its sides and nothing else.
    ``place`` of a kept column begins with 0 on the left and 1 on the right.
    """

    id: str
    step: str
    left: Block
    right: Block
    kind: str
    keys: list[tuple[exp.Expr, exp.Expr]] = field(default_factory=list)
    rest: list[Condition] = field(default_factory=list)
    order: list[exp.Expr] = field(default_factory=list)
    """Equations and other conditions as they follow each other."""
    kept: list[NamedExpr] = field(default_factory=list)
    unsure: list[Condition] = field(default_factory=list)
    """Filters above an outer join that may turn it into an inner one."""

    @property
    def streams(self) -> bool:
        return self.left.base.streams or self.right.base.streams

    @property
    def stateful(self) -> bool:
        return self.left.base.streams and self.right.base.streams

    @property
    def input(self) -> Block:
        """The side of a join with a table that streams."""
        return self.right if self.right.base.streams and not self.left.base.streams else self.left

    @property
    def table(self) -> Block:
        return self.left if self.input is self.right else self.right


@dataclass(slots=True, kw_only=True, eq=False)
class UnionColumn:
    name: str
    exprs: list[exp.Expr]


@dataclass(slots=True, kw_only=True, eq=False)
class Union:
    """``kind``: union (which keeps every row), except or intersect, or one of these with ``all``."""

    id: str
    step: str
    kind: str
    inputs: list[Block]
    columns: list[UnionColumn]

    @property
    def streams(self) -> bool:
        return any(block.base.streams for block in self.inputs)


@dataclass(slots=True, kw_only=True, eq=False)
class Compute(_OverOne):
    """Values whose place of evaluation counts: OVER, random ones."""

    values: list[NamedExpr]


@dataclass(slots=True, kw_only=True, eq=False)
class Generate(_OverOne):
    """Rows out of one row: explode and the like. Its columns are named by their place."""

    call: exp.Expr
    outer: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Limit(_OverOne):
    count: exp.Expr


@dataclass(slots=True, kw_only=True, eq=False)
class Sort(_OverOne):
    keys: list[exp.Expr]


Operator = Scan | Aggregate | Dedup | Join | Union | Compute | Generate | Limit | Sort


@dataclass(slots=True, kw_only=True, eq=False)
class Output:
    """``name`` "*" with an expression of the same name: every column of a relation whose columns are not
    known, but ``without``. ``shown``: the name in the case in which Spark shows it.
    """

    name: str
    shown: str
    expr: exp.Expr
    step: str
    without: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True, eq=False)
class Hint:
    """The hint for the way in which Spark joins the relations that a SELECT reads."""

    text: str
    step: str


@dataclass(slots=True, kw_only=True, eq=False)
class Composed:
    """A whole query, its operators also by id."""

    block: Block
    outputs: list[Output]
    operators: dict[str, Operator]
    hints: list[Hint] = field(default_factory=list)


def holds_state(operator: Operator) -> bool:
    match operator:
        case Aggregate() | Dedup():
            return operator.streams
        case Limit():
            # Of grouped rows that are all written again each time a limit keeps no count; of others it does.
            return operator.streams and not any(
                isinstance(each, Aggregate) for each in all_below(operator.input.base)
            )
        case Join():
            return operator.stateful
        case Scan() | Union() | Compute() | Generate() | Sort():
            return False


def below(operator: Operator) -> list[Block]:
    match operator:
        case Scan():
            return []
        case Join():
            return [operator.left, operator.right]
        case Union():
            return operator.inputs
        case _:
            return [operator.input]


def all_below(operator: Operator) -> Iterator[Operator]:
    """The operator and everything that feeds it."""
    yield operator
    for block in below(operator):
        yield from all_below(block.base)


def givers(operator: Operator) -> set[str]:
    """The ids under which the columns of an operator's rows are known."""
    match operator:
        case Scan() | Aggregate() | Union():
            return {operator.id}
        case Join(stateful=True):
            return {operator.id}
        case Join():
            return givers(operator.left.base) | givers(operator.right.base)
        case Compute() | Generate():
            return {operator.id} | givers(operator.input.base)
        case Dedup() | Limit() | Sort():
            return givers(operator.input.base)


def symbols_in(expr: exp.Expr) -> set[Symbol]:
    return {(column.table, column.name) for column in expr.find_all(exp.Column)}


def prune(composed: Composed) -> None:
    """Drops what nothing above reads, as Spark does: an unread aggregate is not in the state."""
    used: set[Symbol] = set()
    for output in composed.outputs:
        used |= symbols_in(output.expr)
    _prune(composed.block, used)


def _prune(block: Block, used: set[Symbol]) -> None:
    for condition in block.filters:
        used |= symbols_in(condition.expr)
    operator = block.base
    if isinstance(operator, Join):
        # What it compares is kept of its sides
        for expr in (
            *(side for pair in operator.keys for side in pair),
            *(condition.expr for condition in operator.rest),
        ):
            used |= symbols_in(expr)
    _drop_unread(operator, used)
    for expr in read_by(operator):
        used |= symbols_in(expr)
    for each in below(operator):
        _prune(each, used)


def _drop_unread(operator: Operator, used: set[Symbol]) -> None:
    def is_read(column: NamedExpr | UnionColumn) -> bool:
        return (operator.id, column.name) in used

    match operator:
        case Aggregate():
            operator.calls = list(filter(is_read, operator.calls))
        case Join():
            operator.kept = list(filter(is_read, operator.kept))
        case Union(kind="union"):
            operator.columns = list(filter(is_read, operator.columns))
        case Compute():
            operator.values = list(filter(is_read, operator.values))
        case _:
            pass  # what others give is what they read or compare


def read_by(operator: Operator) -> list[exp.Expr]:
    """The expressions that an operator makes its rows of."""
    match operator:
        case Aggregate():
            return [named_expr.expr for named_expr in (*operator.keys, *operator.calls)]
        case Dedup():
            return [key.expr for key in operator.keys]
        case Join():
            return [named_expr.expr for named_expr in operator.kept]
        case Union():
            return [expr for column in operator.columns for expr in column.exprs]
        case Compute():
            return [named_expr.expr for named_expr in operator.values]
        case Generate():
            return [operator.call]
        case Sort():
            return operator.keys
        case Scan() | Limit():
            return []


def meanings(operator: Operator | None, name: str) -> list[exp.Expr]:
    """The expressions of which a column that an operator gives is made: in a union one of each input, in a
    relation none.
    """
    match operator:
        case Aggregate():
            named_exprs = [*operator.keys, *operator.calls]
        case Join():
            named_exprs = operator.kept
        case Compute():
            named_exprs = operator.values
        case Union():
            return next((column.exprs for column in operator.columns if column.name == name), [])
        case Generate():
            return [operator.call]
        case _:
            return []
    return [named_expr.expr for named_expr in named_exprs if named_expr.name == name][:1]
