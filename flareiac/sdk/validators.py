"""Validators of attribute values, and the two units of the language: durations and sizes."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.schema import Validator

_DURATION_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SIZE_UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
_DURATION = re.compile(r"(\d{1,18})(ms|s|m|h|d|w)")
_SIZE = re.compile(r"(\d{1,18})\s*(B|KB|MB|GB|TB)", re.IGNORECASE)
JVM_SIZE = re.compile(r"[1-9]\d{0,9}[kmgtKMGT]b?")
_LONGEST = 1000 * 365 * _DURATION_UNITS["d"]
"""A time that so far ago or ahead is one that every system can tell."""
LARGEST_INT: Final = 2**31 - 1
LARGEST_LONG: Final = 2**63 - 1


def parse_duration(text: str) -> int | None:
    """``"90s"``, ``"1h30m"`` in milliseconds, or None if the text is not a duration."""
    total, at = 0, 0
    while match := _DURATION.match(text, at):
        total += int(match.group(1)) * _DURATION_UNITS[match.group(2)]
        at = match.end()
    return total if text and at == len(text) else None


def duration_text(milliseconds: int) -> str:
    """The shortest text of one unit that ``parse_duration`` reads as this length: ``7d`` for a week."""
    for unit in ("d", "h", "m", "s"):
        if milliseconds and milliseconds % _DURATION_UNITS[unit] == 0:
            return f"{milliseconds // _DURATION_UNITS[unit]}{unit}"
    return f"{milliseconds}ms" if milliseconds else "0s"


def parse_size(text: str) -> int | None:
    """``"256MB"`` in bytes (binary units), or None if the text is no size."""
    match = _SIZE.fullmatch(text.strip())
    return int(match.group(1)) * _SIZE_UNITS[match.group(2).upper()] if match else None


def is_duration(value: Data) -> str | None:
    """A duration such as ``"30s"``, of at most 1,000 years."""
    length = parse_duration(value) if isinstance(value, str) else None
    if length is not None:
        return None if length <= _LONGEST else f"{value!r} is longer than 1,000 years (365000d)."
    return (
        f'{value!r} is not a duration. Write a whole number and a unit, such as "90s", "10m", "6h" or "5d".'
    )


@dataclass(frozen=True, slots=True)
class WholeSizes:
    """The validator that ``whole_sizes`` makes. ``units``: by field; None for a whole number."""

    units: Mapping[str, str | None] = field(hash=False)

    def __call__(self, value: Data) -> str | None:
        for name, given in _given(value, self.units):
            unit = self.units[name]
            if unit is None and (not isinstance(given, int) or given < 1):
                return f"{name} is {given!r}. Write a whole number from 1 on."
            if unit is not None and not (isinstance(given, str) and JVM_SIZE.fullmatch(given)):
                return f'{name} is {given!r}. Write a whole number and a unit, such as "512m" or "4{unit}".'
        return None


def whole_sizes(**units: str | None) -> Validator:
    """Returns a validator of an object: fields with a unit (``"g"`` in ``memory="4g"``) are sizes as JVMs
    write them, those without are whole numbers from 1 on.
    """
    return WholeSizes(units)


def _given(value: Data, names: Iterable[str]) -> Iterator[tuple[str, Data]]:
    """The fields with these names of an object, without those that are left out or not known yet."""
    held = value if isinstance(value, Mapping) else {}
    for name in names:
        if (field := held.get(name)) is not None and field is not UNKNOWN:
            yield name, field


def is_size(value: Data) -> str | None:
    """A size such as ``"256MB"``, of less than 2^63 bytes."""
    size = parse_size(value) if isinstance(value, str) else None
    if size is not None:
        return None if size <= LARGEST_LONG else f"{value!r} is more than any file system holds."
    return f'{value!r} is not a size. Write a whole number and a unit, such as "512KB", "256MB" or "2GB".'


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf:
    """The validator that ``one_of`` makes."""

    allowed: tuple[Data, ...]
    explained: tuple[Data, ...]

    def __call__(self, value: Data) -> str | None:
        if value in self.allowed or value in self.explained:
            return None
        return f"{value!r} is not one of {', '.join(map(repr, self.allowed))}."


def one_of(*allowed: Data, explained: Sequence[Data] = ()) -> Validator:
    """One of a few values. ``explained``: others that pass here, because a rule of the resource refuses them
    and says why.
    """
    return OneOf(allowed=allowed, explained=tuple(explained))


@dataclass(frozen=True, slots=True)
class Whole:
    """The validator that ``whole`` makes: both ends are allowed."""

    low: int
    high: int

    def __call__(self, value: Data) -> str | None:
        # A whole number is an int in plain data; a float that looks like one was a fraction with many digits.
        if isinstance(value, bool) or not isinstance(value, int) or value < self.low:
            return f"{value} is not a whole number from {self.low}."
        return f"{value} is more than {self.high:,}." if value > self.high else None


def whole(low: int = 1, high: int = LARGEST_INT) -> Validator:
    """A whole number in a closed range. Without ``high`` it is one that the JVM holds in 32 bits."""
    return Whole(low, high)


@dataclass(frozen=True, slots=True)
class Fields:
    """The validator that ``fields`` makes, with those of the fields by name."""

    validators: Mapping[str, Validator] = field(hash=False)

    def __call__(self, value: Data) -> str | None:
        given = _given(value, self.validators)
        wrong = (f"{name}: {text}" for name, part in given if (text := self.validators[name](part)))
        return next(wrong, None)


def fields(**validators: Validator) -> Validator:
    """An object whose given fields pass these validators."""
    return Fields(validators)


def not_empty(value: Data) -> str | None:
    """A text, list or map with something in it."""
    return None if isinstance(value, Collection) and len(value) else "It must not be empty."
