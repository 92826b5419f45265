"""Compares two joins: their kind, their keys, their other conditions, and what a join of two streams keeps.

Spark's state of such a join holds the rows of both sides, with the columns that something above reads, by the
keys that the sides are compared by.
"""

from functools import partial

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.differences.comparison import Comparison, Place, all_of
from flareiac_spark.sql.differences.conditions import parted, shown
from flareiac_spark.sql.differences.labels import kind_label, relations_of
from flareiac_spark.sql.differences.matching import parting
from flareiac_spark.sql.operators import Join


def compare_joins(both: Comparison, old: Join, new: Join, place: Place) -> None:
    """Compares both joins, when their sides have been compared."""
    table = "" if place.stateful else f"the join with {relations_of(new.table)}"
    if place.stateful:
        _kept(both, old, new, feeds_state=place.feeds_state)
    _kind(both, old, new, place, table)
    _unsure(both, old, new, feeds_state=place.feeds_state)
    before = len(both.differences)
    _equations(both, old, new, place, table)
    _rest(both, old, new, place, table)
    if len(both.differences) == before:
        _order_of_conditions(both, old, new, place, table)


def _kept(both: Comparison, old: Join, new: Join, *, feeds_state: bool) -> None:
    add = partial(both.add, step=new.step, feeds_state=feeds_state)
    for join in (old, new):
        join.kept.sort(key=lambda column: column.place)
    matched = both.matched(old, new, old.kept, new.kept)
    for side, name in ((0, "left"), (1, "right")):
        lost = [column for column in matched.gone if column.place[0] == side]
        more = [column for column in matched.came if column.place[0] == side]
        while lost and more:
            one, another = lost.pop(0), more.pop(0)
            before, after = one.expr, another.expr
            add(
                ChangeKind.INPUT_OF_STATE,
                step=parting(before, after, new.step),
                old=both.old.show(before),
                new=both.new.show(after),
                detail=f"what the {name} side of the join keeps",
                same_type=both.same_type(before, after),
            )
            both.same_name((old.id, one.name), (new.id, another.name))
        for verb, (was, now) in both.alone(lost, more):
            detail = f"{verb} {'from' if verb == 'removed' else 'to'} the {name} side"
            add(ChangeKind.JOIN_COLUMNS, old=was, new=now, detail=detail)
    if matched.is_reordered:
        same, (was, now) = both.exchangeable(old.kept, new.kept), both.lists(old.kept, new.kept)
        add(ChangeKind.JOIN_COLUMNS, old=was, new=now, detail="only their order", same_type=same)


def _kind(both: Comparison, old: Join, new: Join, place: Place, table: str) -> None:
    if old.kind != new.kind:
        was, now = kind_label(old), kind_label(new)
        part, detail = place.part(ChangeKind.JOIN_TYPE), table or f"{was} -> {now}"
        texts = f"{was} join", f"{now} join"
        both.add(part, new.step, *texts, feeds_state=place.feeds_state, detail=detail)


def _unsure(both: Comparison, old: Join, new: Join, *, feeds_state: bool) -> None:
    for one, other, _ in parted(both, old.unsure, new.unsure):
        detail = "the filter above may make it an inner join"
        texts = shown(both, one, other)
        both.add(ChangeKind.JOIN_TYPE, new.step, *texts, feeds_state=feeds_state, detail=detail)


def _equations(both: Comparison, old: Join, new: Join, place: Place, table: str) -> None:
    before, after = (
        [(side.text(left), side.text(right)) for left, right in join.keys]
        for side, join in ((both.old, old), (both.new, new))
    )
    if before != after:
        texts = (
            " AND ".join(f"{side.show(left)} = {side.show(right)}" for left, right in join.keys)
            for side, join in ((both.old, old), (both.new, new))
        )
        part, same = place.part(ChangeKind.JOIN_KEYS), _same_keys(both, old, new)
        both.add(part, new.step, *texts, feeds_state=place.feeds_state, detail=table, same_type=same)


def _same_keys(both: Comparison, old: Join, new: Join) -> bool | None:
    if len(old.keys) != len(new.keys):
        return False
    pairs = zip(old.keys, new.keys, strict=True)
    return all_of([both.key_type(one[0], another[0]) for one, another in pairs])


def _rest(both: Comparison, old: Join, new: Join, place: Place, table: str) -> None:
    for one, other, order in parted(both, old.rest, new.rest):
        part, texts = place.part(ChangeKind.JOIN_CONDITION), shown(both, one, other)
        detail = _in(table, order)
        both.add(part, new.step, *texts, feeds_state=place.feeds_state, detail=detail)


def _order_of_conditions(both: Comparison, old: Join, new: Join, place: Place, table: str) -> None:
    """Compares how the same equations stand among the same other conditions."""
    before, after = list(map(both.old.text, old.order)), list(map(both.new.text, new.order))
    if before != after:
        texts = both.old.listed(old.order, " AND "), both.new.listed(new.order, " AND ")
        part, detail = place.part(ChangeKind.JOIN_KEYS), _in(table, "only their order")
        both.add(part, new.step, *texts, feeds_state=place.feeds_state, detail=detail)


def _in(table: str, detail: str) -> str:
    """A detail, after the join with a table that it belongs to."""
    return ": ".join(filter(None, (table, detail)))
