"""What can be said of a filter before Spark sees it: the columns that it names, and the expression where it is a plain one.

Spark judges filters; this reads only the part of its language that means the same to Iceberg's own parser, and nothing of the rest.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.expressions import BooleanExpression


def parsed(text: str) -> "BooleanExpression | None":
    """The filter as an expression of Iceberg's, None where it is not plain."""
    if any(sign in text for sign in '"`\\'):  # these quote other things in Spark's SQL than in Iceberg's filters
        return None
    from pyiceberg.expressions import parser

    try:
        return parser.parse(text)
    except Exception:  # noqa: BLE001 - whatever the parser stumbles over: the filter is not one that it reads
        return None


def unknown_columns(text: str, columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that a plain filter names and that are not there; nothing for a filter that is not plain."""
    expression = parsed(text)
    known = {name.lower() for name in columns}
    return () if expression is None else tuple(dict.fromkeys(name for name in _names(expression) if name.lower() not in known))


def _names(expression: "BooleanExpression") -> Iterator[str]:
    for part in ("left", "right", "child"):
        inner = getattr(expression, part, None)
        if inner is not None:
            yield from _names(inner)
    term = getattr(expression, "term", None)
    name = getattr(term, "name", None)
    if isinstance(name, str):
        yield name
