"""How much Spark keeps in a folder. Touches the disk, by reading only."""

from pathlib import Path
from typing import Final

_PARTS: Final = ("metadata", "offsets", "commits", "sources", "state")


def size_of(folder: Path) -> int:
    """Bytes of what Spark keeps there; what goes away meanwhile counts nothing."""
    total = 0
    for part in _PARTS:
        for path in (folder / part, *(folder / part).rglob("*")):
            try:
                total += path.stat().st_size if path.is_file() else 0
            except OSError:
                continue
    return total


def size_text(count: int) -> str:
    """Bytes in the greatest unit that they fill."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
