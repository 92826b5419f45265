"""Positions in source text. Every piece of syntax knows its span; every complaint points at one."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Form


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text: line and column count from 1 (in characters), offset from 0 (in characters)."""

    line: int
    column: int
    offset: int


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range ``[start, end)`` of one source. ``path`` is the source's name as shown to people."""

    path: str
    start: Position
    end: Position

    def __str__(self) -> str:
        return f"{self.path}:{self.start.line}:{self.start.column}"

    def to(self, other: "Span") -> "Span":
        """The span from the start of this one to the end of ``other`` (same source)."""
        return Span(self.path, self.start, other.end)


def _encode_span(span: Span) -> list[Any]:
    corners = (span.start, span.end)
    return [span.path, *(number for at in corners for number in (at.line, at.column, at.offset))]


def _decode_span(data: Any) -> Span:
    path, *numbers = data
    if not isinstance(path, str) or len(numbers) != 6 or any(type(number) is not int for number in numbers):
        raise TypeError(f"expected a span, found {data!r:.60}")
    return Span(path, Position(*numbers[:3]), Position(*numbers[3:]))


StoredSpan: TypeAlias = Annotated[Span, Form(_encode_span, _decode_span, tuple[str | int, ...])]
"""In JSON one list: the path, and line, column and offset of both ends."""


@dataclass(frozen=True, slots=True)
class Source:
    """One text that was read: its name as shown to people, and its content."""

    path: str
    text: str

    def position(self, offset: int) -> Position:
        """The position of a character offset (clamped to the text)."""
        offset = max(0, min(offset, len(self.text)))
        starts = line_starts(self.text)
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1, offset)

    def line(self, number: int) -> str:
        """A line by its number, without its break; empty where there is none."""
        starts = line_starts(self.text)
        if not 1 <= number <= len(starts):
            return ""
        return self.text[starts[number - 1] : starts[number] - 1 if number < len(starts) else len(self.text)]

    def span(self, start: int, end: int) -> Span:
        """The span between two character offsets."""
        return Span(self.path, self.position(start), self.position(end))


@lru_cache(maxsize=16)
def line_starts(text: str) -> Sequence[int]:
    """The offset at which each line begins: found once for a text, since a broken one has a complaint on each
    of its lines.
    """
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
