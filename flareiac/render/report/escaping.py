"""Texts of users inside of Markdown: the one place that makes them safe.

No text leaves its cell, its line or its fence. None becomes markup, HTML, a link, a mention or a reference to
an issue, and none holds characters that cannot be seen or that change the direction of what follows.
Backslashes do not help against mentions and references, which GitHub and GitLab look for after all entities
are decoded: an empty comment behind the sign parts it from the name. Pure.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from flareiac.render.control_characters import printable
from flareiac.sdk.changes import Effect

_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Characters of other categories that are drawn as nothing."""
_VARIATIONS: Final = ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_MARKUP: Final = re.compile(r"[\\`*\[\]<&|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BEGINNING: Final = re.compile(r"(?P<kept>\d+)(?P<sign>[.)])|(?P<first>[!-/:-@^-`{-~])")
"""Characters that begin a list, a heading or a quotation at the start of a line."""
_PART: Final = "<!-- -->"
_SIGNED: Final = re.compile(
    r"(?<=[@#!$%&~^*\[])(?=[\w+\[\"'-])"
    r"|(?<=[@#!$%&~^*\[:])$|(?<=:)(?=//)|(?<=:)(?<!\d:)(?=[\w+-]+:)"
    r"|(?<=(?i:www))(?=\.)|(?<=(?i:gh-))(?=\d)"
)
"""Between a sign and the name behind it: mentions, references, short codes of pictures, addresses."""
_COMMIT: Final = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-fA-F]{7,64}(?![0-9A-Za-z]))([0-9a-fA-F]{4})")
LABEL: Final = re.compile(rf"(\[(?:{'|'.join(re.escape(effect.value) for effect in Effect)})\](?![\[(:]))")
"""The label of an effect, which is no link and no reference and stays as it is."""
_TICKS: Final = re.compile("`+")
_FROM_A_DIAGRAM: Final = re.compile(r"[^\w .,/-]|_{2,}", re.ASCII)


def seen(text: str, longest: int = 0) -> str:
    """The text with all that cannot be seen spelled out, and secrets masked; line feeds and tabs stay.
    ``longest``: as many characters are kept (0: all), and the rest is counted.
    """
    text = printable(text)
    if longest and len(text) > longest:
        text = f"{text[:longest]}... ({len(text) - longest} more characters)"
    if text.isascii():
        return text
    return "".join(_spelled_out(sign) if _is_unseen(sign) else sign for sign in text)


def line(text: str, longest: int = 0) -> str:
    """``seen``, on one line."""
    return " ".join(seen(text, longest).split())


def prose(text: str, longest: int = 400) -> str:
    """A sentence that may quote users, for a cell of a table, the inside of a line, or its beginning."""
    pieces = LABEL.split(line(text, longest))
    first = _BEGINNING.match(pieces[0])
    at = first.end() if first is not None else 0
    pieces[0] = pieces[0][at:]
    escaped = "".join(piece if number % 2 else _escaped(piece) for number, piece in enumerate(pieces))
    if first is None:
        return escaped
    sign = first["sign"] or first["first"]
    # The sign may be one of those that are parted from what follows.
    return f"{first['kept'] or ''}&#{ord(sign)};{_PART if first['first'] else ''}{escaped}"


def _escaped(text: str) -> str:
    parts = _SIGNED.split(_COMMIT.sub("\\1\ue000", text))
    escaped = (_MARKUP.sub(lambda match: f"&#{ord(match[0])};", part) for part in parts)
    return _PART.join(escaped).replace("\ue000", _PART)


def code(text: str, longest: int = 200) -> str:
    """A name or a value, as code in a paragraph or in a cell of a table."""
    shown = line(text, longest) or " "
    if "|" in shown or "`" in shown or shown == " ":
        # A cell ends at a pipe, also inside of code, and parsers differ in how a backslash before it counts.
        return f"<code>{prose(shown, 0)}</code>"
    return f"`{shown}`"


def fence(lines: Iterable[str], language: str, longest: int = 400) -> str:
    """Lines as a block of code that none of them can close."""
    shown = "\n".join(part for text in lines for part in seen(text, longest).split("\n"))
    longest_run = max((len(run) for run in _TICKS.findall(shown)), default=0)
    ticks = "`" * max(3, longest_run + 1)
    return f"{ticks}{language}\n{shown}\n{ticks}"


def comment(text: str) -> str:
    """A name for the inside of an HTML comment, which it cannot end."""
    return re.sub(r"[^A-Za-z0-9_.]", lambda match: f"%{ord(match[0]):02X}", text)


def label(text: str, longest: int = 60) -> str:
    """The quoted label of a node in a Mermaid diagram, where ``#NUMBER;`` is a character."""
    return '"' + _FROM_A_DIAGRAM.sub(_numbered, line(text, longest)) + '"'


def _numbered(match: re.Match[str]) -> str:
    return "".join(sign if sign.isalnum() else f"#{ord(sign)};" for sign in match[0])


def _is_unseen(sign: str) -> bool:
    if sign in "\n\t" or sign.isascii():
        return False
    number = ord(sign)
    return (
        unicodedata.category(sign) in _UNSEEN_CATEGORIES
        or sign in _UNSEEN
        or any(first <= number <= last for first, last in _VARIATIONS)
    )


def _spelled_out(sign: str) -> str:
    number = ord(sign)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
