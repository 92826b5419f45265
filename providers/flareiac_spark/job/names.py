"""Which columns does a job certainly read of an input, and which does it give to an output? Pure; what can not be told is left out."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flareiac.kernel.data import Attributes
from flareiac.sdk.provider import References
from flareiac_spark.job.spec import input_columns
from flareiac_spark.sql.parse import parsed
from flareiac_spark.sql.relations import columns_given, name_of

if TYPE_CHECKING:
    from sqlglot import exp


def names_given(attributes: Attributes, references: References) -> dict[str, tuple[str, ...] | None]:
    """The columns that each input and step gives, all in lower case; None where only Spark can tell."""
    known: dict[str, Sequence[str] | None] = {
        name.lower(): [column["name"] for column in input_columns(item, references)] or None for name, item in attributes["inputs"].items()
    }
    for name in attributes["step_order"]:
        sql = attributes["steps"][name].get("sql")
        known[name.lower()] = columns_given(sql, known) if sql else None
    return {name: None if names is None else tuple(column.lower() for column in names) for name, names in known.items()}


def names_read(attributes: Attributes, relation: str) -> tuple[str, ...]:
    """Columns that the steps name of a relation, in lower case, sorted: those of queries that read nothing else beside it."""
    found: set[str] = set()
    for name in attributes["step_order"]:
        tree = parsed(attributes["steps"][name].get("sql") or "")
        if tree is not None:
            found.update(_names(tree, relation.lower()))
    return tuple(sorted(found))


def _names(tree: "exp.Expr", relation: str) -> Iterator[str]:
    from sqlglot import exp

    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for select in tree.find_all(exp.Select):
        source = _only_source(select)
        if source is None or relation in ctes or name_of(source).lower() != relation or _is_correlated(select):
            continue
        own = {source.alias_or_name.lower(), *(alias.alias.lower() for alias in select.find_all(exp.Alias))}
        parameters = {each.name.lower() for function in select.find_all(exp.Lambda) for each in function.expressions}
        for column in select.find_all(exp.Column):
            # A name before a dot that is no relation is a column, and what follows is a field of it.
            first = column.parts[0] if column.parts[0].name.lower() != source.alias_or_name.lower() else column.this
            if column.find_ancestor(exp.Select) is select and first.name.lower() not in own | parameters and not column.is_star:
                yield first.name.lower()


def _only_source(select: "exp.Select") -> "exp.Table | None":
    from sqlglot import exp

    first = select.args.get("from_") or select.args.get("from")
    alone = first is not None and not select.args.get("joins") and not select.args.get("laterals")
    return first.this if alone and first is not None and isinstance(first.this, exp.Table) and not first.this.args.get("joins") else None


def _is_correlated(select: "exp.Select") -> bool:
    """Whether names may also be those of a query around it: so in an expression, not after FROM and not in a CTE."""
    from sqlglot import exp

    around = select.parent
    if isinstance(around, exp.Subquery):
        around = around.parent
        return not isinstance(around, exp.From | exp.Join | exp.CTE | None)
    return not isinstance(around, exp.CTE | exp.SetOperation | None)
