"""An expression of a composed query as short SQL for people."""

from typing import Final

from sqlglot import exp

from flareiac_spark.sql.operators import Aggregate, Composed, Compute, Generate, Join, Union

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
        if isinstance(node, exp.Anonymous) and node.name in ("@query", "@random_query"):
            return exp.Anonymous(this="query", expressions=[])
        if isinstance(node, exp.Anonymous) and isinstance(node.this, exp.Identifier):
            node.set("this", node.name)
        return node

    return expr.copy().transform(plain, copy=False)


def _column(column: exp.Column, composed: Composed) -> exp.Expr:
    operator = composed.operators.get(column.table)
    meaning: exp.Expr | None = None
    match operator:
        case Aggregate():
            meaning = next(
                (item.expr for item in (*operator.keys, *operator.calls) if item.name == column.name), None
            )
        case Join():
            meaning = next((item.expr for item in operator.kept if item.name == column.name), None)
        case Compute():
            meaning = next((item.expr for item in operator.items if item.name == column.name), None)
        case Union():
            meaning = next((each.exprs[0] for each in operator.columns if each.name == column.name), None)
        case Generate():
            meaning = operator.call
        case _:
            pass
    if meaning is None:
        return exp.Star() if column.name == "*" else exp.column(exp.to_identifier(column.name))
    found = _readable(meaning, composed)
    return exp.paren(found, copy=False) if isinstance(found, exp.Binary) else found
