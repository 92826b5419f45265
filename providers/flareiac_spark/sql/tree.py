"""What the readers of SQL ask of sqlglot's trees. Pure."""

from collections.abc import Container
from typing import Final, TypeGuard

from sqlglot import exp

_STEP: Final = "step"
"""In the meta of an expression: the step in which it was written."""


def bare(expr: exp.Expr) -> exp.Expr:
    """Without parentheses."""
    while isinstance(expr, exp.Paren):
        expr = expr.this
    return expr


def unaliased(item: exp.Expr) -> exp.Expr:
    """What an item of SELECT computes."""
    return item.this if isinstance(item, exp.Alias | exp.Aliases) else item


def is_call(node: object, names: Container[str]) -> TypeGuard[exp.Anonymous]:
    """Whether it calls one of these functions, in lower case."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in names


def is_star(item: object) -> bool:
    """``*`` or ``t.*``."""
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def column_of(giver: str, name: str) -> exp.Column:
    """A resolved column: that of an operator, by its id."""
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(giver, quoted=True))


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """What stands after FROM and JOIN, in order; nothing in a query without FROM."""
    first = select.args.get("from_")
    return [] if first is None else [first.this, *(join.this for join in select.args.get("joins") or ())]


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
