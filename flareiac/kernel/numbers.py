"""Numbers of plain data: an int where the number is whole, a float where its text spells the number,
otherwise a ``Decimal``. No number loses a digit on its way through a document. Pure.

The form follows from the number alone, so that equal numbers have equal forms. What an earlier version wrote
from a float is that float again.
"""

import math
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Final, TypeAlias

Number: TypeAlias = int | float | Decimal

LARGEST_EXPONENT: Final = 4000
"""Numbers of more digits than Python writes out without complaint are refused."""

NUMBERS: Final = Context(prec=154, Emax=LARGEST_EXPONENT, Emin=-LARGEST_EXPONENT)
"""Arithmetic to 154 digits, as many as cty's 512 bits hold."""

_ALWAYS_EXACT: Final = 16
"""So many characters with a point in them have at most 15 digits, which a float of usual size gives back."""
_LARGEST: Final = LARGEST_EXPONENT + NUMBERS.prec
"""No number that the language computes has a larger exponent, not even one close to zero."""
_LONGEST: Final = 4 * LARGEST_EXPONENT
"""No text of such a number is longer."""


def exact_number(value: Decimal) -> Number:
    """The form of a finite number that loses nothing."""
    return int(value) if _is_whole(value) else _float_or_exact(value)


def nearest_number(value: Decimal) -> int | float:
    """The same for what computes with floats: an int where the number is whole, else the nearest float."""
    return int(value) if _is_whole(value) else float(value)


def read_number(text: str) -> Number:
    """The number that a document of JSON spells with a point or an exponent. Raises ``ValueError`` for what
    no document of ours holds: ``NaN``, ``Infinity``, ``1e999``.
    """
    number = float(text)
    if len(text) <= _ALWAYS_EXACT and 1e-300 < abs(number) < 1e300:
        return number
    if not math.isfinite(number) and ("." not in text or "e" in text.lower()):
        raise ValueError(f"{text:.60} is not a number that JSON has")
    return number if repr(number) == text else _exactly(text)


def _exactly(text: str) -> Number:
    try:
        exact = Decimal(text)
    except ArithmeticError:  # no exponent is that long
        exact = Decimal("NaN")
    if not exact.is_finite() or len(text) > _LONGEST or abs(exact.adjusted()) > _LARGEST:
        raise ValueError(f"{text:.60} is not a number that a document may hold")
    number = _float_or_exact(exact)
    return int(number) if isinstance(number, Decimal) and _is_whole(number) else number


def number_text(value: Number) -> str:
    """A number as ``tostring`` writes it, which is also its JSON: no exponent, no trailing zeros."""
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(repr(value)) if isinstance(value, float) else value, "f")
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else ("0" if text == "-0" else text)


def _is_whole(value: Decimal) -> bool:
    return value == value.to_integral_value(ROUND_FLOOR, NUMBERS)


def _float_or_exact(value: Decimal) -> float | Decimal:
    number = float(value)
    return number if Decimal(repr(number)) == value else value
