"""Names of a query that certainly are no columns of what it reads. Pure. Only what can be proven is named;
Spark judges the rest.

A name is looked up in one query with its FROM, and only where all that it could mean is known: no column of
an input whose columns are not known, no alias, no parameter, no column that Spark adds by itself, no column
of a query around it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.parse import parsed
from flareiac_spark.sql.relations import name_of
from flareiac_spark.sql.tree import cte_names, sources_of

_SPARKS_OWN: Final = re.compile(
    r"_.*|current_.*|local.*|session_.*|.*user|now|all|default|window|grouping.*|spark_grouping_id|value|col\d*|key|pos"
)
"""Columns of metadata, functions that are called without brackets, and what grouping and generators name by
themselves.
"""
_UNITS: Final = re.compile(
    r"(year|quarter|month|week|day|dayofyear|dayofweek|hour|minute|second|millisecond|microsecond)s?"
)
"""What functions of time take as words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownColumn:
    """``name`` as written; ``among`` are the columns that it could have meant."""

    name: str
    among: tuple[str, ...]


def unknown_columns(sql: str, known: Mapping[str, Sequence[str] | None]) -> tuple[UnknownColumn, ...]:
    """Names that no relation has that is read where they stand. ``known``: the columns of inputs and earlier
    steps, None where unknown.
    """
    tree = parsed(sql)
    if tree is None:
        return ()
    columns = {name.lower(): given for name, given in known.items()}
    found: dict[UnknownColumn, None] = {}
    for select in tree.find_all(exp.Select):
        if _stands_alone(select):
            found.update(dict.fromkeys(_unknown_in(select, columns)))
    return tuple(found)


def _stands_alone(select: exp.Select) -> bool:
    """Whether no name in it may be a column of a query around it, or of something made in its FROM."""
    at: exp.Expr | None = select
    while at is not None:
        around = at.parent
        if isinstance(at, exp.Select) and not isinstance(
            around, exp.Subquery | exp.CTE | exp.SetOperation | None
        ):
            return False
        if isinstance(at, exp.Subquery) and not isinstance(
            around, exp.From | exp.Join | exp.SetOperation | exp.Subquery | None
        ):
            return False
        if isinstance(at, exp.Lateral):
            return False
        at = around
    return not select.args.get("laterals") and not any(
        select.args.get(name) for name in ("match", "pivots", "kind")
    )


def _unknown_in(select: exp.Select, known: Mapping[str, Sequence[str] | None]) -> Iterator[UnknownColumn]:
    sources = _sources(select, known)
    if sources is None:
        return
    every_name = [name for given in sources.values() for name in given or ()]
    everything = None if None in sources.values() else every_name
    declared = _declared(select)
    taken = declared.union(map(str.lower, every_name))
    for column in select.find_all(exp.Column):
        if column.find_ancestor(exp.Select) is not select or not _is_a_name(column):
            continue
        first, *rest = [part.name for part in column.parts]
        if rest and first.lower() in sources:
            given = sources[first.lower()]
            own = None if first.lower() in taken else given
            name = rest[0]
        else:
            own, name = everything, first
        if own and not _is_known(name.lower(), declared.union(map(str.lower, own))):
            yield UnknownColumn(name=f"{first}.{name}" if own is not everything else name, among=tuple(own))


def _is_known(name: str, names: Collection[str]) -> bool:
    return name in names or _SPARKS_OWN.fullmatch(name) is not None


def _sources(
    select: exp.Select, known: Mapping[str, Sequence[str] | None]
) -> dict[str, Sequence[str] | None] | None:
    """The columns of what it reads, by the name that they are qualified with; None where it reads nothing, or
    a thing without a name.
    """
    ctes = cte_names(select.root())
    found: dict[str, Sequence[str] | None] = {}
    for source in sources_of(select):
        name = source.alias_or_name.lower()
        if not name or name in found or (source.args.get("joins") or source.args.get("laterals")):
            return None
        own = _plain_name(source)
        found[name] = known.get(own) if own not in ctes else None
    return found or None


def _plain_name(source: exp.Expr) -> str:
    """The relation in lower case; empty for anything made in FROM, and where an alias renames the columns."""
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
        return ""
    return "" if source.args.get("pivots") or source.alias_column_names else name_of(source).lower()


def _declared(select: exp.Select) -> set[str]:
    """Names that the query gives by itself, anywhere in it: aliases, parameters of lambdas, windows."""
    found = {
        item.alias.lower() for item in select.find_all(exp.Alias, exp.TableAlias, exp.Window) if item.alias
    }
    found |= {
        each.name.lower() for item in select.find_all(exp.Aliases, exp.Lambda) for each in item.expressions
    }
    return found | {each.name.lower() for item in select.find_all(exp.TableAlias) for each in item.columns}


def _is_a_name(column: exp.Column) -> bool:
    """Whether it is a column of a source, and no star, hint, unit of time, name of an argument or path into a
    value.
    """
    if isinstance(column.parts[-1], exp.Star) or any("." in part.name for part in column.parts):
        return False
    if (
        column.find_ancestor(exp.Hint, exp.Star, exp.Interval, exp.JSONPath, exp.Lateral, exp.Pivot)
        is not None
    ):
        return False
    if isinstance(column.parent, exp.Kwarg | exp.PropertyEQ) and column.arg_key == "this":
        return False
    return not (isinstance(column.parent, exp.Func) and _UNITS.fullmatch(column.name.lower()))
