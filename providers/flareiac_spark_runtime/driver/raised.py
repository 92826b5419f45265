"""Errors that expressions of our own raise: ``[CLASS] text``, somewhere in what Spark says of them."""

import re
from typing import Final

_END: Final = re.compile(r"\s*SQLSTATE: \w{5}\b.*")


def raised(error_class: str, message: str) -> str | None:
    """The text of such an error, of one line; None for other errors."""
    _before, begin, after = message.partition(f"[{error_class}] ")
    return _END.sub("", after.split("\n", 1)[0]) if begin else None
