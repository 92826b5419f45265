"""Composes the FROM clause of a SELECT: relations, joins, and LATERAL VIEW."""

from dataclasses import replace

from sqlglot import exp

from flareiac_spark.sql.composition import supported
from flareiac_spark.sql.composition.composing import Composing
from flareiac_spark.sql.composition.joining import join_kind, joined
from flareiac_spark.sql.composition.layers import generated
from flareiac_spark.sql.composition.predicate_pushdown import on_conditions, split
from flareiac_spark.sql.composition.relation import Names
from flareiac_spark.sql.composition.resolve import Resolver
from flareiac_spark.sql.composition.scope import CannotTell, Scope, Source
from flareiac_spark.sql.functions import GENERATORS
from flareiac_spark.sql.operators import Block, Condition, Join
from flareiac_spark.sql.tree import is_call


def from_clause(composing: Composing, tree: exp.Select, names: Names) -> tuple[Block, Scope]:
    """The rows that a SELECT works on, and the names of their columns."""
    clause = tree.args.get("from_")
    if clause is None:
        raise CannotTell("a query without FROM is not read here")
    block, source = _source(composing, clause.this, names)
    scope = Scope(sources=[source], outer=names.outer)
    for join in tree.args.get("joins") or ():
        block, scope = _join(composing, join, block, scope, names)
    for lateral in tree.args.get("laterals") or ():
        block, scope = _lateral(composing, lateral, block, scope, names)
    return block, scope


def rows_made(call: exp.Expr, resolver: Resolver) -> exp.Expr:
    """The call of a function that makes rows of one row, its arguments resolved."""
    if not is_call(call, GENERATORS):
        raise CannotTell("what makes rows here is not known")
    arguments = [resolver.resolve(each) for each in call.expressions]
    return exp.Anonymous(this=call.name.lower(), expressions=arguments)


def _source(composing: Composing, node: exp.Expr, names: Names) -> tuple[Block, Source]:
    match node:
        case exp.Table(this=exp.Identifier()):
            supported.only(node, supported.TABLE)
            parts = tuple(part.name.lower() for part in node.parts)
            relation, unaliased = composing.named(parts, names), parts
        case exp.Subquery():
            relation, unaliased = composing.query(node, names), ()
        case _:
            raise CannotTell(f"FROM {node.key} is not read here")
    relation = relation.renamed(node.alias_column_names)
    called = (node.alias.lower(),) if node.alias else unaliased
    return relation.block, Source(names=called, given=relation.given)


def _join(
    composing: Composing, node: exp.Join, block: Block, scope: Scope, names: Names
) -> tuple[Block, Scope]:
    kind, made = join_kind(node), composing.made
    right, source = _source(composing, node.this, names)
    join = made.known(Join(id=made.id("join"), step=names.step, left=block, right=right, kind=kind))
    seen = joined(join, node, scope, source)
    conditions = [Condition(expr=equation, step=names.step) for equation in seen.equal]
    if (on := node.args.get("on")) is not None:
        resolver = composing.resolver(seen.inside, names)
        conditions += [Condition(expr=operand, step=names.step) for operand in split(resolver.resolve(on))]
    on_conditions(join, conditions)
    return Block(base=join), seen.outside


def _lateral(
    composing: Composing, node: exp.Lateral, block: Block, scope: Scope, names: Names
) -> tuple[Block, Scope]:
    if not node.args.get("view"):
        raise CannotTell("LATERAL is not read here")
    columns = node.alias_column_names
    if not columns:
        raise CannotTell("LATERAL VIEW without names of columns is not read here")
    call, outer = rows_made(node.this, composing.resolver(scope, names)), bool(node.args.get("outer"))
    rows = generated(composing.made, call, block, columns, names.step, outer=outer)
    source = Source(names=(node.alias.lower(),) if node.alias else (), given=rows.given)
    return rows.block, replace(scope, sources=[*scope.sources, source])
