"""The type of an expression, and the types of an aggregate's state. Types as Iceberg spells them, and byte
and short.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

ColumnType = Callable[[str, str], str | None]
"""The type of a column, given its operator's id and its name."""
Buffer = tuple[str, ...]
"""The types that an aggregate keeps, and what it makes of them."""

COUNT: Final = "long without nulls"
_WHOLE: Final = ("byte", "short", "int", "long")
CASTS: Final[Mapping[str, str]] = {
    "tinyint": "byte",
    "smallint": "short",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
    "binary": "binary",
}
"""The types that CAST names, in Spark's words."""
_TEXTS: Final = frozenset(
    """upper lower ucase lcase concat concat_ws trim ltrim rtrim substring substr date_format replace
    regexp_replace initcap""".split()  # noqa: SIM905 - one name a word
)
_NUMBERS: Final = frozenset(
    """length char_length year quarter month day dayofmonth dayofweek dayofyear weekofyear hour minute
    second datediff""".split()  # noqa: SIM905 - one name a word
)
_DATES: Final = frozenset(["date", "to_date", "date_add", "date_sub", "last_day", "current_date", "trunc"])
_TIMES: Final = frozenset(["date_trunc", "current_timestamp", "now"])
_SAME_VALUE: Final = {
    "max": "one",
    "min": "one",
    "first": "seen",
    "last": "seen",
    "any_value": "seen",
    "first_value": "seen",
    "last_value": "seen",
}
"""These keep one value of their argument's type; the latter also whether there was one."""


def type_of(expr: exp.Expr, column: ColumnType) -> str | None:
    """None: it cannot be determined here."""
    match expr:
        case exp.Column():
            return column(expr.table, expr.name)
        case exp.Paren() | exp.Neg():
            return type_of(expr.this, column)
        case exp.Cast():
            return cast_type(expr.args["to"].sql(dialect="spark").lower())
        case exp.Literal():
            return "string" if expr.is_string else _number(expr.name)
        case exp.Boolean() | exp.Predicate() | exp.Not() | exp.And() | exp.Or():
            return "boolean"
        case exp.Add() | exp.Sub() | exp.Mul():
            return _wider(type_of(expr.left, column), type_of(expr.right, column))
        case exp.Div():
            types = {type_of(expr.left, column), type_of(expr.right, column)}
            return "double" if types <= {*_WHOLE, "double"} else None
        case exp.DPipe() | exp.Concat():
            return "string"
        case exp.Anonymous():
            return _call(expr, column)
        case _:
            return None


def buffer_of(call: exp.Expr, column: ColumnType) -> Buffer | None:
    """The buffer that an aggregate keeps for each group. Equal buffers: Spark takes one for the other. None:
    it cannot be determined here.
    """
    while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        call = call.this
    if not isinstance(call, exp.Anonymous) or any(
        isinstance(each, exp.Distinct) for each in call.expressions
    ):
        return None
    name, argument = call.name.lower(), call.expressions[0] if call.expressions else None
    if name in ("count", "count_if", "regr_count"):
        return (COUNT,)
    if argument is None:
        return None
    value_type = type_of(argument, column)
    if name in _SAME_VALUE:
        kept = value_type or f"type of {argument.sql(dialect='spark')}"
        return (kept, "boolean") if _SAME_VALUE[name] == "seen" else (kept,)
    return _numeric_buffer(name, value_type)


def same_buffer(old: Buffer | None, new: Buffer | None) -> bool | None:
    """Returns True if Spark goes on from the old buffer with the new aggregate. None: it cannot be
    determined.

    State that never held nulls is not taken for what may hold some (``count`` to ``sum``); the other way
    round it is.
    """
    if old is None or new is None:
        return None
    if old == (COUNT,) and new != old:
        return False
    old, new = (tuple("long" if each == COUNT else each for each in side) for side in (old, new))
    if len(old) != len(new):
        return False
    if old == new:
        return True
    return None if any(each.startswith("type of ") for each in (*old, *new)) else False


def _numeric_buffer(name: str, value_type: str | None) -> Buffer | None:
    match name, value_type:
        case "sum", "byte" | "short" | "int" | "long":
            return ("long",)
        case "sum", "float" | "double":
            return ("double",)
        case "sum", str() if size := re.fullmatch(r"decimal\((\d+), ?(\d+)\)", value_type):
            return (f"decimal({min(38, int(size[1]) + 10)},{size[2]})", "boolean")
        case "avg" | "mean", "byte" | "short" | "int" | "long" | "float" | "double":
            return ("double", "long")
        case "bool_and" | "every" | "bool_or" | "some" | "any", _:
            return ("boolean",)
        case "bit_and" | "bit_or" | "bit_xor", str():
            return (value_type,)
        case _:
            return None


def _call(call: exp.Anonymous, column: ColumnType) -> str | None:
    name = call.name.lower()
    for names, result in ((_TEXTS, "string"), (_NUMBERS, "int"), (_DATES, "date"), (_TIMES, "timestamptz")):
        if name in names:
            return result
    if name in ("window", "session_window"):
        return f"struct of {name}"
    if name in ("coalesce", "nvl", "ifnull", "nullif", "abs", "greatest", "least", *_SAME_VALUE):
        types = {type_of(argument, column) for argument in call.expressions}
        return types.pop() if len(types) == 1 else None
    if (
        buffer := _numeric_buffer(name, type_of(call.expressions[0], column) if call.expressions else None)
    ) and name == "sum":
        return buffer[0]
    return (
        "long" if name in ("count", "count_if") else "double" if buffer and name in ("avg", "mean") else None
    )


def cast_type(written: str) -> str | None:
    """The type that CAST names, in lower case as Spark spells it."""
    if decimal := re.fullmatch(r"decimal(?:\((\d+)(?:, ?(\d+))?\))?", written):
        return f"decimal({decimal[1] or 10},{decimal[2] or 0})"
    return CASTS.get(written)


def _number(written: str) -> str | None:
    if written.isdecimal():
        if len(written) > 19:
            return None
        return "int" if int(written) < 2**31 else "long" if int(written) < 2**63 else None
    return "double" if "e" in written.lower() else None


def _wider(left: str | None, right: str | None) -> str | None:
    if left in _WHOLE and right in _WHOLE:
        return _WHOLE[max(_WHOLE.index(left), _WHOLE.index(right))]
    if left == right == "float":
        return "float"
    return "double" if "double" in (left, right) and {left, right} <= {*_WHOLE, "float", "double"} else None
