"""Conversions, types, and the two units of the language."""

from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, MapType, SetType, Type
from flareiac.lang.conversion import convert
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import Builtin, FunctionError
from flareiac.lang.values import Value, contains_sensitive, number, string
from flareiac.sdk.validators import is_duration, is_size, parse_duration, parse_size


def _to(name: str, wanted: Type, what: str) -> Builtin:
    def call(value: Value) -> Value:
        return convert(value, wanted)

    return function(name, (takes("value", null=True, parts=True),), wanted, call, f"The value as {what}.")


def _type(value: Value) -> Value:
    """The names of an object's attributes are part of its type, and may be what is sensitive."""
    return string(str(value.type)).with_sensitive(contains_sensitive(value))


def _duration(text: Value) -> Value:
    duration = parse_duration(text.raw)
    if duration is None:
        raise FunctionError(is_duration(text.raw) or "not a duration", 0)
    return number(duration)


def _bytes(text: Value) -> Value:
    size = parse_size(text.raw)
    if size is None:
        raise FunctionError(is_size(text.raw) or "not a size", 0)
    return number(size)


FUNCTIONS = (
    _to("tobool", BOOL, "a bool"),
    _to("tonumber", NUMBER, "a number"),
    _to("tostring", STRING, "a string"),
    _to("tolist", ListType(ANY), "a list"),
    _to("tomap", MapType(ANY), "a map"),
    _to("toset", SetType(ANY), "a set"),
    function("type", (takes("value", null=True, raw=True),), STRING, _type, "The type of a value, as text."),
    function(
        "duration", (takes("text", STRING),), NUMBER, _duration, 'A duration such as "7d" in milliseconds.'
    ),
    function("bytes", (takes("text", STRING),), NUMBER, _bytes, 'A size such as "256MB" in bytes.'),
)
