"""Tells from a data file's metadata alone which of its rows are older than a time. Pure.

Partition values and bounds are two witnesses. Rows are old only where each witness that there is says so, and
no row is proven to have a time unless null values are counted or the partition excludes them. Imports what
travels to Spark alone: the plan forecasts by these rules, and what Spark deletes is chosen by them again.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg_runtime.civil_time import DAY_MS, HOUR_MS, month_start

_MS: Final = 1_000
"""Microseconds of a millisecond."""
FAR_PAST: Final = -(2**63)
FAR_FUTURE: Final = 2**63
"""Before and after every time (microseconds since 1970) that a table can hold."""
_WRAP: Final = 2**32
"""Iceberg keeps the hour as an int: a time of the year 250000 gets the number of an hour in the far past."""
_DATE_BYTES: Final = 4
_TIME_BYTES: Final = 8
UNITS: Final = ("moment", "hour", "day", "month", "year")
"""The units in which partition values tell a time, finest first; a moment is a microsecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The facts about one column of times that the metadata of a data file holds.

    ``partition``: unit and value of each partition field that is a time of the column. ``nulls``: rows
    without a value, None where they were not counted. Bounds are as Iceberg writes single values.
    """

    records: int
    partition: tuple[tuple[str, int | None], ...] = ()
    nulls: int | None = None
    lower: bytes | None = None
    upper: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Age:
    """The times of a file's rows: from ``first`` until before ``end``, in microseconds since 1970.

    ``sure``: no witness contradicts another one. ``nulls``: rows without a time, None where that is not
    known.
    """

    first: int
    end: int
    sure: bool
    nulls: int | None

    def is_whole(self, before: int) -> bool:
        """Returns True where every row of the file is proven to be older than a time."""
        return self.sure and self.nulls == 0 and self.end <= before


UNKNOWN: Final = Age(first=FAR_PAST, end=FAR_FUTURE, sure=False, nulls=None)
"""For a file whose metadata tells nothing of the column."""


def unit_of(transform: str, kind: str) -> str | None:
    """The unit of a partition field over a column of this type; None where its values tell no time."""
    if transform == "identity":
        return "day" if kind == "date" else "moment"
    return transform if transform in UNITS[1:] else None


def age_of(told: Told) -> Age | None:
    """The times of a file's rows; None where no row has one."""
    lower, upper = _time(told.lower), _time(told.upper)
    spans = [_period(unit, value) for unit, value in told.partition if value is not None]
    if len(spans) < len(told.partition):
        return None  # the partition of rows without a time
    if not spans and told.nulls == told.records:
        return None
    if not spans and lower is None and upper is None:
        return UNKNOWN
    bounds = (
        FAR_PAST if lower is None else lower,
        FAR_FUTURE if upper is None else upper + _width(told.upper),
    )
    first = max(bounds[0], *(start for start, _ in spans)) if spans else bounds[0]
    ends = [*(end for _, end in spans), bounds[1]]
    sure = (
        first < min(ends)
        and all(_holds(span, lower, upper) for span in spans)
        and (not spans or not told.nulls)
    )
    return Age(
        first=first,
        end=min(ends) if sure else max(ends),
        sure=sure,
        nulls=0 if sure and spans else told.nulls,
    )


def _holds(span: tuple[int, int], lower: int | None, upper: int | None) -> bool:
    """Returns True where the bounds of a column lie in the span of its partition."""
    return all(bound is None or span[0] <= bound < span[1] for bound in (lower, upper))


def _period(unit: str, value: int) -> tuple[int, int]:
    """A partition value as microseconds: from when, until before when."""
    match unit:
        case "moment":
            return value, value + 1
        case "hour":
            start, width = value * HOUR_MS * _MS, HOUR_MS * _MS
            wrapped = (value + _WRAP) * HOUR_MS * _MS < FAR_FUTURE
            return start, FAR_FUTURE if wrapped else start + width
        case "day":
            return value * DAY_MS * _MS, (value + 1) * DAY_MS * _MS
        case "month":
            return month_start(value) * _MS, month_start(value + 1) * _MS
        case _:
            return month_start(value * 12) * _MS, month_start(value * 12 + 12) * _MS


def _time(bound: bytes | None) -> int | None:
    """A bound in microseconds since 1970; None where it is neither a date nor a time."""
    if bound is None or len(bound) not in (_DATE_BYTES, _TIME_BYTES):
        return None
    number = int.from_bytes(bound, "little", signed=True)
    return number * DAY_MS * _MS if len(bound) == _DATE_BYTES else number


def _width(bound: bytes | None) -> int:
    """The time from a bound until the end of what it stands for: a day or a microsecond."""
    return DAY_MS * _MS if bound is not None and len(bound) == _DATE_BYTES else 1


def whole_and_doubtful(files: Iterable[tuple[str, Told]], before: int) -> Iterator[tuple[str, int, bool]]:
    """The files that may hold rows older than a time (microseconds since 1970): path, rows, and whether all
    of them are proven to be.
    """
    for path, told in files:
        age = age_of(told)
        if age is not None and age.first < before:
            yield path, told.records, age.is_whole(before)
