"""Composes what ends a query of any kind: ORDER BY, LIMIT and OFFSET."""

from sqlglot import exp

from flareiac_spark.sql.composition.aggregation import is_aggregate
from flareiac_spark.sql.composition.composing import Composing, Resolve
from flareiac_spark.sql.composition.relation import Names, Relation
from flareiac_spark.sql.composition.scope import CannotTell, Scope, Source
from flareiac_spark.sql.operators import Block, Limit, Sort


def ended(
    composing: Composing, relation: Relation, tree: exp.Expr, names: Names, finish: Resolve | None = None
) -> Relation:
    """The rows behind the last clauses of a query. ``finish`` resolves a key of ORDER BY that is no output,
    such as an aggregate or a column that is not selected; None where outputs alone can be named.
    """
    return _limited(composing, _ordered(composing, relation, tree, names, finish), tree, names)


def _ordered(
    composing: Composing, relation: Relation, tree: exp.Expr, names: Names, finish: Resolve | None
) -> Relation:
    order = tree.args.get("order")
    if order is None:
        return relation
    outputs = composing.resolver(Scope(sources=[Source(names=(), given=relation.given)]), names)
    keys: list[exp.Expr] = []
    for key in order.expressions:
        try:
            if finish is not None and any(is_aggregate(node) for node in key.walk()):
                keys.append(finish(key))
            else:
                keys.append(outputs.resolve(key))
        except CannotTell:
            if finish is None:
                raise
            keys.append(finish(key))
    made = composing.made
    sort = made.known(Sort(id=made.id("sort"), step=names.step, input=relation.block, keys=keys))
    return Relation(block=Block(base=sort), given=relation.given)


def _limited(composing: Composing, relation: Relation, tree: exp.Expr, names: Names) -> Relation:
    bounds = [bound for name in ("limit", "offset") if (bound := tree.args.get(name)) is not None]
    if not bounds:
        return relation
    resolver = composing.resolver(Scope(sources=[]), names)
    counts = [resolver.resolve(bound) for bound in bounds]
    count = counts[0] if len(counts) == 1 else exp.Tuple(expressions=counts)
    made = composing.made
    limit = made.known(Limit(id=made.id("limit"), step=names.step, input=relation.block, count=count))
    return Relation(block=Block(base=limit), given=relation.given)
