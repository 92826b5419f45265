"""Places filters where Spark's optimizer moves them.

A filter on grouping keys goes below the aggregation, one on a side of a join into this side, one that drops
the rows without a match makes an outer join an inner one (measured on Spark 4.1's optimized plans). State is
made of what comes through, so the place decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from flareiac_spark.sql.normalize import is_stable, operands_of
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Condition,
    Generate,
    Join,
    Sort,
    Symbol,
    Union,
    givers,
    symbols_in,
)
from flareiac_spark.sql.tree import bare

_LEFT, _RIGHT = 0, 1
_INNER_WITHOUT = {
    ("left", _RIGHT): "inner",
    ("right", _LEFT): "inner",
    ("full", _LEFT): "left",
    ("full", _RIGHT): "right",
}
"""The join that an outer join becomes when a filter drops the rows that have nulls on one side."""


def split(condition: exp.Expr) -> list[exp.Expr]:
    """The operands of an AND."""
    operands = operands_of(condition)
    return [condition] if len(operands) > 1 and isinstance(bare(condition), exp.Or) else operands


def substituted(expr: exp.Expr, meaning: Callable[[Symbol], exp.Expr | None]) -> exp.Expr:
    """The expression with some columns replaced."""

    def replaced(node: exp.Expr) -> exp.Expr:
        replacement = meaning((node.table, node.name)) if isinstance(node, exp.Column) else None
        return node if replacement is None else replacement.copy()

    return expr.copy().transform(replaced, copy=False)


def add_filter(block: Block, condition: Condition) -> None:
    """Puts one operand of a WHERE or HAVING above a block's rows where it belongs."""
    if not is_stable(condition.expr):
        block.filters.append(condition)
        return
    operator, used = block.base, symbols_in(condition.expr)
    match operator:
        case Aggregate(sets="", keys=keys) if _only(
            used, known := {(operator.id, key.name): key.expr for key in keys}
        ):
            add_filter(operator.input, _moved(condition, substituted(condition.expr, known.get)))
        case Sort():
            add_filter(operator.input, condition)
        case Generate() if operator.id not in {giver for giver, _ in used}:
            add_filter(operator.input, condition)
        case Union(kind="union") if _only(
            used, {(operator.id, column.name): column for column in operator.columns}
        ):
            for place, each in enumerate(operator.inputs):
                values = {(operator.id, column.name): column.exprs[place] for column in operator.columns}
                add_filter(each, replace(condition, expr=substituted(condition.expr, values.get)))
        case Join():
            _filter_join(block, operator, condition)
        case _:
            block.filters.append(condition)


def on_conditions(join: Join, conditions: list[Condition]) -> None:
    """Puts the operands of a join's ON where they belong."""
    for condition in conditions:
        sides = _sides(join, condition.expr)
        # A row of the side that an outer join keeps stays without a match, so that ON filters the other side
        pushed = {
            "inner": {_LEFT, _RIGHT},
            "semi": {_LEFT, _RIGHT},
            "left": {_RIGHT},
            "right": {_LEFT},
            "anti": {_RIGHT},
        }.get(join.kind, set())
        if len(sides) == 1 and sides <= pushed and is_stable(condition.expr):
            _into_side(join, sides.pop(), condition)
        else:
            _compare_sides(join, condition)


def _filter_join(block: Block, join: Join, condition: Condition) -> None:
    sides = _sides(join, condition.expr)
    # WHERE drops rows of the result: on the side that an outer join keeps they can go before it. On the other
    # side they may be nulls that stand for no match (see _filter_outer_join)
    kept = {
        "inner": {_LEFT, _RIGHT},
        "left": {_LEFT},
        "right": {_RIGHT},
        "semi": {_LEFT},
        "anti": {_LEFT},
    }.get(join.kind, set())
    if join.kind == "inner" and len(sides) == 2:
        _compare_sides(join, condition)
    elif len(sides) == 1 and sides <= kept:
        _into_side(join, next(iter(sides)), condition)
    elif join.stateful and sides:
        _filter_outer_join(block, join, condition, sides)
    else:
        block.filters.append(condition)


def _filter_outer_join(block: Block, join: Join, condition: Condition, sides: set[int]) -> None:
    for side in sorted(sides):
        narrower = _INNER_WITHOUT.get((join.kind, side))
        verdict = _drops_nulls(join, side, condition.expr) if narrower else False
        if narrower and verdict:
            join.kind = narrower
            rest, join.rest = join.rest, []
            join.order = [exp.EQ(this=left, expression=right) for left, right in join.keys]
            on_conditions(join, rest)
            _filter_join(block, join, condition)
            return
        if verdict is None:
            join.unsure.append(condition)
    block.filters.append(condition)


def _into_side(join: Join, side: int, condition: Condition) -> None:
    expr = condition.expr
    if join.stateful:
        kept = {(join.id, named_expr.name): named_expr.expr for named_expr in join.kept}
        expr = substituted(expr, kept.get)
    add_filter(join.left if side == _LEFT else join.right, _moved(condition, expr))


def _compare_sides(join: Join, condition: Condition) -> None:
    """An equation between the sides is a key; anything else stays as condition."""
    equation = bare(condition.expr)
    if isinstance(equation, exp.EQ):
        left, right = _sides(join, equation.left), _sides(join, equation.right)
        if (left, right) == ({_RIGHT}, {_LEFT}):
            equation = exp.EQ(this=equation.right, expression=equation.left)
            left, right = right, left
        if (left, right) == ({_LEFT}, {_RIGHT}):
            join.keys.append((equation.left, equation.right))
            join.order.append(equation)
            return
    join.rest.append(condition)
    join.order.append(condition.expr)


def _sides(join: Join, expr: exp.Expr) -> set[int]:
    if join.stateful:
        places = {(join.id, named_expr.name): named_expr.place[0] for named_expr in join.kept}
        return {places[symbol] for symbol in symbols_in(expr) if symbol in places}
    given = {giver for giver, _ in symbols_in(expr)}
    return {side for side, block in ((_LEFT, join.left), (_RIGHT, join.right)) if given & givers(block.base)}


def _drops_nulls(join: Join, side: int, expr: exp.Expr) -> bool | None:
    """Returns True if a row with nulls on one side cannot pass. None: it cannot be determined."""

    def null_with_side(value: exp.Expr) -> bool:
        match value:
            case exp.Column():
                return _sides(join, value) == {side}
            case exp.Paren() | exp.Neg() | exp.Cast() | exp.Dot():
                return null_with_side(value.this)
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                return null_with_side(value.left) or null_with_side(value.right)
            case _:
                return False

    match bare(expr):
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() as comparison:
            return null_with_side(comparison.left) or null_with_side(comparison.right) or None
        case (
            exp.Not(this=exp.Is(this=value, expression=exp.Null()))
            | exp.In(this=value)
            | exp.Between(this=value)
            | exp.Like(this=value)
        ):
            return null_with_side(value) or None
        case exp.Is(this=value, expression=exp.Null()):
            return False if null_with_side(value) else None
        case _:
            return None


def _moved(condition: Condition, expr: exp.Expr) -> Condition:
    return replace(condition, expr=expr, moved=True)


def _only(used: set[Symbol], known: Mapping[Symbol, object]) -> bool:
    return bool(used) and used <= known.keys()
