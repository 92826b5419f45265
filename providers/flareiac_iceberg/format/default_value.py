"""Checks whether a default fits its column's type, and writes it as metadata files do. Pure. Rules: Iceberg's
single-value JSON form.
"""

import math
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Final

from flareiac.kernel.column_types import TypeTextError, parts, type_of
from flareiac.kernel.data import Data

VERSION: Final = 3
"""The format version from which on columns have defaults."""


class DoesNotFit(ValueError):
    """A value that a column of this type cannot hold. The message is a sentence for the user."""


def default_value(kind: str, value: Data) -> Data:
    """The value as metadata has it: JSON's own number, text or truth value. Equal values have equal forms.
    Raises ``DoesNotFit``.
    """
    name, _, length = kind.rstrip(")").partition("(")
    if name == "decimal":
        precision, scale = map(int, length.split(","))
        return _decimal(value, precision, scale)
    if name == "fixed":
        return _bytes(value, int(length))
    form = _FORMS.get(name)
    if form is None:
        raise DoesNotFit(f"A column of type {name} has no default: only columns with one value do.")
    return form(value)


def same_form(kind: str, value: Data) -> Data:
    """A default that a metadata file holds, in the form of ``default_value``; as it is where it is in none
    that is known.
    """
    try:
        return value if parts(type_of(kind)) else default_value(kind, value)
    except (DoesNotFit, TypeTextError):
        return value


def _boolean(value: Data) -> Data:
    if not isinstance(value, bool):
        raise DoesNotFit(f"{value!r} is not true or false.")
    return value


def _whole(bits: int) -> Callable[[Data], Data]:
    def form(value: Data) -> Data:
        if not isinstance(value, int) or isinstance(value, bool):
            raise DoesNotFit(f"{value!r} is not a whole number.")
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise DoesNotFit(f"{value} does not fit into {bits} bits.")
        return value

    return form


def _float(value: Data) -> Data:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise DoesNotFit(f"{value!r} is not a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DoesNotFit(f"{value!s:.60} is larger than any number of 64 bits.")
    return number


def _decimal(value: Data, precision: int, scale: int) -> Data:
    try:
        number = (
            Decimal(str(value))
            if isinstance(value, int | float | str) and not isinstance(value, bool)
            else Decimal("NaN")
        )
    except InvalidOperation as problem:
        raise DoesNotFit(f"{value!r} is not a number.") from problem
    if not number.is_finite():
        raise DoesNotFit(f"{value!r} is not a number.")
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int), "a finite number has an exponent"
    shift = exponent + scale
    kept = "".join(map(str, digits)).lstrip("0") or "0"
    if shift < 0 and kept[shift:].strip("0"):
        raise DoesNotFit(f"{value} has more than {scale} digits after the point.")
    if len(kept) + shift > precision and kept != "0":
        raise DoesNotFit(f"{value} has more digits than decimal({precision},{scale}) holds.")
    unscaled = int(kept + "0" * shift if shift >= 0 else kept[:shift] or "0")
    padded = str(unscaled).rjust(scale + 1, "0")
    text = f"{padded[:-scale]}.{padded[-scale:]}" if scale else padded
    return f"-{text}" if sign and unscaled else text


def _text(value: Data) -> str:
    if not isinstance(value, str):
        raise DoesNotFit(f"{value!r} is not a text.")
    return value


def _date(value: Data) -> Data:
    try:
        return date.fromisoformat(_text(value)).isoformat()
    except ValueError as problem:
        raise DoesNotFit(f'{value!r} is not a date such as "2026-01-31".') from problem


def _time(value: Data) -> Data:
    try:
        time_of_day = time.fromisoformat(_text(value))
    except ValueError as problem:
        raise DoesNotFit(f'{value!r} is not a time such as "13:45:00".') from problem
    if time_of_day.tzinfo is not None:
        raise DoesNotFit(f"{value!r} has a zone; a time has none.")
    return time_of_day.isoformat()


def _moment(value: Data, example: str) -> datetime:
    try:
        return datetime.fromisoformat(_text(value))
    except ValueError as problem:
        raise DoesNotFit(f'{value!r} is not a time such as "{example}".') from problem


def _timestamptz(value: Data) -> Data:
    example = "2026-01-31T13:45:00+00:00"
    moment = _moment(value, example)
    if moment.tzinfo is None:
        raise DoesNotFit(f'{value!r} has no zone: write it as in "{example}".')
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError as problem:
        raise DoesNotFit(f"{value!r} is outside of the years 1 to 9999.") from problem


def _timestamp_ntz(value: Data) -> Data:
    moment = _moment(value, "2026-01-31T13:45:00")
    if moment.tzinfo is not None:
        raise DoesNotFit(f"{value!r} has a zone; timestamp_ntz has none.")
    return moment.isoformat()


def _uuid(value: Data) -> Data:
    try:
        return str(uuid.UUID(_text(value)))
    except ValueError as problem:
        raise DoesNotFit(f"{value!r} is not a uuid.") from problem


def _bytes(value: Data, length: int | None = None) -> Data:
    try:
        content = bytes.fromhex(_text(value))
    except ValueError as problem:
        raise DoesNotFit(f'{value!r} is not bytes in hexadecimal digits, such as "00FF".') from problem
    if length is not None and len(content) != length:
        raise DoesNotFit(f"{value!r} has {len(content)} bytes, and the column holds {length}.")
    return content.hex().upper()


_FORMS: Final[dict[str, Callable[[Data], Data]]] = {
    "boolean": _boolean,
    "int": _whole(32),
    "long": _whole(64),
    "float": _float,
    "double": _float,
    "string": _text,
    "date": _date,
    "time": _time,
    "timestamptz": _timestamptz,
    "timestamp_ntz": _timestamp_ntz,
    "uuid": _uuid,
    "binary": _bytes,
}
