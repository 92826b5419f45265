"""Composes one SELECT: FROM, WHERE, then grouping or a projection, DISTINCT, ORDER BY and LIMIT.

A projection makes no operator: its expressions take the place of the columns in what reads them.
"""

from dataclasses import replace

from sqlglot import exp

from flareiac_spark.sql.composition import supported
from flareiac_spark.sql.composition.aggregation import gathered, is_gathering
from flareiac_spark.sql.composition.composing import Composing, Resolve
from flareiac_spark.sql.composition.from_clause import from_clause, rows_made
from flareiac_spark.sql.composition.layers import computed, distinct, generated
from flareiac_spark.sql.composition.order import ended
from flareiac_spark.sql.composition.predicate_pushdown import add_filter, split
from flareiac_spark.sql.composition.relation import Names, Relation
from flareiac_spark.sql.composition.resolve import Resolver, column_name
from flareiac_spark.sql.composition.scope import CannotTell, Given, Scope
from flareiac_spark.sql.composition.windows import windows_in
from flareiac_spark.sql.functions import GENERATORS, JOIN_HINTS
from flareiac_spark.sql.normalize import is_stable
from flareiac_spark.sql.operators import Aggregate, Block, Condition, Hint
from flareiac_spark.sql.tree import is_call, is_star, mark_step, unaliased


def select(composing: Composing, tree: exp.Select, names: Names) -> Relation:
    supported.only(tree, supported.SELECT)
    composing.made.hints += _hints(tree.args.get("hint"), names.step)
    block, scope = from_clause(composing, tree, names)
    where = tree.args.get("where")
    resolver = composing.resolver(scope, names)
    if where is not None:
        for operand in split(resolver.resolve(where.this)):
            add_filter(block, Condition(expr=operand, step=names.step))
    finish: Resolve
    if is_gathering(tree):
        relation, finish = _grouped(composing, tree, block, scope, resolver, names)
    else:
        relation, finish = _projected(composing, tree, block, scope, resolver, names), resolver.resolve
    if tree.args.get("distinct") is not None:
        if tree.args["distinct"].args.get("on"):
            raise CannotTell("DISTINCT ON is not read here")
        relation = distinct(composing.made, relation, names.step)
    return ended(composing, relation, tree, names, finish)


def _hints(hint: exp.Expr | None, step: str) -> list[Hint]:
    """Hints about joins change no row. Others put rows into another order, and so into other places of what
    takes them in order.
    """
    hints: list[Hint] = []
    for each in hint.expressions if hint is not None else ():
        if each.name.lower() not in JOIN_HINTS:
            raise CannotTell(f"the hint {each.name or each.sql(dialect='spark')} is not read here")
        hints.append(Hint(text=" ".join(each.sql(dialect="spark").lower().split()), step=step))
    return hints


def _projected(
    composing: Composing, tree: exp.Select, block: Block, scope: Scope, resolver: Resolver, names: Names
) -> Relation:
    given: list[Given] = []
    for selected in tree.expressions:
        if is_star(selected):
            given += scope.starred(selected)
            continue
        called = _names_of(selected)
        if is_call(unaliased(selected), GENERATORS):
            call = rows_made(unaliased(selected), resolver)
            outer = call.name.endswith("_outer")
            rows = generated(composing.made, call, block, called, names.step, outer=outer)
            block = rows.block
            given += rows.given
            continue
        if isinstance(selected, exp.Aliases):
            raise CannotTell("several names for one expression are not read here")
        expr = resolver.resolve(unaliased(selected))
        if not is_stable(expr) or expr.find(exp.Window) is not None:
            block, expr = computed(composing.made, block, expr, names.step)
        mark_step(expr, names.step)
        composing.made.windows |= windows_in(expr)
        name = called[0]
        given.append(Given(name=name.lower(), shown=name, expr=expr, step=names.step, place=(0, "")))
        if isinstance(selected, exp.Alias):
            resolver.earlier[name.lower()] = expr
    # Places are those in which columns are given; the columns of an open relation stay side by side.
    return Relation(block=block, given=[replace(each, place=(place, "")) for place, each in enumerate(given)])


def _grouped(
    composing: Composing, tree: exp.Select, block: Block, scope: Scope, resolver: Resolver, names: Names
) -> tuple[Relation, Resolve]:
    made = composing.made
    aggregate = made.known(Aggregate(id=made.id("group"), step=names.step, input=block, keys=[], calls=[]))
    groups = gathered(tree, aggregate, scope, resolver)
    above = Block(base=aggregate)
    for condition in groups.having:
        add_filter(above, Condition(expr=condition, step=names.step))
    for _, expr in groups.outputs:
        mark_step(expr, names.step)
    given = [
        Given(name=name.lower(), shown=name, expr=expr, step=names.step, place=(place, ""))
        for place, (name, expr) in enumerate(groups.outputs)
    ]
    return Relation(block=above, given=given), groups.finish


def _names_of(selected: exp.Expr) -> list[str]:
    """The names of what SELECT lists: that of its alias or column, several of a function that makes rows, ""
    where Spark makes one up.
    """
    match selected:
        case exp.Aliases():
            return [identifier.name for identifier in selected.args["expressions"]]
        case exp.Anonymous() if selected.name.lower() in {"explode", "explode_outer"}:
            return ["col"]
        case exp.Anonymous() if selected.name.lower() in GENERATORS:
            raise CannotTell(f"{selected.name.lower()} without names of columns is not read here")
        case _:
            return [column_name(selected)]
