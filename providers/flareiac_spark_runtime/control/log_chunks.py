"""Logs in object storage, where nothing can be appended to: a folder of chunks, numbered in their order. The
last one is replaced while it grows, and the oldest ones are removed. Pure.
"""

from collections.abc import Iterable
from typing import Final

CHUNK_BYTES: Final = 256 * 1024
"""From this size on a new chunk is begun."""
KEPT: Final = 20
"""So many chunks of a log are kept, the newest ones."""
OUTPUT: Final = "logs/driver.out"
"""The end of what the driver's process printed."""
OUTPUT_BYTES: Final = 64 * 1024


def chunk_name(number: int) -> str:
    return f"{number:06}.log"


def chunk_numbers(names: Iterable[str]) -> list[int]:
    """The numbers of the chunks among the names of a folder, sorted."""
    stems = (name.removesuffix(".log") for name in names if name.endswith(".log"))
    return sorted(int(name) for name in stems if name.isdecimal())
