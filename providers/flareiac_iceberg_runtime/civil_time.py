"""Dates and times of the Gregorian calendar in UTC, for every year that a table can hold. Pure.

Python's own dates end with the years 1 and 9999; a table holds times until the year 294247, and what goes
wrong upstream writes them. Imports nothing, so that what travels to Spark can use it.
"""

from typing import Final

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 86_400_000
_ERA_DAYS: Final = 146_097
"""The days of 400 years, after which the calendar repeats itself."""
_TO_MARCH_OF_YEAR_0: Final = 719_468
"""The days from 1 March of the year 0, where a computing year begins, until 1970."""
_FOUR_DIGITS: Final = range(10_000)


def days_of(year: int, month: int, day: int) -> int:
    """The days from 1970-01-01 until a date."""
    computing_year = year - (month <= 2)
    era, year_of_era = divmod(computing_year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return (
        era * _ERA_DAYS
        + year_of_era * 365
        + year_of_era // 4
        - year_of_era // 100
        + day_of_year
        - _TO_MARCH_OF_YEAR_0
    )


def date_of(days: int) -> tuple[int, int, int]:
    """Year, month and day: the inverse of ``days_of``. The year before 1 is 0."""
    era, day_of_era = divmod(days + _TO_MARCH_OF_YEAR_0, _ERA_DAYS)
    year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // (_ERA_DAYS - 1)
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = (shifted + 2) % 12 + 1
    year = era * 400 + year_of_era + (month <= 2)
    return year, month, day_of_year - (153 * shifted + 2) // 5 + 1


def month_start(number: int) -> int:
    """The beginning of a month, counted from January 1970, in ms since 1970."""
    return days_of(1970 + number // 12, number % 12 + 1, 1) * DAY_MS


def floor(ms: int, unit: str) -> int:
    """The beginning of the hour, day, month or year that a time (ms since 1970) falls into."""
    match unit:
        case "hour":
            return ms - ms % HOUR_MS
        case "day":
            return ms - ms % DAY_MS
        case _:
            year, month, _ = date_of(ms // DAY_MS)
            return days_of(year, month if unit == "month" else 1, 1) * DAY_MS


def ceiling(ms: int, unit: str) -> int:
    """The first beginning of an hour, day, month or year that is not before a time (ms since 1970)."""
    start = floor(ms, unit)
    if start == ms:
        return ms
    match unit:
        case "hour":
            return start + HOUR_MS
        case "day":
            return start + DAY_MS
        case _:
            # No month has more than 31 days, no year more than 366.
            return floor(start + (31 if unit == "month" else 366) * DAY_MS, unit)


def date_text(days: int) -> str:
    """``2026-11-16``; a year of other than four digits has a sign, as in ISO 8601: ``+56030-01-01``."""
    year, month, day = date_of(days)
    sign = "" if year in _FOUR_DIGITS else "+" if year > 0 else "-"
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def time_text(ms: int) -> str:
    """``2026-11-16 11:00:05``: to the second, of ms since 1970."""
    days, rest = divmod(ms, DAY_MS)
    seconds = rest // 1_000
    return f"{date_text(days)} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
