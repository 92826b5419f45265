"""Counts the columns of a text: one for each character as a reader sees it, a grapheme cluster of Unicode's
annex 29.
"""

import re
import unicodedata

_JOINER = "\u200d"
_PICTURES = re.compile("[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]")
_FLAG_LETTERS = re.compile("[\U0001f1e6-\U0001f1ff]+")
_EXTENDING = re.compile("[\u200c\u200d\u1160-\u11ff\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")


def columns(text: str) -> int:
    """The number of grapheme clusters of a text, which decides where the next column begins."""
    if text.isascii():
        return len(text) - text.count("\r\n")
    flags = sum(len(run.group()) // 2 for run in _FLAG_LETTERS.finditer(text))
    return sum(_begins(text, at) for at in range(len(text))) - flags


def _begins(text: str, at: int) -> bool:
    """Returns True if a cluster begins with this character."""
    letter = text[at]
    if at == 0 or letter == "\r":
        return True
    if letter == "\n":
        return text[at - 1] != "\r"
    if _EXTENDING.match(letter) or unicodedata.category(letter) in ("Mn", "Me", "Mc"):
        return False
    return not (text[at - 1] == _JOINER and _PICTURES.match(letter))
