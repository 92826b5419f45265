"""Which files were written again after a query had read them? Touches the disk, by reading only.

Spark's file source remembers a file by its path: one that is overwritten in place is never read again, and Spark says nothing.
"""

from pathlib import Path
from typing import Final
from urllib.parse import unquote

from flareiac_spark.checkpoint.disk import Damaged, files_in

NEWEST: Final = 5000
"""Files that are looked at, the newest ones of each source: one question to the file system each."""
_TOLERANCE_MS: Final = 1000
"""File systems that keep whole seconds."""


def overwritten(checkpoint: Path) -> tuple[str, ...]:
    """Paths of local files that are newer than when they were read. A log that moves while it is read tells nothing."""
    try:
        logs = sorted(item for item in (checkpoint / "sources").iterdir() if item.name.isdigit())
        return tuple(path for log in logs for path in _overwritten(log))
    except (OSError, Damaged):
        return ()


def _overwritten(log: Path) -> list[str]:
    entries = [entry for path in _parts(log) for entry in files_in(path)]
    found: list[str] = []
    for entry in entries[-NEWEST:]:
        place, read = entry.get("path"), entry.get("timestamp")
        if isinstance(place, str) and isinstance(read, int) and place.startswith("file:"):
            path = Path("/" + unquote(place.removeprefix("file:")).lstrip("/"))
            written = _written_ms(path)
            if written is not None and written > read + _TOLERANCE_MS:
                found.append(str(path))
    return found


def _parts(log: Path) -> list[Path]:
    """The newest compacted file, which holds all before it, and the ones after it."""
    numbered = {item.name: item for item in log.iterdir() if item.name.removesuffix(".compact").isdigit()}
    compacted = max((int(name.removesuffix(".compact")) for name in numbered if name.endswith(".compact")), default=-1)
    later = sorted(int(name) for name in numbered if name.isdigit() and int(name) > compacted)
    return [log / f"{compacted}.compact"] * (compacted >= 0) + [log / str(number) for number in later]


def _written_ms(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return None
