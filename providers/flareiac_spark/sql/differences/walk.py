"""Walks two composed queries from the output down, and pairs their operators.

What lies below is compared first: an expression above is only the same where the columns that it reads are,
and these get their common names below.
"""

from typing import Final

from flareiac_spark.sql.change_kinds import Difference
from flareiac_spark.sql.differences.aggregates import compare_aggregates, order_calls
from flareiac_spark.sql.differences.comparison import Comparison, Place
from flareiac_spark.sql.differences.conditions import compare_filters
from flareiac_spark.sql.differences.joins import compare_joins
from flareiac_spark.sql.differences.outputs import compare_hints, compare_outputs
from flareiac_spark.sql.differences.rows import (
    compare_dedups,
    compare_limits,
    compare_made_rows,
    compare_scans,
)
from flareiac_spark.sql.differences.side import Written
from flareiac_spark.sql.differences.unions import compare_union_columns, compare_united
from flareiac_spark.sql.differences.unlike import (
    kind_of,
    kinds_below,
    report_came,
    report_gone,
    report_other_leaves,
    rows_below,
    without_base,
)
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Compute,
    Dedup,
    Generate,
    Join,
    Limit,
    Operator,
    Scan,
    Sort,
    Union,
    holds_state,
)


def differences(old: Written, new: Written) -> tuple[Difference, ...]:
    """Every difference, what lies below first. None at all: no row and no state could differ."""
    both = Comparison(old, new)
    order_calls(both.old)
    order_calls(both.new)
    _Walk(both).blocks(old.composed.block, new.composed.block, feeds_state=False)
    compare_outputs(both, old.composed.outputs, new.composed.outputs)
    compare_hints(both, old.composed.hints, new.composed.hints)
    return tuple(both.differences)


class _Walk:
    """``feeds_state`` goes down with the walk: True below an operator that holds state, where every
    difference is one of what the state is made of.
    """

    def __init__(self, both: Comparison) -> None:
        self._both: Final = both

    def blocks(self, old: Block, new: Block, *, feeds_state: bool) -> None:
        if kind_of(old.base) == kind_of(new.base):
            self._operators(old.base, new.base, feeds_state=feeds_state)
            compare_filters(self._both, old.filters, new.filters, feeds_state=feeds_state)
        else:
            self._unlike(old, new, feeds_state=feeds_state)

    def _unlike(self, old: Block, new: Block, *, feeds_state: bool) -> None:
        """Another operator at this place: the one that the other query has not is added or removed, and what
        is below goes on.
        """
        gone, came = rows_below(old.base), rows_below(new.base)
        new_is_below = kind_of(new.base) in kinds_below(old.base)
        old_is_below = kind_of(old.base) in kinds_below(new.base)
        if gone is not None and (came is None or new_is_below or not old_is_below):
            replaced = came is not None and not new_is_below
            report_gone(self._both, old.base, feeds_state=feeds_state)
            old = without_base(old, gone, self._both.old)
            if not replaced:
                self.blocks(old, new, feeds_state=feeds_state)
                return
        if came is not None:
            report_came(self._both, new.base, feeds_state=feeds_state)
            below_feeds_state = feeds_state or holds_state(new.base)
            self.blocks(old, without_base(new, came, self._both.new), feeds_state=below_feeds_state)
            return
        report_other_leaves(self._both, old, new, feeds_state=feeds_state)

    def _operators(self, old: Operator, new: Operator, *, feeds_state: bool) -> None:
        both = self._both
        match old, new:
            case Scan(), Scan():
                compare_scans(both, old, new, feeds_state=feeds_state)
            case Aggregate(), Aggregate():
                place = Place(stateful=old.streams or new.streams, feeds_state=feeds_state)
                self.blocks(old.input, new.input, feeds_state=place.below_feeds_state)
                compare_aggregates(both, old, new, place)
            case Dedup(), Dedup():
                place = Place(stateful=old.streams or new.streams, feeds_state=feeds_state)
                self.blocks(old.input, new.input, feeds_state=place.below_feeds_state)
                compare_dedups(both, old, new, place)
            case Join(), Join():
                place = Place(stateful=old.stateful and new.stateful, feeds_state=feeds_state)
                self.blocks(old.left, new.left, feeds_state=place.below_feeds_state)
                self.blocks(old.right, new.right, feeds_state=place.below_feeds_state)
                compare_joins(both, old, new, place)
            case Union(), Union():
                compare_united(both, old, new, feeds_state=feeds_state)
                for one, another in zip(old.inputs, new.inputs, strict=False):
                    self.blocks(one, another, feeds_state=feeds_state)
                compare_union_columns(both, old, new, feeds_state=feeds_state)
            case Limit(), Limit():
                self.blocks(old.input, new.input, feeds_state=feeds_state or holds_state(new))
                compare_limits(both, old, new, feeds_state=feeds_state)
            case Sort() | Generate() | Compute(), Sort() | Generate() | Compute():
                self.blocks(old.input, new.input, feeds_state=feeds_state)
                compare_made_rows(both, old, new, feeds_state=feeds_state)
            case _:
                raise AssertionError("operators of one kind are compared")
