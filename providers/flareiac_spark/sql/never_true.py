"""Recognizes conditions that let no row through, whatever the row holds."""

from collections.abc import Sequence

from sqlglot import exp

from flareiac_spark.sql.negation import is_stable
from flareiac_spark.sql.normalize import same_text
from flareiac_spark.sql.operators import Condition
from flareiac_spark.sql.scope import TYPE
from flareiac_spark.sql.tree import bare


def settles(condition: exp.Expr, others: Sequence[Condition], feeds_state: bool) -> bool:
    """Whether no row comes through, whatever the others ask.

    Spark asks a comparison before the watermark sees the rows, but not beside what is random. What the
    watermark is decides about state.
    """
    if _is_false(condition):
        return True
    return _is_contradiction(condition) and (not feeds_state or all(is_stable(each.expr) for each in others))


def _is_false(condition: exp.Expr) -> bool:
    match bare(condition):
        case exp.Boolean(this=value):
            return not value
        case exp.Not(this=exp.Boolean(this=value)):
            return bool(value)
        case found:
            return isinstance(found, exp.Null)


def _is_contradiction(condition: exp.Expr) -> bool:
    """``a <> a`` or ``a < a``: NaN equals NaN, and a comparison with null is null. Not of times: the
    watermark is made of one.
    """
    found = bare(condition)
    if not isinstance(found, exp.NEQ | exp.NullSafeNEQ | exp.LT | exp.GT) or not is_stable(found):
        return False
    kinds = [str(column.meta.get(TYPE, "")) for column in found.find_all(exp.Column)]
    if not kinds or any(not kind or kind.startswith("timestamp") for kind in kinds):
        return False
    return same_text(found.left) == same_text(found.right)
