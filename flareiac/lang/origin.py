"""Where a piece of syntax comes from. Offsets are relative to a piece of the text, so that a cached piece
fits where it moved to.
"""

from dataclasses import dataclass, field

from flareiac.kernel.sources import Position, Source, Span


class Lines:
    """The line starts of one source: turns character offsets into positions without scanning the text each
    time.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def position(self, offset: int) -> Position:
        """The position of a character offset (clamped to the text)."""
        return self.source.position(offset)


@dataclass(frozen=True, slots=True)
class Origin:
    """One piece of a source, beginning at the character offset ``base``."""

    lines: Lines = field(repr=False)
    base: int = 0

    @classmethod
    def of(cls, source: Source) -> "Origin":
        """The whole of a source."""
        return cls(Lines(source))

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets relative to this piece."""
        return Span(
            self.lines.source.path,
            self.lines.position(self.base + start),
            self.lines.position(self.base + end),
        )
