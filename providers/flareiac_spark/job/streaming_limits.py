"""Names what Spark refuses in a stream, and what can be written instead. Pure."""

import re
from typing import Final

_FOR_STREAMS: Final = re.compile(r"\b(stream(ing|s)?|writeStream)\b", re.IGNORECASE)
_UNSUPPORTED: Final = re.compile(
    r"not supported|unsupported|not allowed|does not support|cannot be used", re.IGNORECASE
)
_INSTEAD: Final = {
    r"sort|order by": "Remove ORDER BY: a stream has no last row. Sort where the table is read, or "
    "give the table an order with sort_by.",
    r"\blimits?\b": "Remove LIMIT: a stream has no last row.",
    r"distinct agg": "Use approx_count_distinct, or write the rows to a table and count them in a batch job.",
    r"non[-_ ]time|window function": "Remove OVER (...): group by window(...) of a time column, or "
    "compute it in a batch job.",
    r"\bjoin": "Put a watermark on both sides, with a time range in the condition of the join.",
    r"watermark": "Declare a watermark on the stream or on a step, or write the output with mode = "
    '"merge" or "complete".',
    r"output mode": "Choose another mode of the output: append, merge or complete (flareiac explain "
    "job.output.mode).",
}
"""By a pattern of Spark's message, in order: the first that fits counts."""


def instead_for_streams(message: str) -> str | None:
    """A sentence on what to write instead of an operation that Spark does not run in a stream; None where a
    message is about something else.
    """
    if "real-time" in message or not (_FOR_STREAMS.search(message) and _UNSUPPORTED.search(message)):
        return None
    for pattern, instead in _INSTEAD.items():
        if re.search(pattern, message, re.IGNORECASE):
            return instead
    return "Write the query without it, or compute it in a batch job."
