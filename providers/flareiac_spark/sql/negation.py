"""Removes NOT in front of an expression that has an opposite, as Spark's optimizer does."""

from sqlglot import exp

from flareiac_spark.sql.functions import UNSTABLE
from flareiac_spark.sql.tree import bare, is_call


def negated(expr: exp.Expr) -> exp.Expr:
    """``NOT (a < b)`` is ``a >= b``, ``NOT (a OR b)`` is ``NOT a AND NOT b``: also of nulls."""
    opposite: dict[type[exp.Expr], type[exp.Expr]] = {
        exp.LT: exp.GTE,
        exp.LTE: exp.GT,
        exp.GT: exp.LTE,
        exp.GTE: exp.LT,
        exp.EQ: exp.NEQ,
        exp.NullSafeEQ: exp.NullSafeNEQ,
        exp.NullSafeNEQ: exp.NullSafeEQ,
        exp.NEQ: exp.EQ,
    }
    match bare(expr):
        case exp.Not(this=inner):
            return bare(inner)
        case (
            exp.LT()
            | exp.LTE()
            | exp.GT()
            | exp.GTE()
            | exp.EQ()
            | exp.NEQ()
            | exp.NullSafeEQ()
            | exp.NullSafeNEQ() as found
        ):
            return opposite[type(found)](this=found.left, expression=found.right)
        case exp.And() | exp.Or() as found if is_stable(found):
            kind = exp.Or if isinstance(found, exp.And) else exp.And
            return exp.Paren(this=kind(this=negated(found.left), expression=negated(found.right)))
        case found:
            return exp.Not(this=exp.Paren(this=found) if isinstance(found, exp.And | exp.Or) else found)


def is_stable(expr: exp.Expr) -> bool:
    """Whether it does not matter how often and where it is evaluated."""
    return not any(is_call(call, UNSTABLE) for call in expr.find_all(exp.Anonymous))
