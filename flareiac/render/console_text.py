"""Values and types as the console shows them: the forms of ``terraform console``, and JSON.

What is sensitive is never part of either.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from flareiac.kernel.data import Json, Unknown
from flareiac.kernel.numbers import exact_number
from flareiac.kernel.types import (
    ANY,
    AnyType,
    BoolType,
    ListType,
    MapType,
    NumberType,
    ObjectType,
    SetType,
    StringType,
    TupleType,
    Type,
)
from flareiac.lang.values import (
    Resource,
    Symbols,
    Value,
    contains_sensitive,
    cty_json,
    kind,
    object_value,
    plain_text,
    string,
)
from flareiac.render.redaction import REDACTED

_STEP: Final = "  "
_STEP_OF_TYPES: Final = "    "
_UNKNOWN: Final = "(known after apply)"
_MARKER: Final = "EOT"


def value_text(value: Value) -> str:
    """A value over as many lines as it has parts; its texts in quotes, or as heredocs where they have several
    lines.
    """
    return _text(shown(value), "")


def type_text(value: Value) -> str:
    """The type of a value, over several lines where it is one of objects or tuples."""
    return _type(_type_of(shown(value)), "")


def value_json(value: Value) -> dict[str, Json]:
    """``value`` and its ``type`` in cty's JSON form. Null stands for what is not known yet and for what is
    sensitive; ``unknown`` and ``sensitive``, where there is any, are true at such a place.
    """
    whole = shown(value)
    document: dict[str, Json] = {"value": _data(whole), "type": cty_json(_type_of(whole))}
    for name, is_at in (("unknown", _is_unknown), ("sensitive", _is_sensitive)):
        if mask := _mask(whole, is_at):
            document[name] = mask
    return document


def shown(value: Value) -> Value:
    """The value with its references as what stands behind them: a resource as its attributes, one inside of
    another as its address.
    """
    match value.raw:
        case Resource(address, _, attributes) if attributes:
            members = object_value({name: _inside(attributes[name]) for name in attributes})
            return members.with_sensitive(value.sensitive)
        case Resource(address):
            return string(address)
        case Symbols(_, members):
            return object_value({name: shown(members[name]) for name in members})
        case _:
            return _inside(value)


def _inside(value: Value) -> Value:
    match value.raw:
        case Resource(address):
            return string(address).with_sensitive(value.sensitive)
        case tuple() if any(isinstance(part.raw, Resource | tuple | Mapping) for part in value.raw):
            return _again(value, tuple(shown(part) for part in value.raw))
        case Mapping():
            return _again(value, {name: shown(part) for name, part in value.raw.items()})
        case _:
            return value


def _again(value: Value, parts: Any) -> Value:
    match value.type:
        case TupleType():
            type_: Type = TupleType(tuple(part.type for part in parts))
        case ObjectType():
            type_ = ObjectType({name: part.type for name, part in parts.items()})
        case other:
            type_ = other
    return Value(type_, parts, value.sensitive)


def _type_of(value: Value) -> Type:
    """The type of a value, without the names of the attributes of what is sensitive: such a name may be made
    of a secret.
    """
    if value.sensitive:
        return _nameless(value.type)
    match value.type, value.raw:
        case TupleType(), tuple() as parts:
            return TupleType(tuple(map(_type_of, parts)))
        case ObjectType(), Mapping() as members:
            return ObjectType({name: _type_of(part) for name, part in members.items()})
        case type_, _:
            return _nameless(type_) if contains_sensitive(value) else type_


def _nameless(type_: Type) -> Type:
    match type_:
        case ObjectType():
            return ANY
        case ListType(element):
            return ListType(_nameless(element))
        case SetType(element):
            return SetType(_nameless(element))
        case MapType(element):
            return MapType(_nameless(element))
        case TupleType(elements):
            return TupleType(tuple(map(_nameless, elements)))
        case _:
            return type_


def _text(value: Value, indent: str) -> str:
    if value.sensitive:
        return repr(REDACTED)
    match value.raw:
        case None:
            return _null(value.type)
        case Unknown():
            return _UNKNOWN
        case str() as text:
            return _string(text, indent)
        case tuple() as parts:
            lines = [f"{_text(part, indent + _STEP)}," for part in parts]
            return _named(value.type, _lines("[", lines, "]", indent))
        case Mapping() as members:
            lines = [f"{_quoted(name)} = {_text(members[name], indent + _STEP)}" for name in sorted(members)]
            return _named(value.type, _lines("{", lines, "}", indent))
        case raw:
            return str(plain_text(raw))


def _lines(opening: str, lines: Iterable[str], closing: str, indent: str, step: str = _STEP) -> str:
    inner = "".join(f"\n{indent}{step}{line}" for line in lines)
    return f"{opening}{inner}\n{indent}{closing}" if inner else opening + closing


def _named(type_: Type, text: str) -> str:
    """The text of a collection with the function that makes it; tuples and objects have none."""
    return f"to{kind(type_)}({text})" if isinstance(type_, ListType | SetType | MapType) else text


def _null(type_: Type) -> str:
    match type_:
        case StringType() | NumberType() | BoolType():
            return f"to{type_}(null)"
        case ListType(element) | SetType(element) | MapType(element):
            return f"to{kind(type_)}(null) /* of {_friendly(element)} */"
        case TupleType() | ObjectType():
            return f"null /* {kind(type_)} */"
        case _:
            return "null"


def _friendly(type_: Type) -> str:
    match type_:
        case ListType(element) | SetType(element) | MapType(element):
            return f"{kind(type_)} of {_friendly(element)}"
        case AnyType():
            return "dynamic"
        case TupleType() | ObjectType():
            return kind(type_)
        case _:
            return str(type_)


def _string(text: str, indent: str) -> str:
    lines = text.split("\n")
    if len(lines) == 1:
        return _quoted(text)
    marker = _MARKER
    while any(line.strip() == marker for line in lines):
        marker += "_"
    dash = "-" if indent else ""
    return "\n".join([f"<<{dash}{marker}", *(indent + line for line in lines), indent + marker])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\r", "\\r")
    escaped = escaped.replace("\n", "\\n")
    return f'"{escaped}"'


def _type(type_: Type, indent: str) -> str:
    inner = indent + _STEP_OF_TYPES
    match type_:
        case AnyType():
            return "dynamic"
        case ListType() | SetType() | MapType():
            kinds: list[str] = []
            element: Type = type_
            while isinstance(element, ListType | SetType | MapType):
                kinds.append(f"{kind(element)}(")
                element = element.element
            opening, closing, text = "".join(kinds), ")" * len(kinds), _type(element, inner)
            if isinstance(element, TupleType | ObjectType):
                return _lines(opening, [f"{text},"], closing, indent, _STEP_OF_TYPES)
            return f"{opening}{text}{closing}"
        case TupleType(elements):
            lines = [f"{_type(element, inner)}," for element in elements]
            return _lines("tuple([", lines, "])", indent, _STEP_OF_TYPES)
        case ObjectType(attributes):
            lines = [f"{name}: {_type(attributes[name], inner)}," for name in sorted(attributes)]
            return _lines("object({", lines, "})", indent, _STEP_OF_TYPES)
        case _:
            return str(type_)


def _data(value: Value) -> Json:
    if value.sensitive or value.is_unknown:
        return None
    match value.raw:
        case tuple():
            return [_data(part) for part in value.raw]
        case Mapping():
            return {name: _data(part) for name, part in value.raw.items()}
        case raw:
            leaf: Json = exact_number(raw) if isinstance(raw, Decimal) else raw
            return leaf


def _is_unknown(value: Value) -> bool:
    return value.is_unknown and not value.sensitive


def _is_sensitive(value: Value) -> bool:
    return value.sensitive


def _mask(value: Value, is_at: Callable[[Value], bool]) -> Json:
    """True at each place of which that holds, lists of their length where one has such a place, objects of
    the members that do; else False.
    """
    if is_at(value):
        return True
    if value.sensitive or value.is_unknown:
        return False
    match value.raw:
        case tuple():
            masks = [_mask(part, is_at) for part in value.raw]
            return masks if any(masks) else False
        case Mapping():
            members = {name: _mask(part, is_at) for name, part in value.raw.items()}
            return {name: mask for name, mask in members.items() if mask} or False
        case _:
            return False
