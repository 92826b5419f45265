"""``format`` and its verbs, after Go's fmt as cty has it."""

import re
from decimal import Context, Decimal
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.numbers import NUMBERS, number_text
from flareiac.kernel.types import BOOL, NUMBER, STRING
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.functions.characters import clusters
from flareiac.lang.functions.json_text import json_text
from flareiac.lang.functions.signature import FunctionError, LimitError, within_limit
from flareiac.lang.values import Value, plain_text, string

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
    at, following, used, length = 0, 0, 0, len(spec)
    while (position := spec.find("%", at)) >= 0:
        out.append(spec[at:position])
        match = _VERB.match(spec, position)
        assert match is not None
        at = match.end()
        verb = match.group("verb")
        if verb is None:
            raise FunctionError("the format ends inside of a verb", 0)
        if verb == "%" and match.group() == "%%":
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
        length += len(out[-1])
        within_limit(length)
    out.append(spec[at:])
    if used < len(arguments):
        raise FunctionError(
            f"too many arguments: the format uses {used or 'none'} of {len(arguments)}", used + 1
        )
    return "".join(out)


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _one(match: re.Match[str], verb: str, value: Value, index: int) -> str:
    width = int(match.group("width") or 0)
    precision = int(match.group("precision") or 0) if "." in match.group() else None
    if max(width, precision or 0) > _WIDEST:
        raise LimitError(f"{match.group()} is wider than {_WIDEST}", 0)
    style = _Style(flags=match.group("flags"), width=width, precision=precision)
    try:
        text = _rendered(verb, value, style)
    except ConversionError as error:
        raise FunctionError(f"unsuitable value for {match.group()}: {error}", index) from None
    if text is None:
        raise FunctionError(f"there is no verb %{verb}", 0)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """The part of a verb between the % and its letter."""

    flags: str
    width: int
    precision: int | None

    def text(self, text: str) -> str:
        """A text, filled up with spaces or zeros to the width."""
        filling = ("0" if "0" in self.flags else " ") * (self.width - len(clusters(text)))
        return text + filling if "-" in self.flags else filling + text

    def number(self, digits: str, prefix: str = "", *, zeros: bool = True) -> str:
        """The digits of a number with its sign and prefix. ``zeros``: whether zeros may fill the width."""
        sign = "+" if "+" in self.flags else " " if " " in self.flags else ""
        if digits.startswith("-"):
            sign, digits = "-", digits[1:]
        missing = self.width - len(sign) - len(prefix) - len(digits)
        if "-" in self.flags:
            return sign + prefix + digits + " " * missing
        if "0" in self.flags and zeros:
            return sign + prefix + "0" * missing + digits
        return " " * missing + sign + prefix + digits


def _rendered(verb: str, value: Value, style: _Style) -> str | None:
    if verb == "v":
        return style.text(_default(value, style.flags))
    if value.raw is None:
        raise ConversionError("it is null")
    match verb:
        case "t":
            return plain_text(convert(value, BOOL).raw)  # neither filled up nor cut
        case "d" | "b" | "o" | "x" | "X":
            return _integer(convert(value, NUMBER).raw, verb, style)
        case "e" | "E" | "f" | "g" | "G":
            return style.number(_float(convert(value, NUMBER).raw, verb, style.precision))
        case "s" | "q":
            text = "".join(clusters(convert(value, STRING).raw)[: style.precision or None])
            return style.text(text if verb == "s" else json_text(string(text)))
        case _:
            return None


def _integer(number: Decimal, verb: str, style: _Style) -> str:
    whole = int(number)
    if whole != number:
        raise ConversionError("a whole number is required")
    digits = format(abs(whole), verb)
    if style.precision is not None:
        digits = "" if not (whole or style.precision) else digits.rjust(style.precision, "0")
    if not digits:
        return ""
    prefix = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}.get(verb, "") if "#" in style.flags else ""
    return style.number(("-" if whole < 0 else "") + digits, prefix, zeros=style.precision is None)


def _float(number: Decimal, verb: str, precision: int | None) -> str:
    """The text of a number as Go writes it. ``g`` takes as many digits as there are, and an exponent where it
    is below -4 or not below the number of digits (6, where no precision is given).
    """
    if verb == "f":
        return format(number, f".{6 if precision is None else precision}f")
    if verb in "eE":
        return _exponential(number, 6 if precision is None else precision, verb)
    shown = number if precision is None else _rounded(number, max(precision, 1))
    written = "".join(map(str, shown.as_tuple().digits)).rstrip("0")
    power = shown.adjusted() if shown else 0
    limit = 6 if precision is None else max(precision, 1)
    if precision is not None and limit > len(written) >= power + 1:
        limit = len(written)
    if -4 <= power < limit:
        return number_text(shown)
    return _exponential(shown, max(len(written) - 1, 0), "e" if verb == "g" else "E")


def _rounded(number: Decimal, digits: int) -> Decimal:
    return Context(prec=digits, Emax=NUMBERS.Emax, Emin=NUMBERS.Emin).plus(number)


def _exponential(number: Decimal, places: int, letter: str) -> str:
    """Go writes at least two digits of the exponent."""
    rounded = _rounded(number, places + 1)
    power = rounded.adjusted() if number else 0
    mantissa = format(rounded.scaleb(-power, NUMBERS), f".{places}f")
    return f"{mantissa}{letter}{'-' if power < 0 else '+'}{abs(power):02d}"


def _default(value: Value, flags: str) -> str:
    match value.raw:
        case str() if "#" not in flags:
            return value.raw
        case Decimal() if "#" not in flags:
            return _float(value.raw, "g", None)
        case _:
            return json_text(value)
