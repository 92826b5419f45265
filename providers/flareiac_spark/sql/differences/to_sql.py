"""An expression of a composed query as short SQL for people."""

from typing import Final

from sqlglot import exp

from flareiac_spark.sql.operators import NESTED, Composed, meanings

_LONGEST: Final = 160


def to_sql(expr: exp.Expr, composed: Composed) -> str:
    """One line, cut at 160 characters."""
    text = " ".join(
        _readable(expr, composed).sql(dialect="spark", comments=False, normalize_functions="lower").split()
    )
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _readable(expr: exp.Expr, composed: Composed) -> exp.Expr:
    def plain(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return _column(node, composed)
        if isinstance(node, exp.Anonymous) and node.name == "@nullable":
            return _readable(node.expressions[0], composed)
        if isinstance(node, exp.Anonymous) and node.name in NESTED:
            return exp.Anonymous(this="query", expressions=[])
        if isinstance(node, exp.Anonymous) and isinstance(node.this, exp.Identifier):
            node.set("this", node.name)
        return node

    return expr.copy().transform(plain, copy=False)


def _column(column: exp.Column, composed: Composed) -> exp.Expr:
    made_of = meanings(composed.operators.get(column.table), column.name)
    if not made_of:
        return exp.Star() if column.name == "*" else exp.column(exp.to_identifier(column.name))
    expr = _readable(made_of[0], composed)
    return exp.paren(expr, copy=False) if isinstance(expr, exp.Binary) else expr
