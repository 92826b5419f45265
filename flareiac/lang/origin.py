"""The origin of a piece of syntax. Offsets are relative to a piece of the text, so that a cached piece fits
where it moved to.
"""

from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span


@dataclass(frozen=True, slots=True)
class Origin:
    """One piece of a source, beginning at the character offset ``base``. ``digest``: of the text of a
    top-level item; empty for other pieces.
    """

    source: Source = field(repr=False)
    base: int = 0
    digest: str = ""

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets relative to this piece."""
        return self.source.span(self.base + start, self.base + end)
