"""Says that an operator came, went, or was replaced, where both queries have unlike ones at one place."""

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.differences.comparison import Comparison
from flareiac_spark.sql.differences.labels import kind_label, operator_label, relations_of
from flareiac_spark.sql.differences.side import Side
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Compute,
    Condition,
    Dedup,
    Generate,
    Join,
    Limit,
    Operator,
    Scan,
    Sort,
    Union,
    holds_state,
    read_by,
)

Kind = tuple[type, bool]
"""The class of an operator, and True of a join of two streams: a join with a table is another kind."""


def kind_of(operator: Operator) -> Kind:
    return type(operator), isinstance(operator, Join) and operator.stateful


def rows_below(operator: Operator) -> Block | None:
    """The rows that an operator works on; None where there are several, or none."""
    match operator:
        case Scan() | Union():
            return None
        case Join():
            return None if operator.stateful else operator.input
        case _:
            return operator.input


def kinds_below(operator: Operator) -> set[Kind]:
    """The kinds of the operators below, down to where rows come from several inputs."""
    kinds: set[Kind] = set()
    block = rows_below(operator)
    while block is not None:
        kinds.add(kind_of(block.base))
        block = rows_below(block.base)
    return kinds


def without_base(block: Block, below: Block, side: Side) -> Block:
    """The rows below an operator that only one side has, with the filters above it.

    The grouping keys that these filters name count as what the keys are made of.
    """
    if isinstance(block.base, Aggregate):
        side.meanings |= {(block.base.id, key.name): key.expr for key in block.base.keys}
    kept: list[Condition] = [*below.filters, *block.filters]
    return Block(base=below.base, filters=kept)


def report_gone(both: Comparison, operator: Operator, *, feeds_state: bool) -> None:
    part, text = _part_of(operator, ChangeKind.STATE_REMOVED), _describe(operator, both.old)
    detail = f"removed {operator_label(operator)}"
    both.add(part, operator.step, old=text, feeds_state=feeds_state, detail=detail)


def report_came(both: Comparison, operator: Operator, *, feeds_state: bool) -> None:
    part, text = _part_of(operator, ChangeKind.STATE_ADDED), _describe(operator, both.new)
    detail = f"added {operator_label(operator)}"
    both.add(part, operator.step, new=text, feeds_state=feeds_state, detail=detail)


def report_other_leaves(both: Comparison, old: Block, new: Block, *, feeds_state: bool) -> None:
    """Reports state that comes or goes, and other reads, at operators below which nothing can be paired."""
    if holds_state(old.base) and not holds_state(new.base):
        report_gone(both, old.base, feeds_state=feeds_state)
    elif holds_state(new.base) and not holds_state(old.base):
        report_came(both, new.base, feeds_state=feeds_state)
    texts, detail = (relations_of(old), relations_of(new)), "another set of relations is read"
    both.add(ChangeKind.SOURCES, new.base.step, *texts, feeds_state=feeds_state, detail=detail)


def _part_of(operator: Operator, stateful: ChangeKind) -> ChangeKind:
    """The kind of the difference that such an operator comes or goes."""
    match operator:
        case _ if holds_state(operator):
            return stateful
        case Limit():
            return ChangeKind.LIMIT
        case Sort():
            return ChangeKind.ORDER
        case _:
            return ChangeKind.PROJECTION


def _describe(operator: Operator, side: Side) -> str:
    match operator:
        case Aggregate():
            calls = side.listed(call.expr for call in operator.calls)
            keys = side.listed(key.expr for key in operator.keys)
            if operator.distinct:
                return f"DISTINCT {keys}"
            return f"{calls} GROUP BY {keys}".strip() if keys else calls
        case Dedup() | Sort() | Generate() | Compute():
            return side.listed(read_by(operator))
        case Join():
            return f"{kind_label(operator)} join with {relations_of(operator.table)}"
        case Limit():
            return side.show(operator.count)
        case Scan() | Union():
            return relations_of(Block(base=operator))
