"""``format`` and its verbs, after Go's fmt as cty has it."""

import re
from decimal import Decimal
from typing import Final

from flareiac.kernel.types import BOOL, NUMBER, STRING
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.functions.characters import clusters
from flareiac.lang.functions.json_text import json_text
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Value, number_text, plain_text, string

_NUMBER: Final = r"\d{1,18}"
_VERB: Final = re.compile(
    r"%(?P<flags>[-+# "
    rf"0]*)(?P<width>{_NUMBER})?(?:\.(?P<precision>{_NUMBER})?)?(?:\[(?P<index>{_NUMBER})\])?(?P<verb>.)?",
    re.DOTALL,
)
_WIDEST: Final = 10_000


def format_text(spec: str, arguments: tuple[Value, ...]) -> str:
    """The text that a format makes of arguments. Raises ``FunctionError``."""
    out: list[str] = []
    at, following, used = 0, 0, 0
    while (found := spec.find("%", at)) >= 0:
        out.append(spec[at:found])
        match = _VERB.match(spec, found)
        assert match is not None
        at = match.end()
        verb = match.group("verb")
        if verb is None:
            raise FunctionError("the format ends inside of a verb", 0)
        if verb == "%":
            out.append("%")
            continue
        following = int(match.group("index")) if match.group("index") else following + 1
        if not 1 <= following <= len(arguments):
            raise FunctionError(
                f"not enough arguments for {match.group()}: it takes number {following}, and there "
                f"{_are(len(arguments))}",
                0,
            )
        used = max(used, following)
        out.append(_one(match, verb, arguments[following - 1], following))
    out.append(spec[at:])
    if used < len(arguments):
        raise FunctionError(
            f"too many arguments: the format uses {used or 'none'} of {len(arguments)}", used + 1
        )
    return "".join(out)


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _one(match: re.Match[str], verb: str, value: Value, index: int) -> str:
    flags = match.group("flags")
    width = int(match.group("width") or 0)
    precision = int(match.group("precision") or 0) if "." in match.group() else None
    if max(width, precision or 0) > _WIDEST:
        raise FunctionError(f"{match.group()} is wider than {_WIDEST}", 0)
    try:
        text = _rendered(verb, value, flags, precision)
    except ConversionError as error:
        raise FunctionError(f"unsuitable value for {match.group()}: {error}", index) from None
    if text is None:
        raise FunctionError(f"there is no verb %{verb}", 0)
    numeric = verb in "dbofeEgGxX" or value.type == NUMBER
    return _padded(text, width - len(clusters(text)), flags, numeric=numeric)


def _padded(text: str, missing: int, flags: str, *, numeric: bool) -> str:
    if "-" in flags:
        return text + " " * missing
    if "0" not in flags or not numeric:
        return " " * missing + text
    sign = text[:1] if text[:1] in {"-", "+"} else ""
    return sign + "0" * missing + text[len(sign) :]


def _rendered(verb: str, value: Value, flags: str, precision: int | None) -> str | None:
    if verb == "v":
        return _default(value, flags, precision)
    if value.raw is None:
        raise ConversionError("it is null")
    match verb:
        case "t":
            return plain_text(convert(value, BOOL).raw)
        case "x" | "X" if isinstance(value.raw, str):
            digits = value.raw.encode().hex()
            return digits if verb == "x" else digits.upper()
        case "d" | "b" | "o" | "x" | "X":
            return _signed(_integer(convert(value, NUMBER).raw, verb, flags), flags)
        case "e" | "E" | "f" | "F" | "g" | "G":
            return _signed(_float(convert(value, NUMBER).raw, verb, precision), flags)
        case "s" | "q":
            text = "".join(clusters(convert(value, STRING).raw)[:precision])
            return text if verb == "s" else json_text(string(text))
        case _:
            return None


def _signed(text: str, flags: str) -> str:
    if text.startswith("-"):
        return text
    return "+" + text if "+" in flags else (" " + text if " " in flags else text)


def _integer(number: Decimal, verb: str, flags: str) -> str:
    whole = int(number)
    shown = format(abs(whole), verb)
    prefix = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}.get(verb, "") if "#" in flags else ""
    return ("-" if whole < 0 else "") + prefix + shown


def _float(number: Decimal, verb: str, precision: int | None) -> str:
    if verb in "fF":
        places = 6 if precision is None else precision
        return format(number, f".{places}f")
    if verb in "gG" and precision is None:
        exponent = number.adjusted() if number else 0
        if -4 <= exponent < 21:
            return number_text(number)
        text = repr(float(number))
        return text.upper() if verb == "G" else text
    return format(float(number), f".{6 if precision is None else precision}{verb}")


def _default(value: Value, flags: str, precision: int | None) -> str:
    if "#" in flags:
        return json_text(value)
    match value.raw:
        case str():
            return value.raw[:precision]
        case Decimal():
            return _signed(_float(value.raw, "g", precision), flags)
        case _:
            return json_text(value)
