"""One spelling for expressions of one meaning."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

Namer = Callable[[str, str], str]
"""The text of a column, given its operator's id and its name."""


def spell(node: "exp.Expr", named: Namer) -> str:
    """Equal texts mean equal values. It is no SQL."""
    from sqlglot import exp

    match node:
        case exp.Paren():
            return spell(node.this, named)
        case exp.Column():
            return named(node.table, node.name)
        case exp.Identifier():
            return node.name.lower()
        case exp.Literal():
            return repr(node.name) if node.is_string else node.name.lower()
        case exp.And() | exp.Or():
            operands = sorted({spell(part, named) for part in operands_of(node)})
            return f"{node.key}({', '.join(operands)})"
        case exp.EQ() | exp.NEQ() | exp.NullSafeEQ():
            return f"{node.key}({', '.join(sorted((spell(node.left, named), spell(node.right, named))))})"
        case exp.Anonymous():
            return f"{node.name.lower()}({', '.join(_arguments(node, named))})"
        case exp.Var():
            return node.name.lower()
        case exp.DataType():
            return str(node.sql(dialect="spark")).lower()
        case _:
            parts = [f"{key}={_value(value, named)}" for key, value in sorted(node.args.items()) if value not in (None, False, [])]
            return f"{node.key}<{', '.join(parts)}>"


def operands_of(node: "exp.Expr") -> "list[exp.Expr]":
    """``a AND (b AND c)`` as a, b, c; of anything else itself."""
    from sqlglot import exp

    inner = node
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.And | exp.Or):
        return [inner]
    kind = type(inner)
    found: list[exp.Expr] = []
    waiting: list[exp.Expr] = [inner]
    while waiting:
        part = waiting.pop()
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, kind):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found


def _arguments(call: "exp.Anonymous", named: Namer) -> list[str]:
    arguments = [spell(argument, named) for argument in call.expressions]
    return ["*"] if call.name.lower() == "count" and arguments in (["star<>"], ["1"]) else arguments


def _value(value: object, named: Namer) -> str:
    from sqlglot import exp

    if isinstance(value, exp.Expr):
        return spell(value, named)
    return f"[{', '.join(_value(item, named) for item in value)}]" if isinstance(value, list) else repr(value)
