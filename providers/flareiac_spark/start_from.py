"""The words of ``start_from``: where the streams of a generation begin. Pure."""

from typing import Final

CARRY_OVER: Final = "carry_over"
EARLIEST: Final = "earliest"
OLDEST_SNAPSHOT: Final = "oldest_snapshot"
"""Like ``earliest``, and without the rows that no live snapshot of a table added: that is accepted."""
LATEST: Final = "latest"
