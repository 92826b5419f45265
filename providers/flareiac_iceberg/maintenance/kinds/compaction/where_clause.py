"""The checks of a filter before Spark sees it: that it is a condition, the columns that it names, and the
expression where it is a plain one.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.expressions import BooleanExpression
    from sqlglot import exp


def parsed(text: str) -> "BooleanExpression | None":
    """The filter as an expression of Iceberg's, None where it is not plain: where its parser may read
    something else than Spark's.
    """
    # These quote other things in Spark's SQL than in Iceberg's filters
    if any(sign in text for sign in '"`\\'):
        return None
    from pyiceberg.expressions import parser

    try:
        return parser.parse(text)
    except Exception:  # noqa: BLE001 - whatever the parser stumbles over: the filter is not one that it reads
        return None


def named_columns(text: str) -> tuple[str, ...] | None:
    """The paths of the columns that a filter names; None where it is no condition of Spark's SQL."""
    import sqlglot
    from sqlglot import exp

    try:
        tree = sqlglot.parse_one(text, dialect="spark", into=exp.Condition)
    except Exception:  # noqa: BLE001 - on odd text the parser fails with RecursionError and others, too
        return None
    return tuple(dict.fromkeys(_paths(tree)))


def unknown(paths: Iterable[str], columns: Iterable[str]) -> Iterator[str]:
    """The columns of a filter that do not exist; Spark does not tell upper from lower case."""
    known = {name.lower() for name in columns}
    return (path for path in paths if path.lower() not in known)


def _paths(tree: "exp.Expr") -> "Iterator[str]":
    from sqlglot import exp

    for column in tree.find_all(exp.Column):
        parts, node = [part.name for part in column.parts], column.parent
        # From the fifth level on
        while isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
            parts, node = [*parts, node.expression.name], node.parent
        yield ".".join(parts)
