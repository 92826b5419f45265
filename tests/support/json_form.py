"""Native HCL as HCL's JSON form: what a generator would write that knows the schema."""

import json
from decimal import Decimal
from typing import Any

from flareiac.app.discovery import installed
from flareiac.config.configuration_form import ConfigurationForm
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.json_body import BodyForm
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import (
    BlockNode,
    Body,
    Expression,
    Literal,
    ObjectConstructor,
    Template,
    TupleConstructor,
    Unary,
    Variable,
    literal_text,
)
from flareiac.lang.written import Reading


def json_form(hcl: str) -> dict[str, Any]:
    """The JSON form of a file as one object: blocks below their types and labels, each in an array. Raises
    ``ValueError`` for what is no HCL, or cannot be said in JSON.
    """
    text = hcl if hcl.startswith("{") else _text(_body(_read(hcl), _form()))
    document: dict[str, Any] = json.loads(text)
    return document


def json_text(hcl: str) -> str:
    """The JSON form of a file, with an object for each block, since a plan keeps their order. Raises as
    ``json_form`` does.
    """
    objects: list[dict[str, Any]] = []
    for block in _read(hcl).blocks:
        objects.append({"//": "a comment"})
        _put(objects[-1], block, _form())
    return _text(objects)


def _form() -> ConfigurationForm:
    return ConfigurationForm(installed().registry.types)


def _read(hcl: str) -> Body:
    diagnostics = Diagnostics()
    body = parse_file(Source("main.flare.hcl", hcl), diagnostics, cache=False)
    if diagnostics.has_errors or body.attributes:
        raise ValueError([str(each) for each in diagnostics])
    return body


def _text(value: Any) -> str:
    """As ``json.dumps``, with all digits of numbers."""
    match value:
        case Decimal():
            return str(value)
        case dict():
            members = (f"{json.dumps(name)}: {_text(member)}" for name, member in value.items())
            return "{" + ",\n".join(members) + "}"
        case list():
            return "[" + ",\n".join(map(_text, value)) + "]"
        case _:
            return json.dumps(value)


def _body(body: Body, form: BodyForm) -> dict[str, Any]:
    content: dict[str, Any] = {"//": "a comment"}
    for attribute in body.attributes:
        reading = form.reading(attribute.name) or Reading.TEMPLATE
        content[attribute.name] = _value(attribute.expr, reading)
    for block in body.blocks:
        _put(content, block, form)
    return content


def _put(content: dict[str, Any], block: BlockNode, form: BodyForm) -> None:
    """Blocks of one type in an array where they have no label, below their labels otherwise."""
    kind = form.block(block.type)
    inside = _body(block.body, kind.body(block.labels[0] if block.labels else "")) if kind else {}
    names = [block.type, *block.labels]
    if kind is not None and kind.labels != len(block.labels):
        raise ValueError("JSON cannot say that")
    for name in names[:-1]:
        content = content.setdefault(name, {})
    content.setdefault(names[-1], []).append(inside)


def _value(expr: Expression, reading: Reading) -> Any:
    match expr:
        case Literal(value=str()) if reading is Reading.CODE:
            raise ValueError("JSON cannot say that")
        case Literal(value=str(text)):
            return _escaped(text) if reading is Reading.TEMPLATE else text
        case Literal(value=Decimal() as number):
            return number
        case Literal(value=value):
            return value
        case Unary(operator="-", operand=Literal(value=Decimal() as number)):
            return -number
        case TupleConstructor(items=items):
            return [_value(each, reading) for each in items]
        case ObjectConstructor(items=items) if _has_plain_names(expr):
            return {str(each.name): _value(each.value, reading) for each in items}
        case _ if reading is Reading.LITERAL:
            raise ValueError("JSON cannot say that")
        case Template(parts=parts) if all(isinstance(part, str | Expression) for part in parts):
            texts = [_escaped(part) if isinstance(part, str) else f"${{{_source(part)}}}" for part in parts]
            return "".join(texts)
        case _ if reading is Reading.CODE:
            return _source(expr)
        case _:
            return f"${{{_source(expr)}}}"


def _has_plain_names(expr: ObjectConstructor) -> bool:
    names = [each.name for each in expr.items]
    plain = all(isinstance(each.key, Variable) or literal_text(each.key) is not None for each in expr.items)
    return plain and len(set(names)) == len(names) and not any("{" in str(name) for name in names)


def _escaped(text: str) -> str:
    return text.replace("${", "$${").replace("%{", "%%{")


def _source(expr: Any) -> str:
    span = expr.span
    return str(expr.origin.source.text[span.start.offset : span.end.offset])
