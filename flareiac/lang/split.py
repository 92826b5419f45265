"""Cuts a file into its top-level items, so that each is read, cached and complained of by itself.

A coarse scan, four times as fast as cutting the text into terminals: it knows strings, templates, comments,
heredocs and brackets, and nothing else. Broken text is cut somewhere; reading the piece says what is wrong.
"""

import re
from functools import lru_cache
from typing import Final

_BETWEEN: Final = re.compile(r"(?:\s+|(?:\#|//)[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_CODE: Final = re.compile(
    r"""(?P<skip>"[^"\\$%\n]*"|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|(?:\#|//)[^\n]*)
      | (?P<heredoc><<-?[^\W\d][\w.-]*\r?\n)
      | (?P<open>["{(\[])
      | (?P<close>[})\]])
      | (?P<newline>\n)
    """,
    re.VERBOSE,
)
_QUOTED: Final = re.compile(r'(?P<skip>\\.|\$\$\{|%%\{)|(?P<open>[$%]\{)|(?P<close>")|(?P<newline>\n)')
_OPENED: Final = {"}": "{", ")": "(", "]": "[", '"': '"'}


def top_level_items(text: str) -> list[tuple[int, int]]:
    """The ranges of top-level items, without the blank lines and comments between them."""
    items: list[tuple[int, int]] = []
    start = _after_blank(text, 0)
    while start < len(text):
        end = _end(text, start)
        items.append((start, end))
        start = _after_blank(text, end)
    return items


def _after_blank(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    assert match is not None
    return match.end()


def _end(text: str, at: int) -> int:
    """The offset at which the piece that begins here ends: at the first newline outside of all that it opens.
    ``stack`` holds brackets, quotes, and the markers of heredocs with the newline after them.
    """
    stack: list[str] = []
    while match := _pattern(stack[-1] if stack else "").search(text, at):
        at, token = match.end(), match.group()
        match match.lastgroup:
            case "open":
                stack.append(token)
            case "heredoc":
                stack.append(token.strip().lstrip("<-") + "\n")
            case "close" if stack and stack[-1].endswith(_OPENED.get(token, "\n")):
                stack.pop()
            case "newline" if not stack:
                return match.start()
            case "newline" if stack[-1] == '"':  # a string that its line does not close
                stack.pop()
                at = match.start()
            case _:
                pass
    return len(text)


def _pattern(inside: str) -> re.Pattern[str]:
    """The pattern of the tokens that count inside the innermost thing that is open."""
    if inside == '"':
        return _QUOTED
    return _heredoc(inside[:-1]) if inside.endswith("\n") else _CODE


@lru_cache(maxsize=64)
def _heredoc(marker: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<skip>\$\$\{{|%%\{{)|(?P<open>[$%]\{{)|(?P<close>^[^\S\n]*{re.escape(marker)}[^\S\n]*$)",
        re.MULTILINE,
    )
