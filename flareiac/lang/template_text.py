"""Reads a text that is a template as a whole, such as that of a file."""

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang import lalr
from flareiac.lang.build import Builder
from flareiac.lang.grammar import table
from flareiac.lang.origin import Origin
from flareiac.lang.syntax import Expression
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.tokens import tokenize_template


def parse_template(source: Source, diagnostics: Diagnostics) -> Expression | None:
    """The template that the text of a source is; None after complaining."""
    text = source.text.removeprefix("\ufeff")
    origin = Origin(source, len(source.text) - len(text))
    builder = Builder(text, origin)
    expr: Expression | None = None
    try:
        expr = lalr.parse(tokenize_template(text), table(), builder).attributes[0].expr
    except InvalidSyntax as stopped:
        builder.problems.append(stopped)
    for error in builder.problems:
        diagnostics.error(error.code, error.detail, subject=origin.span(error.start, error.end))
    return expr
