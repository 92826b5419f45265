"""The columns that a query names of one relation, where only that relation can be meant."""

from collections.abc import Iterator

from sqlglot import exp

from flareiac_spark.sql.parse import parsed
from flareiac_spark.sql.relations import name_of
from flareiac_spark.sql.tree import COLUMNS_OR_FUNCTIONS, column_or_function, cte_names, sources_of


def columns_named(sql: str, relation: str) -> frozenset[str]:
    """In lower case. None are reported of SQL that is not readable here, or where another relation may be
    meant.
    """
    tree = parsed(sql)
    return frozenset() if tree is None else frozenset(_names(tree, relation.lower()))


def _names(tree: exp.Expr, relation: str) -> Iterator[str]:
    ctes = cte_names(tree)
    for select in tree.find_all(exp.Select) if relation not in ctes else ():
        sources = list(_sources(select))
        for source in sources:
            if isinstance(source, exp.Table) and name_of(source).lower() == relation:
                yield from _of_source(select, source, alone=len(sources) == 1 and not _is_correlated(select))


def _of_source(select: exp.Select, source: exp.Table, *, alone: bool) -> Iterator[str]:
    """The names of columns of one source in a query: after the source's name, and where there is no other
    source also without it. ``current_user`` is the source's column where it has one; else nothing has that
    name.
    """
    own = source.alias_or_name.lower()
    aliases = {alias.alias.lower() for alias in select.find_all(exp.Alias)}
    parameters = {
        each.name.lower() for function in select.find_all(exp.Lambda) for each in function.expressions
    }
    for function in select.find_all(*COLUMNS_OR_FUNCTIONS) if alone else ():
        word = column_or_function(function)
        if function.find_ancestor(exp.Select) is select and word and word not in aliases:
            yield word
    for column in select.find_all(exp.Column):
        if column.find_ancestor(exp.Select) is not select or isinstance(column.parts[-1], exp.Star):
            continue
        first, *rest = [part.name.lower() for part in column.parts]
        if first == own and rest:
            yield rest[0]
        elif alone and first not in aliases | parameters | {own}:
            # a name before a dot that is no relation is a column, and what follows is a field of it
            yield first


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    for source in sources_of(select):
        yield source
        yield from (inner.this for inner in source.args.get("joins") or ())
    yield from select.args.get("laterals") or ()


def _is_correlated(select: exp.Select) -> bool:
    """Returns True if names may also be those of a query around it: so in an expression, not after FROM and
    not in a CTE.
    """
    around = select.parent
    if isinstance(around, exp.Subquery):
        around = around.parent
        return not isinstance(around, exp.From | exp.Join | exp.CTE | None)
    return not isinstance(around, exp.CTE | exp.SetOperation | None)
