"""The sizes of the folders of a checkpoint. Touches the disk, by reading only."""

from typing import Final

from flareiac_spark_runtime.storage import Place, seen_at_once

_PARTS: Final = ("metadata", "offsets", "commits", "sources", "state")


def size_of(folder: Place) -> int:
    """Bytes of what Spark keeps there; what goes away meanwhile counts nothing."""
    place = seen_at_once(folder)
    return sum(_size(place / part) for part in _PARTS)


def _size(place: Place) -> int:
    try:
        return sum(map(_size, place.iterdir())) if place.is_dir() else place.stat().st_size
    except OSError:
        return 0


def size_text(count: int) -> str:
    """Bytes in the greatest unit that they fill."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
