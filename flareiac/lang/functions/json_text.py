"""Values to JSON text and back, byte for byte as cty writes it: keys sorted, ``<>&`` escaped, numbers without loss."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from flareiac.kernel.types import NUMBER
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Resource, Symbols, Value, boolean, null, number_text, object_value, string, tuple_value, written_number

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029", "\x7f": "\x7f"})


def json_text(value: Value) -> str:
    """The JSON of a known value."""
    match value.raw:
        case None:
            return "null"
        case bool():
            return "true" if value.raw else "false"
        case Decimal():
            return number_text(value.raw)
        case str():
            return json.dumps(value.raw, ensure_ascii=False).translate(_ESCAPES)
        case tuple():
            return "[" + ",".join(json_text(item) for item in value.raw) + "]"
        case Mapping():
            return "{" + ",".join(f"{json_text(string(name))}:{json_text(value.raw[name])}" for name in sorted(value.raw)) + "}"
        case Resource(address):
            raise FunctionError(f"{address} is a resource; encode the attributes that are needed")
        case Symbols(name):
            raise FunctionError(f"{name} alone is no value")
        case _:
            raise FunctionError("the value is not known")


def from_json_text(text: str) -> Value:
    """The value of JSON text: objects and tuples. Raises ``FunctionError``."""
    try:
        return _value(json.loads(text, parse_float=written_number, parse_int=written_number, parse_constant=_refuse))
    except (ValueError, ArithmeticError) as error:
        raise FunctionError(f"the text is not JSON: {error}", 0) from None
    except RecursionError:
        raise FunctionError("the text is nested too deeply", 0) from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _value(data: Any) -> Value:
    match data:
        case None:
            return null()
        case bool():
            return boolean(data)
        case Decimal():
            return Value(NUMBER, data)
        case str():
            return string(_without_surrogates(data))
        case list():
            return tuple_value(_value(item) for item in data)
        case _:
            return object_value({_without_surrogates(name): _value(item) for name, item in data.items()})


def _without_surrogates(text: str) -> str:
    """Half of a pair is no character: U+FFFD, as in every decoder that keeps to Unicode."""
    return text if text.isascii() else re.sub(r"[\ud800-\udfff]", "\ufffd", text)
