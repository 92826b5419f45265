"""Lays a text out as ``terraform fmt`` does: indentation, spaces and alignment, and a few old spellings.

Works on the tokens of a text that parses. Between tokens only spaces change; a comment, a newline and the
text of a string or heredoc pass through as they are.
"""

from flareiac.lang.layout.lines import lay_out
from flareiac.lang.layout.pieces import pieces_of, text_of
from flareiac.lang.layout.statements import modernize

_MARK = "\ufeff"


def formatted(text: str) -> str:
    """The text laid out; a byte order mark stays. Raises ``InvalidSyntax`` where it has no tokens, and what
    comes of any other text that does not parse is undefined.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    pieces = modernize(pieces_of(text.removeprefix(_MARK)))
    lay_out(pieces)
    return mark + text_of(pieces)
