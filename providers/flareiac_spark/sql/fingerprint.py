"""What does a query mean, beyond its text? Equal fingerprints: formatting, comments, case, table aliases or CTE order differ at most."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from flareiac_spark.sql.parse import literals, parsed
from flareiac_spark.sql.relations import name_of, tables_of

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """A query's parts in one spelling. ``whole`` decides equality; the parts only tell what differs."""

    sources: tuple[str, ...]
    projections: tuple[str, ...]
    filters: tuple[str, ...]
    grouping: tuple[str, ...]
    aggregates: tuple[str, ...]
    windows: tuple[str, ...]
    joins: tuple[str, ...]
    distinct: tuple[str, ...]
    whole: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``same`` None: one of the two can not be read here. ``parts`` names what differs."""

    same: bool | None
    parts: tuple[str, ...] = ()


def fingerprint(sql: str) -> Fingerprint | None:
    """None when the SQL can not be read here."""
    from sqlglot import exp

    found = parsed(sql)
    if found is None:
        return None
    tree = _normal(found.copy())

    def texts(found: "list[exp.Expr]") -> tuple[str, ...]:
        return tuple(sorted(_text(item) for item in found))

    return Fingerprint(
        sources=tuple(sorted(name_of(table) for table in tables_of(tree))),
        projections=tuple(_text(item) for select in tree.find_all(exp.Select) for item in select.expressions),
        filters=texts([*tree.find_all(exp.Where), *tree.find_all(exp.Having), *tree.find_all(exp.Limit)]),
        grouping=tuple(_text(item) for group in tree.find_all(exp.Group) for item in group.expressions),
        aggregates=texts(list(tree.find_all(exp.AggFunc))),
        windows=texts([*tree.find_all(exp.Window), *(call for call in tree.find_all(exp.Anonymous) if "window" in call.name.lower())]),
        joins=texts(list(tree.find_all(exp.Join))),
        distinct=texts(list(tree.find_all(exp.Distinct))),
        whole=_text(tree),
    )


def compare(old: str, new: str) -> Comparison:
    """Whether two queries mean the same."""
    if old == new:
        return Comparison(same=True)
    before, after = fingerprint(old), fingerprint(new)
    if before is None or after is None:
        return Comparison(same=None)
    if before.whole == after.whole:
        # Formats of dates are read into one spelling (yyyy and YYYY alike), so texts must be the same as they are written.
        return Comparison(same=True) if literals(old) == literals(new) else Comparison(same=False, parts=("texts",))
    names = [field.name for field in fields(Fingerprint) if field.name != "whole"]
    return Comparison(same=False, parts=tuple(name for name in names if getattr(before, name) != getattr(after, name)))


def _text(node: "exp.Expr") -> str:
    return node.sql(dialect="spark", comments=False, normalize_functions="lower")


def _normal(tree: "exp.Expr") -> "exp.Expr":
    steps: tuple[Callable[[exp.Expr], None], ...] = (
        _lower_identifiers,
        _plain_aliases,
        _neutral_table_aliases,
        _sorted_conjunctions,
        _sorted_ctes,
    )
    for step in steps:
        step(tree)
    return tree


def _lower_identifiers(tree: "exp.Expr") -> None:
    """Spark's names have no case, and quotes only help to write them."""
    from sqlglot import exp

    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", identifier.name.lower())
        identifier.set("quoted", False)
    for call in tree.find_all(exp.Anonymous):
        call.set("this", call.name.lower())


def _plain_aliases(tree: "exp.Expr") -> None:
    """``x AS x`` says no more than ``x``."""
    from sqlglot import exp

    for alias in list(tree.find_all(exp.Alias)):
        if isinstance(alias.this, exp.Column) and alias.this.name == alias.alias:
            alias.replace(alias.this)


def _neutral_table_aliases(tree: "exp.Expr") -> None:
    """Aliases of relations by position. Left alone where one name means two relations, or a column's first part could be a struct."""
    from sqlglot import exp

    selects = list(tree.find_all(exp.Select))
    named = [item for item in tree.find_all(exp.Table, exp.Subquery) if item.alias_or_name]
    names = [item.alias_or_name for item in named]
    for select in selects:
        own = [item for item in named if item.find_ancestor(exp.Select) is select]
        if len(own) == 1 and len(selects) == 1:
            _strip_qualifier(select, own[0])
            return
    if len(set(names)) < len(names):
        return
    places = {name: f"_{index}" for index, name in enumerate(names)}
    for column in tree.find_all(exp.Column):
        if column.table in places and not column.args.get("db"):
            column.set("table", exp.to_identifier(places[column.table]))
    for item in named:
        columns = item.args["alias"].args.get("columns") if isinstance(item.args.get("alias"), exp.TableAlias) else None
        item.set("alias", exp.TableAlias(this=exp.to_identifier(places[item.alias_or_name]), columns=columns))


def _strip_qualifier(select: "exp.Select", source: "exp.Expr") -> None:
    from sqlglot import exp

    name = source.alias_or_name
    for column in select.find_all(exp.Column):
        if column.table == name and not column.args.get("db"):
            column.set("table", None)
    alias = source.args.get("alias")
    if isinstance(source, exp.Table) and isinstance(alias, exp.TableAlias) and not alias.args.get("columns"):
        source.set("alias", None)


def _sorted_conjunctions(tree: "exp.Expr") -> None:
    """``a AND b`` as ``b AND a``: filters have no order."""
    from sqlglot import exp

    for kind in (exp.And, exp.Or):
        tops = [node for node in tree.find_all(kind) if not isinstance(node.parent, kind)]
        for top in tops:
            # With their brackets: without them ``a AND (b OR c)`` would read as ``a AND b OR c``.
            parts = sorted(top.flatten(unnest=False), key=_text)
            if all(isinstance(part, exp.Expr) for part in parts) and len(parts) > 1:
                combined: exp.Expr = parts[0].copy()
                for part in parts[1:]:
                    combined = kind(this=combined, expression=part.copy())
                top.replace(combined)


def _sorted_ctes(tree: "exp.Expr") -> None:
    from sqlglot import exp

    for with_ in tree.find_all(exp.With):
        with_.set("expressions", sorted(with_.expressions, key=lambda cte: str(cte.alias)))
