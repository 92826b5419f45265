"""Compares two aggregations: what they group by, and what they keep for each group.

The state keeps the values of a group's aggregates by their position, and finds a group by the bytes of its
keys. So the order counts, and Spark takes one key or aggregate for another wherever the types are equal.
"""

from functools import partial

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.differences.comparison import Comparison, Place, all_of
from flareiac_spark.sql.differences.matching import (
    function_of,
    is_window,
    occurrences,
    paired_calls,
    paired_keys,
    parting,
    same_window,
    window_change,
)
from flareiac_spark.sql.differences.side import Side
from flareiac_spark.sql.operators import Aggregate, NamedExpr
from flareiac_spark.sql.value_types import same_buffer


def compare_aggregates(both: Comparison, old: Aggregate, new: Aggregate, place: Place) -> None:
    """Compares what is grouped by and what is kept, when what lies below has been compared."""
    _keys(both, old, new, place)
    if old.sets != new.sets:
        texts = (old.sets and "grouping sets", new.sets and "grouping sets")
        part = place.part(ChangeKind.GROUPING_KEYS)
        both.add(part, new.step, *texts, feeds_state=place.feeds_state, same_type=False)
    _calls(both, old, new, place)


def order_calls(side: Side) -> None:
    """Puts aggregates in the order of Spark's state. A plain projection above them melts into the
    aggregation, so that the order is that of the columns which come out, by the writer's order where it has
    one; otherwise it is the one in which they are written.
    """
    block = side.composed.block
    if not isinstance(block.base, Aggregate) or block.filters:
        return
    aggregate, ranks = block.base, {name: rank for rank, name in enumerate(side.writes)}
    outputs = sorted(side.composed.outputs, key=lambda each: ranks.get(each.name, len(ranks)))
    uses = [symbol for output in outputs for symbol in occurrences(output.expr) if symbol[0] == aggregate.id]
    if len(uses) == len(set(uses)):
        first = {name: place for place, (_, name) in enumerate(uses)}
        aggregate.calls.sort(key=lambda call: first.get(call.name, len(first)))


def _keys(both: Comparison, old: Aggregate, new: Aggregate, place: Place) -> None:
    part = place.part(ChangeKind.DEDUP if old.distinct and new.distinct else ChangeKind.GROUPING_KEYS)
    add = partial(both.add, step=new.step, feeds_state=place.feeds_state)
    matched = both.matched(old, new, old.keys, new.keys)
    gone, came, is_reordered = list(matched.gone), list(matched.came), matched.is_reordered
    for one, another in paired_keys(gone, came):
        gone.remove(one)
        came.remove(another)
        before, after = one.expr, another.expr
        was, now = both.old.show(before), both.new.show(after)
        if is_window(before) and is_window(after):
            kind, detail = place.part(ChangeKind.WINDOW), window_change(before, after)
            same = same_window(before, after)
        else:
            kind, detail, same = part, f"{was} -> {now}", both.key_type(before, after)
        add(kind, old=was, new=now, detail=detail, same_type=same)
        both.same_name((old.id, one.name), (new.id, another.name))
    for verb, (was, now) in both.alone(gone, came):
        add(part, old=was, new=now, detail=f"{verb} {was or now}", same_type=False)
    if is_reordered:
        same, (was, now) = both.exchangeable(old.keys, new.keys), both.lists(old.keys, new.keys)
        add(part, old=was, new=now, detail="only their order", same_type=same)


def _calls(both: Comparison, old: Aggregate, new: Aggregate, place: Place) -> None:
    matched = both.matched(old, new, old.calls, new.calls)
    gone, came = list(matched.gone), list(matched.came)
    for one, another in paired_calls(gone, came):
        gone.remove(one)
        came.remove(another)
        _call(both, one, another, new.step, place)
        both.same_name((old.id, one.name), (new.id, another.name))
    for verb, texts in both.alone(gone, came):
        part = ChangeKind.AGGREGATE_REMOVED if verb == "removed" else ChangeKind.AGGREGATE_ADDED
        both.add(place.part(part), new.step, *texts, feeds_state=place.feeds_state)
    if place.stateful and matched.is_reordered:
        buffers = [
            (both.old.buffer(one.expr), both.new.buffer(another.expr))
            for one, another in zip(old.calls, new.calls, strict=True)
        ]
        both.add(
            ChangeKind.AGGREGATE_ORDER,
            new.step,
            *both.lists(old.calls, new.calls),
            feeds_state=place.feeds_state,
            same_type=all_of([same_buffer(*each) for each in buffers]),
        )


def _call(both: Comparison, old: NamedExpr, new: NamedExpr, step: str, place: Place) -> None:
    """Compares two aggregates that took each other's place."""
    add = partial(both.add, old=both.old.show(old.expr), new=both.new.show(new.expr))
    same = same_buffer(both.old.buffer(old.expr), both.new.buffer(new.expr))
    if function_of(old.expr) != function_of(new.expr):
        part, where = ChangeKind.AGGREGATE_CHANGED, step
    else:
        # What another step computes for the aggregate is a value that goes into the state.
        where = parting(old.expr, new.expr, step)
        part = ChangeKind.AGGREGATE_ARGUMENT if where == step else ChangeKind.INPUT_OF_STATE
    add(place.part(part), where, feeds_state=place.feeds_state, same_type=same)
