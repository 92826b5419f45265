"""Selects the lines of a source that show a diagnostic: the text of a span, the block around it, and carets
under it.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span, line_starts
from flareiac.render.control_characters import printable
from flareiac.sdk.secret_settings import holds_secret, is_secret

_BLOCK = re.compile(r"(?P<header>[A-Za-z_][\w-]*(?:[ \t]+(?:\"[^\"]*\"|[A-Za-z_][\w-]*))*)[ \t]*\{")
_SETTING = re.compile(r'(?:"([^"\n]+)"|(?<![\w-])([\w-]+))\s*[=:]\s*"((?:[^"\\\n]|\\.)*)"')
"""A name and the text that it is given. Within a long word, no search begins again at each of its letters."""
_MOST_LINES = 6
_TAB = "    "
_LEAD = 24
"""Columns kept before the subject when a line is too long to be shown whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLine:
    """One line as it is shown: its number, its text, and the carets below it (empty where there is nothing to
    point at).
    """

    number: int
    text: str
    carets: str = ""


def shown_lines(source: Source, subject: Span, context: Span | None, room: int) -> list[ShownLine]:
    """The lines of ``context`` (or of the subject), at most ``room`` columns each; at most six, from the
    subject's first line on.
    """
    count = len(line_starts(source.text))
    first = min(subject.start.line, context.start.line) if context else subject.start.line
    last = max(_last_line(subject), _last_line(context)) if context else _last_line(subject)
    if last - first >= _MOST_LINES:
        first = max(first, subject.start.line - 1)
        last = min(last, first + _MOST_LINES - 1)
    return [
        _shown(without_secrets(source.line(number).rstrip("\r")), number, subject, room)
        for number in range(first, min(last, count) + 1)
    ]


def without_secrets(text: str) -> str:
    """A part of a source with stars in the place of secrets that are written out in it, which is as long."""

    def stars(match: re.Match[str]) -> str:
        value = match.group(3)
        hidden = "${" not in value and (is_secret(match.group(1) or match.group(2)) or holds_secret(value))
        return (
            f'{match.group(0)[: -len(value) - 1]}{"*" * len(value)}"' if value and hidden else match.group(0)
        )

    return _SETTING.sub(stars, text)


def enclosing_block(source: Source, span: Span) -> str | None:
    """The header of the top-level block that a span lies in, such as ``table "orders"``."""
    headers = _headers(source.text)
    return headers[min(span.start.line, len(headers)) - 1]


@lru_cache(maxsize=16)
def _headers(text: str) -> Sequence[str | None]:
    """For each line, the header of the top-level block that it lies in."""
    headers: list[str | None] = []
    above: str | None = None
    for line in text.split("\n"):
        match = _BLOCK.match(line)
        headers.append(match["header"] if match else above)
        if match:
            above = None if line.rstrip().endswith("}") else match["header"]
        elif line.startswith("}"):
            above = None
    return headers


def _last_line(span: Span) -> int:
    """The last line that a span has a character of (its end may be the beginning of the next)."""
    return span.end.line - 1 if span.end.column == 1 and span.end.line > span.start.line else span.end.line


def _shown(line: str, number: int, subject: Span, room: int) -> ShownLine:
    texts = [_TAB if letter == "\t" else printable(letter) for letter in line]
    start, end = _covered(line, number, subject)
    before = _width("".join(texts[:start]))
    marked = max(1, _width("".join(texts[start:end]))) if end > start or number == subject.start.line else 0
    text = "".join(texts)
    if _width(text) > room:
        # Only very long lines come here; wide letters in them may leave a caret a column aside.
        cut = max(0, min(before - _LEAD, len(text) - room))
        text = (
            ("…" if cut else "")
            + text[cut + bool(cut) : cut + room - 1]
            + ("…" if cut + room - 1 < len(text) else "")
        )
        before -= cut
        marked = min(marked, max(1, room - before - 1)) if marked else 0
    return ShownLine(number=number, text=text.rstrip(), carets=" " * before + "^" * marked if marked else "")


def _covered(line: str, number: int, subject: Span) -> tuple[int, int]:
    """The characters of a line that the subject covers, without the line's indent when it began on an earlier
    line.
    """
    if not subject.start.line <= number <= _last_line(subject):
        return 0, 0
    start = subject.start.column - 1 if number == subject.start.line else len(line) - len(line.lstrip())
    end = subject.end.column - 1 if number == subject.end.line else len(line.rstrip())
    return min(start, len(line)), min(end, len(line))


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
