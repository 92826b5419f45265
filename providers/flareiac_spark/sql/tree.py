"""The helpers by which the readers of SQL read sqlglot's trees. Pure."""

from collections.abc import Container
from typing import Any, Final, TypeGuard

from sqlglot import exp

_STEP: Final = "step"
"""In the meta of an expression: the step in which it was written."""
_WORDS: Final[dict[type[exp.Expr], str]] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentUser: "current_user",
    exp.SessionUser: "session_user",
}
COLUMNS_OR_FUNCTIONS: Final = tuple(_WORDS)
"""Functions that are written without brackets. Spark calls one only where no column has its name; sqlglot
reads the function wherever the word stands unquoted.
"""


def bare(expr: exp.Expr) -> exp.Expr:
    """Without parentheses."""
    while isinstance(expr, exp.Paren):
        expr = expr.this
    return expr


def unaliased(expr: exp.Expr) -> exp.Expr:
    """The expression that an item of SELECT computes."""
    return expr.this if isinstance(expr, exp.Alias | exp.Aliases) else expr


def column_or_function(node: exp.Expr) -> str | None:
    """The name, in lower case, of a column that one of ``COLUMNS_OR_FUNCTIONS`` may be; None where it has
    arguments.
    """
    return None if any(node.args.values()) else _WORDS.get(type(node))


def is_call(node: object, names: Container[str]) -> TypeGuard[exp.Anonymous]:
    """Returns True if the node calls one of these functions, in lower case."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in names


def is_star(node: object) -> bool:
    """``*`` or ``t.*``."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def column_of(giver: str, name: str) -> exp.Column:
    """A resolved column: that of an operator, by its id."""
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(giver, quoted=True))


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """The relations after FROM and JOIN, in order; empty in a query without FROM."""
    first = select.args.get("from_")
    return [] if first is None else [first.this, *(join.this for join in select.args.get("joins") or ())]


def joins_of(select: exp.Expr) -> list[exp.Join]:
    """The joins of one SELECT, in order."""
    return list(clause(select, "joins") or ())


def clause(node: exp.Expr, name: str) -> Any:
    """A part of a node by sqlglot's name of it; None where there is none."""
    return node.args.get(name) or None


def place_of(identifier: exp.Expr) -> tuple[int, int] | None:
    """The beginning and the end of a name in the text that was parsed; None where they are not known."""
    start, end = (identifier.meta.get(name) for name in ("start", "end"))
    return (start, end + 1) if isinstance(start, int) and isinstance(end, int) else None


def cte_names(tree: exp.Expr) -> frozenset[str]:
    """The names of the CTEs inside, in lower case."""
    return frozenset(cte.alias.lower() for cte in tree.find_all(exp.CTE))


def mark_step(expr: exp.Expr, step: str) -> None:
    """Remembers where an expression was written, unless that is known."""
    expr.meta.setdefault(_STEP, step)


def step_of(expr: exp.Expr, otherwise: str) -> str:
    """The step in which it was written."""
    return str(expr.meta.get(_STEP, otherwise))


def written_where(expr: exp.Column, meaning: exp.Expr) -> exp.Column:
    """A column that stands for an expression counts as written in the same step."""
    if _STEP in meaning.meta:
        expr.meta[_STEP] = meaning.meta[_STEP]
    return expr
