"""Values to JSON text and back, byte for byte as cty writes it: keys sorted, ``<>&`` escaped, numbers without
loss.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import chain, repeat
from typing import Any

from flareiac.kernel.types import NUMBER
from flareiac.lang.functions.signature import FunctionError, not_encodable, within_limit
from flareiac.lang.values import (
    Value,
    boolean,
    is_too_deep,
    null,
    object_value,
    plain_text,
    string,
    tuple_value,
    united,
    written_number,
)

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029", "\x7f": "\x7f"}
)


def json_text(value: Value) -> str:
    """The JSON of a known value. Raises ``FunctionError``."""
    parts: list[str] = []
    length = 0
    for part in _written(value):
        parts.append(part)
        length += len(part)
        within_limit(length)  # a small value may hold one part many times over
    return "".join(parts)


def _written(value: Value) -> Iterator[str]:
    match value.raw:
        case None:
            yield "null"
        case str():
            yield _quoted(value.raw)
        case bool() | Decimal():
            yield str(plain_text(value.raw))
        case tuple():
            yield "["
            yield from _separated(("", element) for element in value.raw)
            yield "]"
        case Mapping():
            yield "{"
            yield from _separated((f"{_quoted(name)}:", value.raw[name]) for name in sorted(value.raw))
            yield "}"
        case _:
            raise not_encodable(value)


def _separated(items: Iterable[tuple[str, Value]]) -> Iterator[str]:
    for before, (name, member) in zip(chain([""], repeat(",")), items, strict=False):
        yield before + name
        yield from _written(member)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_ESCAPES)


def from_json_text(text: str) -> Value:
    """The value of JSON text: objects and tuples. Raises ``FunctionError``."""
    try:
        value = _value(
            json.loads(text, parse_float=written_number, parse_int=written_number, parse_constant=_refuse)
        )
    except (ValueError, ArithmeticError) as error:
        raise FunctionError(f"the text is not JSON: {error}", 0) from None
    except RecursionError:
        raise FunctionError("the text is nested too deeply", 0) from None
    if is_too_deep(value):
        raise FunctionError("the text is nested too deeply", 0)
    return value


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
            return tuple_value(_value(element) for element in data)
        case _:
            return object_value(
                united((_without_surrogates(name), _value(member)) for name, member in data.items())
            )


def _without_surrogates(text: str) -> str:
    """Half of a pair is no character: U+FFFD, as in every decoder that keeps to Unicode."""
    return text if text.isascii() else re.sub(r"[\ud800-\udfff]", "\ufffd", text)
