"""Configurations in HCL's JSON form, made from the syntax tree. Pure."""

import json
import re
from decimal import Decimal
from typing import Any

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import (
    Body,
    Expression,
    Literal,
    ObjectConstructor,
    Parentheses,
    TupleConstructor,
    Unary,
)

_OPENING = re.compile(r"([$%])\{")


def json_form(hcl: str) -> dict[str, Any]:
    """The JSON form of a file: blocks below their types and labels, expressions as ``${...}``. Raises
    ``ValueError`` for what is no HCL.
    """
    diagnostics = Diagnostics()
    body = parse_file(Source("main.flare.hcl", hcl), diagnostics)
    if diagnostics.has_errors:
        raise ValueError([str(each) for each in diagnostics])
    return _body(body, hcl)


def _body(body: Body, text: str) -> dict[str, Any]:
    out: dict[str, Any] = {attribute.name: _value(attribute.expr, text) for attribute in body.attributes}
    for block in body.blocks:
        *before, last = (block.type, *block.labels)
        place = out
        for name in before:
            place = place.setdefault(name, {})
        place.setdefault(last, []).append(_body(block.body, text))
    return out


def _value(expression: Expression, text: str) -> Any:
    match expression:
        case Literal(value=str(value)):
            return _OPENING.sub(r"\1\1{", value)
        case Literal(value=Decimal() as number):
            return json.loads(str(number))
        case Literal(value=value):
            return value
        case Unary(operator="-", operand=Literal(value=Decimal() as number)):
            return json.loads(f"-{number}")
        case TupleConstructor(items=items):
            return [_value(each, text) for each in items]
        case ObjectConstructor(items=items) if all(each.name is not None for each in items):
            return {str(each.name): _value(each.value, text) for each in items}
        case Parentheses(inner=inner):
            return _value(inner, text)
        case _:
            return f"${{{text[expression.start : expression.end]}}}"
