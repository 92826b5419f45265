"""Fits the parts of a document into a number of characters: whole entries are left out, counted and named.
Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass

_BETWEEN: Final = "\n\n"
_NAMED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A piece of text that is shown whole or not at all, with the names of what it is about."""

    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Entries between a head and a tail, which are shown if any entry is.

    ``noun`` is what the names are called where they are left out, ``single`` what the one entry is called of
    a part that has no more. ``vital``: where an entry of it is left out, so is every later part.
    """

    noun: str
    head: str
    entries: tuple[Entry, ...]
    tail: str = ""
    between: str = "\n"
    vital: bool = False
    single: str = ""


@dataclass(slots=True, kw_only=True)
class _Filled:
    """The entries of a part that are shown, and those that are left out."""

    part: Part
    shown: list[Entry] = field(default_factory=list)
    left: list[Entry] = field(default_factory=list)

    def text(self) -> str:
        entries = self.part.between.join(entry.text for entry in self.shown)
        return self.part.head + self.part.between + entries + self.part.tail

    def missing(self, name: Callable[[str], str] | None) -> str:
        """Counts the names that are left out, of all, and lists the first of them."""
        if self.part.single:
            return self.part.single
        names = [each for entry in self.left for each in entry.names]
        count = len(names) + sum(len(entry.names) for entry in self.shown)
        said = f"{len(names)} of {count} {self.part.noun}"
        if name is None:
            return said
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        return f"{said} ({', '.join([*map(name, names[:_NAMED]), *more])})"


def fitted(
    first: str,
    parts: Sequence[Part],
    most: int,
    *,
    trailer: Callable[[str], str],
    name: Callable[[str], str],
) -> str:
    """``first`` and as much of the parts as ``most`` characters hold, in their order.

    ``trailer`` says what is left out, given the list of it; ``name`` writes one name there. ``first`` and the
    longest trailer without names must fit.
    """
    parts = [part for part in parts if part.entries]
    whole = [_Filled(part=part, shown=list(part.entries)) for part in parts]
    text = _joined(first, whole, "")
    if len(text) <= most:
        return text
    nothing = [_Filled(part=part, left=list(part.entries)) for part in parts]
    room = most - len(first) - len(_BETWEEN) - len(trailer(_missing(nothing, None)))
    # Room for names is kept where it is little beside the rest.
    filled = _fill(parts, room - min(room // 8, 800))
    for naming in (name, None):
        text = _joined(first, filled, trailer(_missing(filled, naming)))
        if len(text) <= most:
            break
    return text


def _fill(parts: Sequence[Part], room: int) -> list[_Filled]:
    filled = []
    is_over = False
    for part in parts:
        filling = _Filled(part=part)
        filled.append(filling)
        frame = len(_BETWEEN) + len(part.head) + len(part.tail)
        for entry in part.entries:
            size = len(part.between) + len(entry.text) + (0 if filling.shown else frame)
            if is_over or size > room:
                filling.left.append(entry)
            else:
                filling.shown.append(entry)
                room -= size
        is_over = is_over or (part.vital and bool(filling.left))
    return filled


def _joined(first: str, filled: Sequence[_Filled], last: str) -> str:
    return _BETWEEN.join([first, *(each.text() for each in filled if each.shown), *filter(None, [last])])


def _missing(filled: Sequence[_Filled], name: Callable[[str], str] | None) -> str:
    return "; ".join(each.missing(name) for each in filled if each.left)
