"""Replaces an expression by a simpler one of the same value.

Spark's optimizer simplifies only after it has distinguished what is grouped by: two keys that become one
expression stay two keys of the state. So a simplified expression remembers what it was (``origins``), and who
takes equal expressions for one compares that too.
"""

from typing import Final

from sqlglot import exp

from flareiac_spark.sql.functions import WINDOWS
from flareiac_spark.sql.negation import is_stable
from flareiac_spark.sql.normalize import same_text
from flareiac_spark.sql.scope import TYPE
from flareiac_spark.sql.tree import bare, is_call

_WAS: Final = "was"
_ARRAYS_OF_ARRAYS: Final = frozenset({"array_distinct", "array_sort", "filter", "reverse", "transform"})
"""Functions that make an array of their first argument, null only where that is null."""


def simplified(expr: exp.Expr) -> exp.Expr:
    """Of an expression whose parts are resolved and simplified."""
    match expr:
        case exp.If() | exp.Case():
            found = _only_value(expr)
        case exp.ILike(expression=exp.Literal(is_string=True) as pattern) if (
            pattern.name.isascii() and "\\" not in pattern.name
        ):
            # Both sides are lowered
            found = exp.ILike(this=expr.this.copy(), expression=exp.Literal.string(pattern.name.lower()))
        case exp.Anonymous(expressions=[argument]) if is_call(expr, ("array_size",)) and _is_array(argument):
            # They differ only in what they make of null
            found = exp.Anonymous(this="size", expressions=[argument.copy()])
        case _:
            return expr
    if found is None or same_text(found) == same_text(expr):
        return expr
    found.meta[_WAS] = same_text(expr)
    return found


def origins(expr: exp.Expr) -> list[str]:
    """What the simplified parts of an expression were."""
    return [node.meta[_WAS] for node in expr.walk() if _WAS in node.meta]


def _only_value(choice: exp.Expr) -> exp.Expr | None:
    """The value that every branch gives: the conditions are not asked then."""
    last = choice.args.get("default" if isinstance(choice, exp.Case) else "false")
    values = (
        [each.args["true"] for each in choice.args["ifs"]]
        if isinstance(choice, exp.Case)
        else [choice.args["true"]]
    )
    if last is None or not is_stable(choice) or _may_have_watermark(bare(last)):
        return None
    text = same_text(last)
    return bare(last).copy() if all(same_text(value) == text for value in values) else None


def _may_have_watermark(value: exp.Expr) -> bool:
    """A time that is chosen by a condition has no watermark, though the column has one."""
    match value:
        case exp.Column():
            kind = str(value.meta.get(TYPE, ""))
            return not kind or kind.startswith("timestamp")
        case exp.Anonymous():
            return is_call(value, WINDOWS) or value.name.startswith("@")
        case exp.Literal() | exp.Boolean() | exp.Binary():
            return isinstance(value, exp.Dot)
        case _:
            return True


def _is_array(expr: exp.Expr) -> bool:
    """Whether it surely is an array and never null."""
    call = bare(expr)
    if is_call(call, _ARRAYS_OF_ARRAYS) and call.expressions:
        return _is_array(call.expressions[0])
    return is_call(call, ("array",))
