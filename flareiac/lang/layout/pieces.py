"""Cuts a text into pieces that lose nothing of it: tokens, comments, newlines, and the spaces before each."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from flareiac.lang.tokens import Token, tokenize


class Kind(Enum):
    """The kinds of pieces that the layout tells apart."""

    WORD = auto()
    NUMBER = auto()
    SIGN = auto()
    """An operator, a separator or an equals sign."""
    OPEN = auto()
    CLOSE = auto()
    OPEN_TEMPLATE = auto()
    """``${`` or ``%{``."""
    CLOSE_TEMPLATE = auto()
    OPEN_QUOTE = auto()
    CLOSE_QUOTE = auto()
    OPEN_HEREDOC = auto()
    CLOSE_HEREDOC = auto()
    CHARACTERS = auto()
    """Text inside of quotes or of a heredoc."""
    COMMENT = auto()
    """With its newline, where it is one that runs to the end of the line."""
    NEWLINE = auto()
    END = auto()
    """The end of the text, which may have spaces before it."""


@dataclass(slots=True)
class Piece:
    """One piece, and the number of spaces before it."""

    kind: Kind
    text: str
    spaces: int = 0

    @property
    def depth(self) -> int:
        """1 for a piece that opens a bracket or a template sequence, -1 for one that closes it, else 0."""
        if self.kind in (Kind.OPEN, Kind.OPEN_TEMPLATE):
            return 1
        return -1 if self.kind in (Kind.CLOSE, Kind.CLOSE_TEMPLATE) else 0

    @property
    def ends_line(self) -> bool:
        return self.kind is Kind.NEWLINE or (self.kind is Kind.COMMENT and self.text.endswith("\n"))


_BETWEEN = re.compile(
    r"(?P<spaces>(?:[ \t]|\r(?!\n))*)"
    r"(?:(?P<NEWLINE>\r?\n)|(?P<COMMENT>(?:\#|//)[^\n]*\n?|/\*(?:[^*]|\*(?!/))*\*/)|\Z)"
)
_KINDS = {
    "NAME": Kind.WORD,
    "INT_LITERAL": Kind.NUMBER,
    "FLOAT_LITERAL": Kind.NUMBER,
    "STRING_CHARS": Kind.CHARACTERS,
    "LBRACE": Kind.OPEN,
    "LPAR": Kind.OPEN,
    "LSQB": Kind.OPEN,
    "RBRACE": Kind.CLOSE,
    "RPAR": Kind.CLOSE,
    "RSQB": Kind.CLOSE,
    "INTERP_START": Kind.OPEN_TEMPLATE,
    "DIRECTIVE_START": Kind.OPEN_TEMPLATE,
}
_CLOSING = {Kind.OPEN_QUOTE: Kind.CLOSE_QUOTE, Kind.OPEN_HEREDOC: Kind.CLOSE_HEREDOC}
_OPENING = frozenset([*_CLOSING, Kind.OPEN, Kind.OPEN_TEMPLATE])


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a text, the last of kind ``END``. Raises ``InvalidSyntax``."""
    pieces: list[Piece] = []
    opened: list[Kind] = []
    at = 0
    for token in tokenize(text):
        if token.kind == "NL_OR_COMMENT":
            continue  # it is part of what stands between two tokens
        spaces = _between(text[at : token.start], pieces)
        for kind, part in _parts(token, opened):
            pieces.append(Piece(kind, part, spaces))
            spaces = 0
        at = token.end
    pieces.append(Piece(Kind.END, "", _between(text[at:], pieces)))
    return pieces


def _between(text: str, pieces: list[Piece]) -> int:
    """Adds the comments and newlines of a text between two tokens; the number of spaces behind them."""
    at = 0
    while match := _BETWEEN.match(text, at):
        at = match.end()
        spaces = len(match["spaces"])
        if match.lastgroup == "spaces":
            return spaces
        pieces.append(Piece(Kind[match.lastgroup or ""], match[match.lastgroup or ""], spaces))
    raise AssertionError(f"{text[at:]!r} is no token, and nothing that stands between tokens")


def _parts(token: Token, opened: list[Kind]) -> Iterator[tuple[Kind, str]]:
    """Yields the pieces of one token: splats are signs and brackets. ``opened`` holds what is open."""
    text = token.text
    if token.kind == "FULL_SPLAT_START":
        yield from ((Kind.OPEN, "["), (Kind.SIGN, "*"), (Kind.CLOSE, "]"))
    elif token.kind == "ATTR_SPLAT":
        yield from ((Kind.SIGN, "."), (Kind.SIGN, "*"))
    else:
        yield _kind(token, opened), text


def _kind(token: Token, opened: list[Kind]) -> Kind:
    if token.kind == "DBLQUOTE":
        kind = Kind.OPEN_HEREDOC if token.text.startswith("<<") else Kind.OPEN_QUOTE
        if opened and opened[-1] in _CLOSING and (kind is not Kind.OPEN_HEREDOC):
            return _CLOSING[opened.pop()]
    else:
        kind = _KINDS.get(token.kind, Kind.SIGN)
        if kind is Kind.CLOSE:
            return Kind.CLOSE_TEMPLATE if opened.pop() is Kind.OPEN_TEMPLATE else Kind.CLOSE
    if kind in _OPENING:
        opened.append(kind)
    return kind


def text_of(pieces: Iterable[Piece]) -> str:
    """The text that pieces make."""
    return "".join(" " * piece.spaces + piece.text for piece in pieces)
