"""Writes old spellings as they are written today: labels in quotes, no ``"${...}"`` around a whole value,
types of variables without quotes. The meaning stays.
"""

from collections.abc import Sequence

from flareiac.lang.layout.pieces import Kind, Piece

_ELEMENTS = {"list": "any", "map": "any", "set": "any"}
"""The type of the elements of a collection whose type is a single word."""
_QUOTED_TYPES = {"string": (), "list": ("string",), "map": ("string",)}
"""The types that were written in quotes, with the type of their elements."""
_BLANK = frozenset({Kind.COMMENT, Kind.NEWLINE})


def modernize(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of a text with its old spellings replaced. The text parses."""
    reader = _Reader(pieces)
    reader.body(())
    return reader.out


class _Reader:
    """One pass over the statements of a text; expressions are copied, or replaced as a whole."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._at = 0
        self.out: list[Piece] = []

    @property
    def _next(self) -> Piece:
        return self._pieces[self._at]

    def _copy(self) -> Piece:
        piece = self._next
        self.out.append(piece)
        self._at += 1
        return piece

    def body(self, blocks: tuple[str, ...]) -> None:
        """Reads the statements up to the end of the body. ``blocks``: the types of those around it."""
        while self._next.kind not in (Kind.CLOSE, Kind.END):
            if self._next.kind is Kind.WORD:
                self._statement(blocks)
            else:
                self._copy()
        self._copy()

    def _statement(self, blocks: tuple[str, ...]) -> None:
        name = self._copy().text
        while self._next.text != "{" or self._next.kind is not Kind.OPEN:
            if self._next.text == "=" and self._next.kind is Kind.SIGN:
                self._copy()
                self._value(is_type=blocks == ("variable",) and name == "type")
                return
            if self._next.kind is Kind.END:
                return
            self._label()
        self._copy()
        self.body((*blocks, name))

    def _label(self) -> None:
        piece = self._copy()
        if piece.kind is Kind.WORD:
            quoted = [Piece(Kind.OPEN_QUOTE, '"', 1), Piece(Kind.CHARACTERS, piece.text)]
            self.out[-1:] = [*quoted, Piece(Kind.CLOSE_QUOTE, '"')]

    def _value(self, *, is_type: bool) -> None:
        """Reads an expression up to the end of its line, or of the block on one line that holds it."""
        first = last = self._at
        depth, quotes = 0, 0
        while self._next.kind is not Kind.END:
            piece = self._next
            if not depth and not quotes and (piece.ends_line or piece.kind is Kind.CLOSE):
                break
            depth += piece.depth
            quotes += piece.kind in (Kind.OPEN_QUOTE, Kind.OPEN_HEREDOC)
            quotes -= piece.kind in (Kind.CLOSE_QUOTE, Kind.CLOSE_HEREDOC)
            self._at += 1
            if piece.kind not in _BLANK:
                last = self._at
        while first < last and self._pieces[first].kind in _BLANK:
            first += 1
            self.out.append(self._pieces[first - 1])
        expression = self._pieces[first:last]
        self.out += _type(expression) if is_type else _unwrapped(expression)
        self.out += self._pieces[last : self._at]


def _type(expression: Sequence[Piece]) -> Sequence[Piece]:
    match [(piece.kind, piece.text) for piece in expression]:
        case [(Kind.WORD, word)] if word in _ELEMENTS:
            return _type_pieces(word, (_ELEMENTS[word],))
        case [(Kind.OPEN_QUOTE, _), (Kind.CHARACTERS, word), _] if word in _QUOTED_TYPES:
            return _type_pieces(word, _QUOTED_TYPES[word])
        case _:
            return expression


def _type_pieces(word: str, elements: Sequence[str]) -> Sequence[Piece]:
    arguments = [Piece(Kind.WORD, each) for each in elements]
    return [Piece(Kind.WORD, word), *(_in_parentheses(arguments) if arguments else ())]


def _in_parentheses(pieces: Sequence[Piece]) -> Sequence[Piece]:
    return [Piece(Kind.OPEN, "("), *pieces, Piece(Kind.CLOSE, ")")]


def _unwrapped(expression: Sequence[Piece]) -> Sequence[Piece]:
    """The inside of ``"${...}"`` where that is the whole of an expression, else the expression. A comment
    up to the end of its line keeps it as it is: behind an equals sign it would cut the expression off.
    """
    match [piece.kind for piece in expression]:
        case [Kind.OPEN_QUOTE, Kind.OPEN_TEMPLATE, _, *_, Kind.CLOSE_TEMPLATE, Kind.CLOSE_QUOTE]:
            inner = expression[2:-2]
        case _:
            return expression
    if expression[1].text[0] != "$" or not _is_one_sequence(inner):
        return expression
    while inner and inner[0].kind is Kind.NEWLINE:
        inner = inner[1:]
    while inner and inner[-1].kind is Kind.NEWLINE:
        inner = inner[:-1]
    return _in_parentheses(inner) if _needs_parentheses(inner) else _unwrapped(inner)


def _is_one_sequence(inner: Sequence[Piece]) -> bool:
    """Returns False for ``"${a}${b}"``, for what has a sequence in a heredoc, and for a comment up to the end
    of its line that no bracket holds.
    """
    quotes = depth = 0
    for piece in inner:
        depth += piece.depth
        quotes += (piece.kind is Kind.OPEN_QUOTE) - (piece.kind is Kind.CLOSE_QUOTE)
        if not quotes and piece.kind in (Kind.OPEN_TEMPLATE, Kind.CLOSE_TEMPLATE):
            return False
        if not depth and piece.kind is Kind.COMMENT and piece.ends_line:
            return False
    return True


def _needs_parentheses(inner: Sequence[Piece]) -> bool:
    """Returns True if an expression goes over several lines, unless parentheses around it hold it together
    already.
    """
    depth, inside = 0, []
    for piece in inner:
        depth += piece.depth
        if piece.kind is Kind.NEWLINE:
            inside.append(depth > 0)
    return bool(inside) and not (all(inside) and inner[0].text == "(" and inner[-1].text == ")")
