"""The operators on values. Unknown and sensitive travel through; ``&&`` and ``||`` stop where the left side
decides.
"""

from collections.abc import Callable
from decimal import Context, Decimal, DecimalException
from typing import Final

from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.numbers import NUMBERS
from flareiac.kernel.types import BOOL, NUMBER, Type
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.values import Value, contains_sensitive, same, unknown

_GUARDED: Final = Context(prec=NUMBERS.prec - 4, Emax=NUMBERS.Emax, Emin=NUMBERS.Emin)


class OperatorError(Exception):
    """The operands cannot be used; ``side`` is ``left``, ``right`` or empty."""

    def __init__(self, message: str, side: str = "") -> None:
        super().__init__(message)
        self.message, self.side = message, side


def _divide(left: Decimal, right: Decimal) -> Decimal:
    if right == 0:
        raise OperatorError("A number cannot be divided by zero.", "right")
    return NUMBERS.divide(left, right)


def _modulo(left: Decimal, right: Decimal) -> Decimal:
    if right == 0:
        raise OperatorError("The remainder of a division by zero is not defined.", "right")
    return NUMBERS.remainder(left, right)


def _guarded(calculate: Callable[[Decimal, Decimal], Decimal]) -> Callable[[Decimal, Decimal], Decimal]:
    """A fraction's last digits are spare ones: what a division lost there is rounded away by what follows it,
    so that 1 / 3 * 3 is 1.
    """

    def result(left: Decimal, right: Decimal) -> Decimal:
        calculated = calculate(left, right)
        return (
            calculated if len(calculated.as_tuple().digits) <= _GUARDED.prec else _without_spare(calculated)
        )

    return result


def _without_spare(number: Decimal) -> Decimal:
    return number if number == number.to_integral_value(context=NUMBERS) else _GUARDED.plus(number)


_ARITHMETIC: Final[dict[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "+": _guarded(NUMBERS.add),
    "-": _guarded(NUMBERS.subtract),
    "*": _guarded(NUMBERS.multiply),
    "/": _divide,
    "%": _modulo,
}
_COMPARISON: Final[dict[str, Callable[[Decimal, Decimal], bool]]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}


def operand(value: Value, wanted: Type, side: str) -> Value:
    """An operand as the operator's type. Raises ``OperatorError``."""
    if value.raw is None:
        raise OperatorError("An operand is null; the operator needs a value.", side)
    try:
        return convert(value, wanted)
    except ConversionError as error:
        raise OperatorError(f"Unsuitable operand: {error}.", side) from None


def binary(operator: str, left: Value, right: Value) -> Value:
    """The result of an operator other than the logical ones. Raises ``OperatorError``."""
    if operator in {"==", "!="}:
        return _equality(operator, left, right)
    wanted = NUMBER if operator in _ARITHMETIC else BOOL
    one, two = operand(left, NUMBER, "left"), operand(right, NUMBER, "right")
    marked = one.sensitive or two.sensitive
    if one.raw is UNKNOWN or two.raw is UNKNOWN:
        return unknown(wanted, sensitive=marked)
    if operator in _COMPARISON:
        return Value(BOOL, _COMPARISON[operator](one.raw, two.raw), marked)
    try:
        return Value(NUMBER, _ARITHMETIC[operator](one.raw, two.raw), marked)
    except DecimalException:
        raise OperatorError("The result is too large for a number.") from None


def _equality(operator: str, left: Value, right: Value) -> Value:
    marked = contains_sensitive(left) or contains_sensitive(right)
    answer = same(left, right)
    if answer is None:
        return unknown(BOOL, sensitive=marked)
    return Value(BOOL, answer == (operator == "=="), marked)


def unary(operator: str, value: Value) -> Value:
    """``-`` and ``!``. Raises ``OperatorError``."""
    if operator == "!":
        flag = operand(value, BOOL, "right")
        return flag if flag.raw is UNKNOWN else Value(BOOL, not flag.raw, flag.sensitive)
    converted = operand(value, NUMBER, "right")
    return (
        converted
        if converted.raw is UNKNOWN
        else Value(NUMBER, NUMBERS.minus(converted.raw), converted.sensitive)
    )


def logical(operator: str, left: Value, right: Callable[[], Value]) -> Value:
    """``&&`` and ``||``; the right side is asked for only when the left does not decide. Raises
    ``OperatorError``.
    """
    deciding = operator == "||"
    one = operand(left, BOOL, "left")
    if one.raw is deciding:
        return one
    two = operand(right(), BOOL, "right")
    marked = one.sensitive or two.sensitive
    if one.raw is UNKNOWN:
        return Value(BOOL, deciding, marked) if two.raw is deciding else unknown(BOOL, sensitive=marked)
    return two.with_sensitive(marked)
