"""Which relations and columns does a query read, and which columns does it give?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from flareiac_spark.sql.parse import parsed

if TYPE_CHECKING:
    from sqlglot import exp


def relations(sql: str) -> tuple[str, ...] | None:
    """The names after FROM and JOIN that are no CTE, once each, dotted where qualified. None: the SQL is not readable here.

    Their order follows the query's structure alone.
    """
    tree = parsed(sql)
    if tree is None:
        return None
    found: dict[str, None] = {}
    for table in tables_of(tree):
        found[name_of(table)] = None
    return tuple(found)


def tables_of(tree: "exp.Expr") -> "Iterator[exp.Table]":
    """The table nodes that are no CTE of this query and no table function, in the tree's order."""
    from sqlglot import exp

    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table, bfs=False):
        if isinstance(table.this, exp.Identifier) and not (table.name.lower() in ctes and not table.db):
            yield table


def name_of(table: "exp.Table") -> str:
    """``lake.demo.t`` or ``clean``, as written."""
    return ".".join(part.name for part in table.parts)


def columns_read(steps: Sequence[str], relation: str, known: Sequence[str]) -> frozenset[str]:
    """Those of the known columns of a relation that some step may read, lower case. All of them where that can not be told, or none is."""
    everything = frozenset(column.lower() for column in known)
    names: set[str] = set()
    for sql in steps:
        tree = parsed(sql)
        if tree is None or _stars_over(tree, relation):
            return everything
        names |= _names(tree)
    return everything & frozenset(names) or everything


def _names(tree: "exp.Expr") -> set[str]:
    """Every identifier inside expressions: more than the columns, never less."""
    from sqlglot import exp

    return {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}


def _stars_over(tree: "exp.Expr", relation: str) -> bool:
    from sqlglot import exp

    for select in tree.find_all(exp.Select):
        starred = any(
            isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)) for item in select.expressions
        )
        if starred and any(name_of(table).lower() == relation.lower() for table in tables_of(select)):
            return True
    # ``FROM t`` alone, NATURAL JOIN and TABLE t name no column and read them all.
    return tree.find(exp.Select) is None or any(join.args.get("method") == "NATURAL" for join in tree.find_all(exp.Join))


def columns_given(sql: str, inputs: Mapping[str, Sequence[str] | None]) -> tuple[str, ...] | None:
    """The names of the columns that a query gives, ``inputs`` being those of the relations it may read; None where that can not be told."""
    from sqlglot import exp

    tree = parsed(sql)
    if not isinstance(tree, exp.Select):
        return None
    found: list[str] = []
    for item in tree.expressions:
        if isinstance(item, exp.Star) and not item.args.get("except_") and not item.args.get("except"):
            columns = _only_source_columns(tree, inputs)
            if columns is None:
                return None
            found.extend(columns)
        elif isinstance(item, exp.Alias | exp.Column) and item.alias_or_name not in ("", "*"):
            found.append(item.alias_or_name)
        else:
            return None
    return tuple(found)


def _only_source_columns(select: "exp.Select", inputs: Mapping[str, Sequence[str] | None]) -> Sequence[str] | None:
    from sqlglot import exp

    source = select.args.get("from_") or select.args.get("from")
    if source is None or select.args.get("joins") or select.args.get("laterals") or not isinstance(source.this, exp.Table):
        return None
    wanted = name_of(source.this).lower()
    if any(cte.alias.lower() == wanted for cte in select.find_all(exp.CTE)):
        return None
    return next((columns for name, columns in inputs.items() if name.lower() == wanted), None)
