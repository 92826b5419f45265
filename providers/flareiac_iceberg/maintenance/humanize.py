"""Durations, sizes, times and counts as people read them. Pure."""

from typing import Final

from flareiac_iceberg_runtime.civil_time import time_text

_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1))
_SIZES: Final = (("TB", 1024**4), ("GB", 1024**3), ("MB", 1024**2), ("KB", 1024))


def exact_duration(ms: int) -> str:
    """``1d12h``: as it would be declared."""
    parts: list[str] = []
    for unit, width in _UNITS:
        if ms >= width:
            parts.append(f"{ms // width}{unit}")
            ms %= width
    return "".join(parts) or "0s"


def duration(ms: int) -> str:
    """``9d``, ``3h``: the largest unit of which there are at least two, rounded down."""
    for unit, width in _UNITS[:-1]:
        if ms >= 2 * width:
            return f"{ms // width}{unit}"
    return f"{max(0, ms) // 1000}s"


def exact_size(count: int) -> str:
    """``512MB``: as it would be declared."""
    for unit, width in _SIZES:
        if count and count % width == 0:
            return f"{count // width}{unit}"
    return f"{count}B"


def size(count: int) -> str:
    """``1.5GB``: with one digit after the point."""
    for unit, width in _SIZES:
        if count >= width:
            return f"{count / width:.1f}".removesuffix(".0") + unit
    return f"{count}B"


def moment(ms: int) -> str:
    """``2026-11-16 11:00:05 UTC``."""
    return f"{time_text(ms)} UTC"


def count(number: int, thing: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(fraction: float) -> str:
    """``30%``."""
    return f"{fraction * 100:.1f}".removesuffix(".0") + "%"
