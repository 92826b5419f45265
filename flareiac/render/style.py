"""Colours pieces of terminal text. Without colour every function returns its text as it is."""

from enum import Enum

from flareiac.kernel.lazy_dataclass import dataclass


class Tone(Enum):
    """The role of a piece of text, as the parameters of an ANSI escape."""

    ADD = "32"
    CHANGE = "33"
    REMOVE = "31"
    BLOCKED = "1;31"
    STRONG = "1"
    QUIET = "2"
    CODE = "36"


@dataclass(frozen=True, slots=True)
class Style:
    """Colours text, or leaves it alone."""

    colour: bool

    def paint(self, text: str, tone: Tone) -> str:
        """The text in its tone; each line is coloured by itself, so that a pager can cut anywhere."""
        if not self.colour or not text:
            return text
        return "\n".join(f"\x1b[{tone.value}m{line}\x1b[0m" if line else line for line in text.split("\n"))

    def strong(self, text: str) -> str:
        return self.paint(text, Tone.STRONG)

    def quiet(self, text: str) -> str:
        return self.paint(text, Tone.QUIET)
