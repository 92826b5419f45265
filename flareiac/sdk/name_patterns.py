"""Patterns of names that another program reads in Java's syntax. What Python and Java read alike is decided
here, for names in ASCII; anything else is unknown. Pure; travels with the driver.
"""

import re
from functools import lru_cache
from typing import Final

_TOKENS: Final = re.compile(
    r"""(?:\(\?i\))?(?:
      \\[dDwW]                                                    # kinds of characters
    | \\[!-/:-@\[-`{-~]                                           # what is meant as it is
    | \[\^?(?:\\[dDwW]|\\[!-/:-@\[-`{-~]|[^\]\[\\&^|~\s-]|-(?!-))+\]
    | \((?:\?[:=!]|(?!\?)) | \)
    | [*+?][+?]? | \{[0-9]+(?:,[0-9]*)?\}[+?]?
    | [|^$.]
    | [A-Za-z0-9_:/@%,=~!&'"<>;\#-]
    )*""",
    re.VERBOSE | re.ASCII,
)
_OF_JAVA: Final = re.compile(r"\\[A-Za-z0-9]|&&|\[[^\]]*\[|\(\?|[*+?}][*+?{]")
"""The constructs that may be right in Java where Python refuses them."""
_TOO_LARGE: Final = (RecursionError, OverflowError)
"""The errors that Python raises for a pattern that is nested deeply, and for a number of repetitions."""


def matches(pattern: str, name: str) -> bool | None:
    """Returns True if a pattern matches a whole name; None where only Java can decide."""
    compiled = _compiled(pattern)
    return None if compiled is None else compiled.fullmatch(name) is not None


def is_common(pattern: str) -> bool:
    """Returns True if Python reads a pattern as Java does."""
    return _compiled(pattern) is not None


def fault(pattern: str) -> str | None:
    """Returns why a text is not a pattern, in Java either; None where that is not certain."""
    try:
        re.compile(pattern)
    except re.error as problem:
        return None if _OF_JAVA.search(pattern) else str(problem)
    except _TOO_LARGE:
        return None
    return None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if _TOKENS.fullmatch(pattern) is None:
        return None
    try:
        return re.compile(pattern, re.ASCII)
    except (re.error, *_TOO_LARGE):
        return None
