"""The columns of relations of which each column of a query is made. Pure; never raises on any text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from sqlglot import exp

from flareiac_spark.sql.composition import CannotTell, compose
from flareiac_spark.sql.operators import NESTED, Composed, Scan, Symbol, meanings, symbols_in
from flareiac_spark.sql.query import Query

Origins: TypeAlias = frozenset[Symbol]
"""Relations, in lower case, and their columns."""


def column_origins(query: Query) -> Mapping[str, Origins | None] | None:
    """By column of the output: the columns of relations that its values are made of; None where a query
    inside of an expression makes them too. Columns that decide only which rows there are (of filters, keys of
    joins and groups) are not among them. A column "*" stands for all of a relation whose columns are not
    known. None where the query cannot be followed at all.
    """
    try:
        composed = compose(query)
    except CannotTell:
        return None
    origins: dict[str, Origins | None] = {}
    for output in composed.outputs:
        exprs = list(_made_of(composed, output.expr, set()))
        is_nested = any(call.name in NESTED for expr in exprs for call in expr.find_all(exp.Anonymous))
        origins[output.shown or output.name] = None if is_nested else _scanned(composed, exprs)
    return origins


def _made_of(composed: Composed, expr: exp.Expr, seen: set[Symbol]) -> Iterator[exp.Expr]:
    """The expression, and all those that its columns are made of in the operators below."""
    yield expr
    for symbol in symbols_in(expr) - seen:
        seen.add(symbol)
        for meaning in meanings(composed.operators.get(symbol[0]), symbol[1]):
            yield from _made_of(composed, meaning, seen)


def _scanned(composed: Composed, exprs: Iterable[exp.Expr]) -> Origins:
    symbols = {symbol for expr in exprs for symbol in symbols_in(expr)}
    return frozenset(
        (operator.relation.lower(), name)
        for giver, name in symbols
        if isinstance(operator := composed.operators.get(giver), Scan)
    )
