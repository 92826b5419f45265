"""Expressions of Spark's SQL that give one value of a change event its type. Pure.

Each gives null for what does not fit: too large, too many digits, not of the form. None depends on the time
zone of the session, and none raises an error.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

FIRST_DAY: Final = -719162
LAST_DAY: Final = 2932896
"""The days of the years 1 and 9999 in days since 1970."""
_DAY_US: Final = 86_400_000_000
_FIRST_US: Final = FIRST_DAY * _DAY_US
_LAST_US: Final = (LAST_DAY + 1) * _DAY_US - 1
_EPOCH: Final = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?"
_OFFSET: Final = "(Z|[+-][0-9]{2}:[0-9]{2})"
_BYTES_OF_DECIMAL: Final = 16
Made: TypeAlias = Callable[[str], str]


def days(number: str) -> str:
    """A date, of days since 1970."""
    return _within(number, FIRST_DAY, LAST_DAY, f"date_from_unix_date(CAST({number} AS INT))")


def local_time(number: str, per_second: int) -> str:
    """A time without zone, of so many units a second since 1970."""
    return _of_micros(number, per_second, lambda micros: f"timestampadd(MICROSECOND, {micros}, {_EPOCH})")


def instant(number: str, per_second: int) -> str:
    """A moment, of so many units a second since 1970 in UTC."""
    return _of_micros(number, per_second, lambda micros: f"timestamp_micros({micros})")


def zoned_text(text: str) -> str:
    """A moment, of a text of ISO 8601 with an offset."""
    return _matching(text, f"{_DATE}T{_CLOCK}{_OFFSET}", f"try_cast({text} AS TIMESTAMP)")


def local_text(text: str) -> str:
    """A time without zone, of a text of ISO 8601 that Debezium ends with Z."""
    return _matching(
        text, f"{_DATE}T{_CLOCK}Z?", f"try_cast(regexp_replace({text}, 'Z$', '') AS TIMESTAMP_NTZ)"
    )


def date_text(text: str) -> str:
    """A date, of a text of ISO 8601."""
    return _matching(text, f"{_DATE}Z?", f"try_cast(left({text}, 10) AS DATE)")


def uuid_text(text: str) -> str:
    """The text of a UUID."""
    return _matching(text, "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text)


def small(number: str) -> str:
    """A whole number of 32 bits."""
    return _within(number, -(2**31), 2**31 - 1, f"CAST({number} AS INT)")


def decimal_of_text(text: str, precision: int, scale: int) -> str:
    """A decimal, of its digits; it has no more of them than fit."""
    form = f"[+-]?[0-9]+([.][0-9]{{0,{scale}}}0*)?"
    return _matching(text, form, f"try_cast({text} AS DECIMAL({precision},{scale}))")


def decimal_of_double(number: str, precision: int, scale: int) -> str:
    """A decimal, of a floating-point number whose shortest text is its digits."""
    decimal = f"try_cast(CAST({number} AS STRING) AS DECIMAL({precision},{scale}))"
    return f"CASE WHEN CAST({decimal} AS DOUBLE) = {number} THEN {decimal} END"


def decimal_of_bytes(content: str, of_scale: str, precision: int, scale: int) -> str:
    """A decimal, of its unscaled value in two's complement and the scale of that, which may be any."""
    unscaled = f"transform(array({content}), b -> CAST({_unscaled('b')} AS STRING))[0]"
    return (
        f"transform(array(named_struct('u', {unscaled}, 's', CAST({of_scale} AS INT))), n -> CASE WHEN "
        f"n.s <= {scale} OR n.u = '0' OR endswith(n.u, repeat('0', n.s - {scale})) "
        f"THEN try_cast(concat(n.u, 'E', CAST(-n.s AS STRING)) AS DECIMAL({precision},{scale})) END)[0]"
    )


def binary_of(text: str, mode: str) -> str:
    """Bytes, of a text as Debezium's ``binary.handling.mode`` writes it."""
    match mode:
        case "hex":
            return _matching(text, "([0-9a-fA-F]{2})*", f"try_to_binary({text}, 'hex')")
        case "base64-url-safe":
            return f"try_to_binary(translate({text}, '-_', '+/'), 'base64')"
        case _:
            return f"try_to_binary({text}, 'base64')"


def _of_micros(number: str, per_second: int, made: Made) -> str:
    """Digits after the sixth are cut off: Iceberg has none."""
    factor = 1_000_000 // per_second
    if factor:
        within = (-(-_FIRST_US // factor), _LAST_US // factor)
        return _within(number, *within, made(f"{number} * {factor}" if factor > 1 else number))
    cut = per_second // 1_000_000
    floor = f"({number} - pmod({number}, {cut})) DIV {cut}"
    within = (max(_FIRST_US * cut, -(2**63) + cut), min((_LAST_US + 1) * cut - 1, 2**63 - 1))
    return _within(number, *within, made(floor))


def _unscaled(content: str) -> str:
    """Two halves of eight bytes each. A negative number is minus one less its complement, which has as
    many digits as the number; a longer one has more digits than Spark's decimals.
    """
    is_negative = f"substring({content}, 1, 1) >= X'80'"
    whole = f"lpad({content}, {_BYTES_OF_DECIMAL}, CASE WHEN {is_negative} THEN X'FF' ELSE X'00' END)"
    halves = [f"CAST(conv(hex(substring({whole}, {at}, 8)), 16, 10) AS DECIMAL(20,0))" for at in (1, 9)]
    positive = _of_halves(*halves)
    most = f"CAST('{2**64 - 1}' AS DECIMAL(20,0))"
    complement = _of_halves(*(f"CAST({most} - {half} AS DECIMAL(20,0))" for half in halves))
    # Not with a minus sign: Spark rounds what that gives to 34 digits.
    negative = f"try_subtract(CAST(-1 AS DECIMAL(1,0)), {complement})"
    return (
        f"CASE WHEN length({content}) BETWEEN 1 AND {_BYTES_OF_DECIMAL} THEN "
        f"CASE WHEN {is_negative} THEN {negative} ELSE {positive} END END"
    )


def _of_halves(first: str, second: str) -> str:
    return f"try_add(try_multiply({first}, CAST('{2**64}' AS DECIMAL(20,0))), {second})"


def _within(number: str, low: int, high: int, then: str) -> str:
    return f"CASE WHEN {number} BETWEEN {low}L AND {high}L THEN {then} END"


def _matching(text: str, form: str, then: str) -> str:
    return f"CASE WHEN {text} RLIKE '^{form}$' THEN {then} END"
