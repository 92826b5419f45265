"""The characters of a text as a person counts them."""

import re
from typing import Final

_MARKS: Final = r"[\u0300-\u036f\ufe0f\U0001f3fb-\U0001f3ff]*"
_CLUSTER: Final = re.compile(rf"\r\n|.{_MARKS}(?:\u200d.{_MARKS})*", re.DOTALL)


def clusters(text: str) -> list[str]:
    """Code points, each with the marks that combine with it (the common ones, not all of Unicode's rules)."""
    if text.isascii() and "\r" not in text:
        return list(text)
    return _CLUSTER.findall(text)
