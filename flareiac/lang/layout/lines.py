"""Indents lines, sets the spaces between pieces, and aligns equals signs and comments of neighbouring lines.

These are the rules of ``terraform fmt`` (the formatter of HCL), measured with that program. A line has up to
three cells: what stands before its equals sign, the assignment, and a comment at its end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile

from flareiac.lang.layout.columns import columns
from flareiac.lang.layout.pieces import Kind, Piece

_STEP = 2
"""Spaces of one level of indentation."""
_NOTHING = Piece(Kind.END, "")
"""Stands for the neighbour of the first or last piece of a cell."""
_INSIDE_TEXT = frozenset({Kind.CHARACTERS, Kind.OPEN_QUOTE, Kind.OPEN_HEREDOC})
_ENDS_TEXT = frozenset({Kind.CHARACTERS, Kind.CLOSE_QUOTE, Kind.CLOSE_HEREDOC})
_BEFORE_NEGATION = frozenset(
    [
        "(",
        "{",
        "[",
        "=",
        ":",
        ",",
        "?",
        "+",
        "*",
        "/",
        "%",
        "-",
        "==",
        "!=",
        ">",
        ">=",
        "<",
        "<=",
        "&&",
        "||",
        "!",
    ]
)
"""After these a minus negates; after anything else it subtracts."""


@dataclass(slots=True)
class _Line:
    lead: list[Piece]
    assign: list[Piece] = field(default_factory=list)
    comment: list[Piece] = field(default_factory=list)

    @property
    def code(self) -> Iterator[Piece]:
        yield from self.lead
        yield from self.assign


def lay_out(pieces: Sequence[Piece]) -> None:
    """Sets the spaces before each piece."""
    lines = [_cells(line) for line in _lines(pieces)]
    _indent(lines)
    for line in lines:
        _space(line.lead)
        _space(line.assign)
    _align(lines, lambda line: line.assign, lambda line: line.lead)
    _align(lines, lambda line: line.comment, lambda line: line.code)


def _lines(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    line: list[Piece] = []
    for piece in pieces:
        if piece.kind is Kind.END:
            break
        line.append(piece)
        if piece.ends_line:
            yield line
            line = []
    yield line


def _cells(pieces: list[Piece]) -> _Line:
    line = _Line(pieces)
    if len(pieces) > 1 and pieces[-1].kind is Kind.COMMENT:
        line.lead, line.comment = pieces[:-1], pieces[-1:]
    for at, piece in enumerate(line.lead):
        if at and piece.text == "=" and piece.kind is Kind.SIGN:
            # An expression that goes on below is not aligned: what it opens is no single line.
            if not sum(each.depth for each in line.lead[at:]):
                line.lead, line.assign = line.lead[:at], line.lead[at:]
            break
    return line


def _indent(lines: Iterable[_Line]) -> None:
    """A line that opens more than it closes begins a level; the level ends where as much has been closed."""
    levels: list[int] = []  # how many brackets the line that began each level left open
    for line in lines:
        if not line.lead:
            continue
        line.lead[0].spaces = 0
        if line.lead[0].kind is Kind.NEWLINE:
            continue
        opened = _opened(line.lead) + _opened(line.assign)
        if opened < 0:
            _close(levels, -opened)
        line.lead[0].spaces = _STEP * len(levels)
        if opened > 0:
            levels.append(opened)


def _opened(cell: Iterable[Piece]) -> int:
    """The brackets that a cell opens and does not close, up to the beginning of a heredoc."""
    return sum(piece.depth for piece in takewhile(lambda piece: piece.kind is not Kind.OPEN_HEREDOC, cell))


def _close(levels: list[int], count: int) -> None:
    while count and levels:
        closed = min(count, levels[-1])
        count -= closed
        levels[-1] -= closed
        if not levels[-1]:
            levels.pop()


def _space(cell: Sequence[Piece]) -> None:
    """Sets the spaces between the pieces of a cell; those before its first piece are not its own."""
    for at in range(len(cell) - 1):
        before = cell[at - 1] if at else _NOTHING
        cell[at + 1].spaces = int(_are_apart(before, cell[at], cell[at + 1]))


def _are_apart(before: Piece, piece: Piece, after: Piece) -> bool:
    """Returns True if a space stands between ``piece`` and ``after``. The first rule that applies decides."""
    for rule in _RULES:
        if (answer := rule(before, piece, after)) is not None:
            return answer
    return True


def _before_newline(_before: Piece, _piece: Piece, after: Piece) -> bool | None:
    return False if after.kind is Kind.NEWLINE else None


def _of_names(_before: Piece, piece: Piece, after: Piece) -> bool | None:
    """Calls, namespaces and attributes hold together."""
    if piece.kind is Kind.WORD and after.text in ("(", "::"):
        return False
    if (piece.text == "::" and after.kind is Kind.WORD) or "." in (_sign(piece), _sign(after)):
        return False
    return None


def _of_lists(_before: Piece, piece: Piece, after: Piece) -> bool | None:
    if _sign(after) in (",", "..."):
        return False
    return True if _sign(piece) == "," else None


def _of_texts(_before: Piece, piece: Piece, after: Piece) -> bool | None:
    return False if piece.kind in _INSIDE_TEXT or after.kind in _ENDS_TEXT else None


def _of_indexes(before: Piece, piece: Piece, after: Piece) -> bool | None:
    """``in [1, 2]`` begins a list, ``name[0]`` takes an element."""
    if before.kind is Kind.WORD and piece.kind is Kind.WORD and piece.text == "in":
        return True
    if after.text == "[" and after.kind is Kind.OPEN:
        return False if piece.kind in (Kind.WORD, Kind.NUMBER) or piece.depth < 0 else None
    return None


def _of_prefixes(before: Piece, piece: Piece, _after: Piece) -> bool | None:
    match _sign(piece):
        case "!":
            return False
        case "-":
            negates = before is _NOTHING or (
                before.kind in (Kind.SIGN, Kind.OPEN) and before.text in _BEFORE_NEGATION
            )
            return not negates
        case _:
            return None


def _of_braces(_before: Piece, piece: Piece, after: Piece) -> bool | None:
    opens = piece.text == "{" and piece.kind is Kind.OPEN
    closes = after.text == "}" and after.kind is Kind.CLOSE
    return not (opens and closes) if opens or closes else None


def _of_templates(_before: Piece, piece: Piece, after: Piece) -> bool | None:
    """An object alone in a template sequence stands apart from its braces; sequences touch each other."""
    if piece.kind is Kind.OPEN_TEMPLATE and after.text == "{":
        return True
    if piece.text == "}" and piece.kind is Kind.CLOSE and after.kind is Kind.CLOSE_TEMPLATE:
        return True
    return False if piece.kind is Kind.CLOSE_TEMPLATE and after.kind is Kind.OPEN_TEMPLATE else None


def _of_brackets(_before: Piece, piece: Piece, after: Piece) -> bool | None:
    return False if piece.depth > 0 or after.depth < 0 else None


_RULES: tuple[Callable[[Piece, Piece, Piece], bool | None], ...] = (
    _before_newline,
    _of_names,
    _of_lists,
    _of_texts,
    _of_indexes,
    _of_prefixes,
    _of_braces,
    _of_templates,
    _of_brackets,
)
"""In the order in which they win: a comma is followed by a space even before a bracket."""


def _sign(piece: Piece) -> str:
    return piece.text if piece.kind is Kind.SIGN else ""


def _align(
    lines: Iterable[_Line],
    cell: Callable[[_Line], list[Piece]],
    lead: Callable[[_Line], Iterable[Piece]],
) -> None:
    """Has a cell begin in the same column in lines that follow each other, one space behind the widest."""
    for has_cell, group in groupby(lines, lambda line: bool(cell(line))):
        if has_cell:
            chain = [(line, _width(lead(line))) for line in group]
            widest = max(width for _, width in chain)
            for line, width in chain:
                cell(line)[0].spaces = widest - width + 1


def _width(pieces: Iterable[Piece]) -> int:
    return sum(piece.spaces + columns(piece.text) for piece in pieces)
