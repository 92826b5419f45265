"""One text for expressions that are written alike, wherever their columns come from.

Other spellings of one value are not known here: that two texts mean the same is for Spark's plans to prove.
"""

from collections.abc import Callable

from sqlglot import exp

from flareiac_spark.sql.functions import UNSTABLE
from flareiac_spark.sql.tree import is_call

Namer = Callable[[str, str], str]
"""The text of a column, given its operator's id and its name."""


def normalize(node: exp.Expr, named: Namer) -> str:
    """Equal texts mean equal values. It is no SQL."""
    match node:
        case exp.Paren():
            return normalize(node.this, named)
        case exp.Column():
            return named(node.table, node.name)
        case exp.Identifier():
            return node.name
        case exp.Literal(is_string=True):
            return repr(node.name)
        case exp.DataType():
            return str(node.sql(dialect="spark"))  # names of fields in their case
        case exp.Literal() | exp.Var():
            return node.name.lower()
        case exp.And() | exp.Or():
            operands = (normalize(part, named) for part in operands_of(node))
            return f"{node.key}({', '.join(operands)})"
        case exp.Anonymous():
            arguments = (normalize(argument, named) for argument in node.expressions)
            return f"{node.name.lower()}({', '.join(arguments)})"
        case exp.Alias():
            return f"{normalize(node.this, named)} as {node.alias!r}"
        case _:
            return f"{node.key}<{', '.join(_parts(node, named))}>"


def _parts(node: exp.Expr, named: Namer) -> list[str]:
    """The parts of a node, without those that are not written."""
    return [
        f"{key}={_value(value, named)}"
        for key, value in sorted(node.args.items())
        if value not in (None, False, [])
    ]


def _value(value: object, named: Namer) -> str:
    if isinstance(value, exp.Expr):
        return normalize(value, named)
    return (
        f"[{', '.join(_value(element, named) for element in value)}]"
        if isinstance(value, list)
        else repr(value)
    )


def same_text(expr: exp.Expr) -> str:
    """Equal texts mean equal values of the same operators' columns."""
    return normalize(expr, lambda giver, name: f"{giver}.{name}")


def operands_of(node: exp.Expr) -> list[exp.Expr]:
    """``a AND (b AND c)`` as a, b, c, in their order; of anything else itself."""
    inner = node
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.And | exp.Or):
        return [inner]
    kind = type(inner)
    operands: list[exp.Expr] = []
    waiting: list[exp.Expr] = [inner]
    while waiting:
        part = waiting.pop()
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, kind):
            waiting += [part.right, part.left]
        else:
            operands.append(part)
    return operands


def is_stable(expr: exp.Expr) -> bool:
    """True where it does not matter how often and where it is evaluated."""
    return not any(is_call(call, UNSTABLE) for call in expr.find_all(exp.Anonymous))
