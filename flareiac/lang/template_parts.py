"""Puts the pieces of a quoted string or heredoc together: escapes, trim markers, heredoc indentation,
directives.
"""

import re
from dataclasses import replace
from typing import Final, TypeAlias

from flareiac.kernel import codes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.escapes import unescape_heredoc, unescape_quoted
from flareiac.lang.origin import Origin
from flareiac.lang.syntax import Expression, TemplateFor, TemplateIf, TemplatePart
from flareiac.lang.syntax_errors import InvalidSyntax

_SPACES: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""The characters that Go calls white space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A literal piece, as written."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An interpolation (``word`` is empty) or a directive, with its trim markers."""

    word: str
    expr: Expression | None
    names: tuple[str, ...]
    trim_before: bool
    trim_after: bool
    start: int
    end: int


Piece: TypeAlias = Text | Mark

_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")


def assemble(pieces: list[Piece], opening: str, origin: Origin) -> tuple[TemplatePart, ...]:
    """The parts of a template. ``opening`` is the quote or the heredoc's marker. Raises ``InvalidSyntax``."""
    meaning = unescape_quoted
    if opening.startswith("<<"):
        meaning, pieces = unescape_heredoc, _by_line(pieces)
    meant = _trim([Text(text=meaning(piece.text)) if isinstance(piece, Text) else piece for piece in pieces])
    reader = _Assembly(_flush(meant) if opening.startswith("<<-") else meant, origin)
    parts, stopped = reader.parts(())
    assert stopped is None
    return parts


def _by_line(pieces: list[Piece]) -> list[Piece]:
    """A piece for each line of a heredoc. HCL reads it so, which is why a trim marker takes no more than what
    is left of its line.
    """
    return [
        part
        for piece in pieces
        for part in (
            [Text(text=line) for line in _LINES.findall(piece.text)] if isinstance(piece, Text) else [piece]
        )
    ]


def _flush(pieces: list[Piece]) -> list[Piece]:
    """Takes the smallest indentation of any line away from all lines (``<<-``). Lines of white space neither
    count nor change; a line whose newline before it was trimmed away is none, as in HCL.
    """
    begins = [
        not at or (isinstance(before := pieces[at - 1], Text) and before.text.endswith("\n"))
        for at in range(len(pieces))
    ]
    lines = {
        at: len(piece.text) - len(piece.text.lstrip(_SPACES)) if isinstance(piece, Text) else 0
        for at, piece in enumerate(pieces)
        if begins[at] and not (isinstance(piece, Text) and _is_blank_line(piece.text))
    }
    least = min(lines.values(), default=0)
    return [
        Text(text=piece.text[least:]) if at in lines and isinstance(piece, Text) else piece
        for at, piece in enumerate(pieces)
    ]


def _is_blank_line(text: str) -> bool:
    return text.endswith("\n") and not text.strip(_SPACES)


def _trim(pieces: list[Piece]) -> list[Piece]:
    out = list(pieces)
    for index, piece in enumerate(pieces):
        if isinstance(piece, Mark):
            if piece.trim_before and index and isinstance(before := out[index - 1], Text):
                out[index - 1] = replace(before, text=before.text.rstrip(_SPACES))
            if piece.trim_after and index + 1 < len(out) and isinstance(after := out[index + 1], Text):
                out[index + 1] = replace(after, text=after.text.lstrip(_SPACES))
    return out


class _Assembly:
    """Reads pieces in order; directives nest by recursion."""

    def __init__(self, pieces: list[Piece], origin: Origin) -> None:
        self.pieces, self.at, self.origin = pieces, 0, origin

    def parts(self, stops: tuple[str, ...]) -> tuple[tuple[TemplatePart, ...], Mark | None]:
        """The parts up to a directive among ``stops`` (or the end), and that directive."""
        out: list[TemplatePart] = []
        while self.at < len(self.pieces):
            piece = self.pieces[self.at]
            self.at += 1
            if isinstance(piece, Text):
                if out and isinstance(out[-1], str):
                    out[-1] += piece.text
                else:  # also where trimming left nothing: what stands beside it is a text then
                    out.append(piece.text)
            elif piece.word in stops:
                return tuple(out), piece
            else:
                out.append(self.part(piece))
        return tuple(out), None

    def part(self, piece: Mark) -> TemplatePart:
        match piece.word:
            case "":
                assert piece.expr is not None
                return piece.expr
            case "if":
                return self.condition(piece)
            case "for":
                return self.loop(piece)
            case word:
                raise InvalidSyntax(
                    codes.INVALID_DIRECTIVE,
                    f"The {word} directive belongs to no open directive.",
                    piece.start,
                    piece.end,
                )

    def condition(self, piece: Mark) -> TemplateIf:
        assert piece.expr is not None
        then, stop = self.parts(("else", "endif"))
        otherwise: tuple[TemplatePart, ...] = ()
        if stop is not None and stop.word == "else":
            otherwise, stop = self.parts(("endif",))
        if stop is None:
            raise _unclosed(piece, "endif")
        return TemplateIf(
            origin=self.origin,
            start=piece.start,
            end=stop.end,
            condition=piece.expr,
            then=then,
            otherwise=otherwise,
        )

    def loop(self, piece: Mark) -> TemplateFor:
        assert piece.expr is not None
        body, stop = self.parts(("endfor",))
        if stop is None:
            raise _unclosed(piece, "endfor")
        return TemplateFor(
            origin=self.origin,
            start=piece.start,
            end=stop.end,
            key_name=piece.names[0] if len(piece.names) == 2 else None,
            value_name=piece.names[-1],
            collection=piece.expr,
            body=body,
        )


def _unclosed(piece: Mark, word: str) -> InvalidSyntax:
    return InvalidSyntax(
        codes.INVALID_DIRECTIVE,
        f"The {piece.word} directive is not closed: the template ends before %{{ {word} }}.",
        piece.start,
        piece.end,
    )
