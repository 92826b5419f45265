"""The time windows of a query. Spark makes rows of a window where it is computed, read or not."""

from sqlglot import exp

from flareiac_spark.sql.functions import WINDOWS
from flareiac_spark.sql.normalize import same_text
from flareiac_spark.sql.operators import Composed, all_below, read_by
from flareiac_spark.sql.tree import is_call


def windows_in(expr: exp.Expr) -> set[str]:
    """The windows that an expression computes, as text."""
    return {same_text(call) for call in expr.find_all(exp.Anonymous) if is_call(call, WINDOWS)}


def windows_of(composed: Composed) -> set[str]:
    """The windows that an output, or the key or column of an operator, is made of."""
    exprs = [output.expr for output in composed.outputs]
    exprs += [expr for operator in all_below(composed.block.base) for expr in read_by(operator)]
    return set().union(*map(windows_in, exprs))
