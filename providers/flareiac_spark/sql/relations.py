"""The relations and columns that a query reads."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.parse import parsed
from flareiac_spark.sql.tree import COLUMNS_OR_FUNCTIONS, column_or_function, cte_names


def relations(sql: str) -> tuple[str, ...] | None:
    """The names after FROM and JOIN that are no CTE, once each, dotted where qualified. None: the SQL is not
    readable here.

    Their order follows the query's structure alone.
    """
    tree = parsed(sql)
    if tree is None:
        return None
    names: dict[str, None] = {}
    for table in tables_of(tree):
        names[name_of(table)] = None
    return tuple(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationUses:
    """``names``: each name after FROM and JOIN as often as it is written, CTEs included. All in lower
    case.
    """

    names: tuple[str, ...]
    ctes: frozenset[str]


def relation_uses(sql: str) -> RelationUses | None:
    """None: the SQL is not readable here."""
    tree = parsed(sql)
    if tree is None:
        return None
    return RelationUses(
        names=tuple(name_of(table).lower() for table in tree.find_all(exp.Table)),
        ctes=cte_names(tree),
    )


def tables_of(tree: exp.Expr) -> Iterator[exp.Table]:
    """The table nodes that are no CTE of this query and no table function, in the tree's order."""
    ctes = cte_names(tree)
    for table in tree.find_all(exp.Table, bfs=False):
        if isinstance(table.this, exp.Identifier) and not (table.name.lower() in ctes and not table.db):
            yield table


def name_of(table: exp.Table) -> str:
    """``lake.demo.t`` or ``clean``, as written."""
    return ".".join(part.name for part in table.parts)


def row_by_row(sql: str) -> bool:
    """Returns True if each row that a query gives certainly is made of one row of the only relation that it
    reads.
    """
    tree = parsed(sql)
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Table))) != 1:
        return False
    return (
        tree.find(exp.Join, exp.Group, exp.Distinct, exp.AggFunc, exp.Window, exp.Lateral, exp.UDTF) is None
    )


def columns_read(steps: Sequence[str], relation: str, known: Sequence[str]) -> frozenset[str]:
    """The known columns of a relation that some step may read, lower case. All of them where that cannot be
    determined, or none is.
    """
    everything = frozenset(column.lower() for column in known)
    names: set[str] = set()
    for sql in steps:
        tree = parsed(sql)
        if tree is None or _stars_over(tree, relation):
            return everything
        names |= _names(tree)
    return everything & frozenset(names) or everything


def stars_over(steps: Sequence[str], relation: str) -> bool:
    """Returns True if some step may take the columns of a relation as they come, so that their order
    counts.
    """
    return any(tree is None or _stars_over(tree, relation) for tree in map(parsed, steps))


def _names(tree: exp.Expr) -> set[str]:
    """Every identifier inside expressions, and every word that is a function without brackets where no column
    has its name: more than the columns, never less.
    """
    return {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)} | {
        word for node in tree.find_all(*COLUMNS_OR_FUNCTIONS) if (word := column_or_function(node))
    }


def _stars_over(tree: exp.Expr, relation: str) -> bool:
    for star in tree.find_all(exp.Star):
        if isinstance(star.parent, exp.Count):
            continue  # count(*) counts rows
        # Also inside a call: to_json(struct(*)) reads every column.
        select = star.find_ancestor(exp.Select)
        if select is None or any(name_of(table).lower() == relation.lower() for table in tables_of(select)):
            return True
    # ``FROM t`` alone, NATURAL JOIN and TABLE t name no column and read them all.
    return tree.find(exp.Select) is None or any(
        join.args.get("method") == "NATURAL" for join in tree.find_all(exp.Join)
    )


def streams_in_order(
    steps: Mapping[str, str], source: str, streams: Collection[str]
) -> tuple[str, ...] | None:
    """The streams that one step (or input) reads in the end, once for each position in a checkpoint's
    offsets, in their order.

    Lower case. None: some step cannot be read here. Measured on Spark 4.1: a step that is read twice has its
    positions twice; a CTE has its own once, in the order of the definitions and before the query's, however
    often it is used and also if it is not.
    """
    queries = {name.lower(): sql for name, sql in steps.items()}
    known, streams_read = {name.lower() for name in streams}, list[str]()

    def visit(name: str, above: tuple[str, ...]) -> bool:
        if name in known or name not in queries or name in above:
            streams_read.extend([name] if name in known else [])
            return True
        tree = parsed(queries[name])
        return tree is not None and all(
            visit(each, (*above, name)) for each in _read_in_order(tree, frozenset())
        )

    return tuple(streams_read) if visit(source.lower(), ()) else None


def _read_in_order(node: exp.Expr, ctes: frozenset[str]) -> Iterator[str]:
    """The relations of a node in lower case, as they stand in Spark's analyzed plan; ``ctes`` are names of
    its own.
    """
    parts = list(node.iter_expressions())
    for part in parts:
        for cte in part.expressions if isinstance(part, exp.With) else ():
            yield from _read_in_order(cte, ctes)
            ctes |= {cte.alias.lower()}
    if isinstance(node, exp.Table) and name_of(node).lower() not in ctes:
        yield name_of(node).lower()
    for part in parts:
        if not isinstance(part, exp.With):
            yield from _read_in_order(part, ctes)
