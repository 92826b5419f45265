"""Functions of numbers."""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, DecimalException
from typing import Final

from flareiac.kernel.numbers import LARGEST_EXPONENT, NUMBERS
from flareiac.kernel.types import NUMBER
from flareiac.lang.conversion import named
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Value

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_N = takes("number", NUMBER)


def _value(number: Decimal) -> Value:
    if not number.is_finite():
        raise FunctionError("the result is infinite")
    return Value(NUMBER, NUMBERS.plus(number))


def _most(*items: Value) -> Value:
    if not items:
        raise FunctionError("at least one number is needed")
    return _value(max(operand.raw for operand in items))


def _least(*items: Value) -> Value:
    if not items:
        raise FunctionError("at least one number is needed")
    return _value(min(operand.raw for operand in items))


def _power(base: Value, exponent: Value) -> Value:
    try:
        if base.raw == 0 and exponent.raw == 0:
            return _value(Decimal(1))
        return _value(NUMBERS.power(base.raw, exponent.raw))
    except DecimalException:
        raise FunctionError("the result is not a number, or too large for one") from None


def _log(number: Value, base: Value) -> Value:
    try:
        return _value(Decimal(repr(float(NUMBERS.divide(NUMBERS.ln(number.raw), NUMBERS.ln(base.raw))))))
    except (DecimalException, ValueError):
        raise FunctionError("both numbers must be above zero, and the base must not be 1") from None


def _parse_integer(text: Value, base: Value) -> Value:
    radix = base.raw
    if not isinstance(text.raw, str):
        raise FunctionError(f"a string is required, not {named(text.type)}", 0)
    if radix != int(radix) or not 2 <= radix <= 62:
        raise FunctionError("the base must be a whole number from 2 to 62", 1)
    written: str = text.raw
    digits = re.sub(r"\A[+-]", "", written)
    digits = digits.lower() if radix <= 36 else digits
    total = Decimal(0)
    if len(digits) > LARGEST_EXPONENT:
        raise FunctionError(f"numbers have up to {LARGEST_EXPONENT} digits", 0)
    if not digits:
        raise FunctionError("the text is empty", 0)
    for digit in digits:
        worth = _DIGITS.find(digit)
        if not 0 <= worth < radix:
            raise FunctionError(f"{written!r} is not a whole number in base {radix}", 0)
        total = NUMBERS.add(NUMBERS.multiply(total, radix), Decimal(worth))
    return _value(NUMBERS.minus(total) if written.startswith("-") else total)


def _sign(number: Value) -> Value:
    return _value(Decimal((number.raw > 0) - (number.raw < 0)))


FUNCTIONS = (
    function("abs", (_N,), NUMBER, lambda n: _value(NUMBERS.abs(n.raw)), "The absolute value of a number."),
    function(
        "ceil",
        (_N,),
        NUMBER,
        lambda n: _value(n.raw.to_integral_value(ROUND_CEILING, NUMBERS)),
        "Rounds up to a whole number.",
    ),
    function(
        "floor",
        (_N,),
        NUMBER,
        lambda n: _value(n.raw.to_integral_value(ROUND_FLOOR, NUMBERS)),
        "Rounds down to a whole number.",
    ),
    function("log", (_N, takes("base", NUMBER)), NUMBER, _log, "The logarithm of a number to a base."),
    function("max", (), NUMBER, _most, "The greatest of the numbers.", variadic=takes("numbers", NUMBER)),
    function("min", (), NUMBER, _least, "The smallest of the numbers.", variadic=takes("numbers", NUMBER)),
    function(
        "parseint",
        (takes("text"), takes("base", NUMBER)),
        NUMBER,
        _parse_integer,
        "The whole number that a text spells in a base.",
    ),
    function(
        "pow",
        (takes("base", NUMBER), takes("exponent", NUMBER)),
        NUMBER,
        _power,
        "The base to the power of the exponent.",
    ),
    function("signum", (_N,), NUMBER, _sign, "-1, 0 or 1, as the number's sign."),
)
