"""Positions in source text. Every piece of syntax knows its span; every complaint points at one."""

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Source:
    """One text that was read: its name as shown to people, and its content."""

    path: str
    text: str

    def position(self, offset: int) -> Position:
        """The position of a character offset (clamped to the text)."""
        offset = max(0, min(offset, len(self.text)))
        line = self.text.count("\n", 0, offset) + 1
        last_break = self.text.rfind("\n", 0, offset)
        return Position(line, offset - last_break, offset)

    def span(self, start: int, end: int) -> Span:
        """The span between two character offsets."""
        return Span(self.path, self.position(start), self.position(end))
