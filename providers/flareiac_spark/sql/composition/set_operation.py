"""Composes UNION, EXCEPT and INTERSECT."""

from sqlglot import exp

from flareiac_spark.sql.composition import supported
from flareiac_spark.sql.composition.composing import Composing
from flareiac_spark.sql.composition.layers import distinct, united
from flareiac_spark.sql.composition.order import ended
from flareiac_spark.sql.composition.relation import Names, Relation
from flareiac_spark.sql.composition.scope import CannotTell


def set_operation(composing: Composing, tree: exp.SetOperation, names: Names) -> Relation:
    supported.only(tree, supported.SET)
    first, second = (composing.query(side, names) for side in (tree.this, tree.expression))
    if first.is_open or second.is_open:
        raise CannotTell("the columns of the relations that are united are not known")
    given = second.given
    if tree.args.get("by_name"):
        given = [each for one in first.given for each in second.given if each.name == one.name]
    # by name neither side may have a column of its own
    if not len(first.given) == len(given) == len(second.given):
        raise CannotTell("relations with different columns are united")
    is_distinct = bool(tree.args.get("distinct"))
    kind = "union" if isinstance(tree, exp.Union) else tree.key if is_distinct else f"{tree.key} all"
    if kind != "union" and any(side.block.base.streams for side in (first, second)):
        raise CannotTell(f"{kind} over a stream is not read here")
    sides = [first, Relation(block=second.block, given=given)]
    relation = united(composing.made, kind, sides, names.step)
    if is_distinct:
        relation = distinct(composing.made, relation, names.step)
    return ended(composing, relation, tree, names)
