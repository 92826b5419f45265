"""Compares two operators of a kind that has one part only: relations that are read, deduplications, limits,
orders of rows, rows made of one row, computed values.
"""

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.differences.comparison import Comparison, Place
from flareiac_spark.sql.operators import Compute, Dedup, Generate, Limit, Scan, Sort


def compare_scans(both: Comparison, old: Scan, new: Scan, *, feeds_state: bool) -> None:
    both.same_name((old.id, "*"), (new.id, "*"))
    if old.relation != new.relation or old.streams != new.streams:
        detail = "" if old.streams == new.streams else "no longer streamed" if old.streams else "now streamed"
        texts = old.relation, new.relation
        both.add(ChangeKind.SOURCES, new.step, *texts, feeds_state=feeds_state, detail=detail)


def compare_dedups(both: Comparison, old: Dedup, new: Dedup, place: Place) -> None:
    before = {both.old.text(key.expr): key for key in old.keys}
    after = {both.new.text(key.expr): key for key in new.keys}
    gone = [key for text, key in before.items() if text not in after]
    came = [key for text, key in after.items() if text not in before]
    if gone or came or list(before) != list(after):
        changes = [f"{verb} {''.join(texts)}" for verb, texts in both.alone(gone, came)]
        detail = ", ".join(changes) or "only their order"
        same = both.exchangeable(old.keys, new.keys) if len(old.keys) == len(new.keys) else False
        part, texts = place.part(ChangeKind.DEDUP), both.lists(old.keys, new.keys)
        both.add(part, new.step, *texts, feeds_state=place.feeds_state, detail=detail, same_type=same)


def compare_limits(both: Comparison, old: Limit, new: Limit, *, feeds_state: bool) -> None:
    if both.old.text(old.count) != both.new.text(new.count):
        texts = both.old.show(old.count), both.new.show(new.count)
        both.add(ChangeKind.LIMIT, new.step, *texts, feeds_state=feeds_state, same_type=True)


def compare_made_rows(
    both: Comparison, old: Sort | Generate | Compute, new: Sort | Generate | Compute, *, feeds_state: bool
) -> None:
    """Compares two operators of one kind of those that never hold state."""
    match old, new:
        case Sort(), Sort():
            _sorts(both, old, new, feeds_state=feeds_state)
        case Generate(), Generate():
            _generated(both, old, new, feeds_state=feeds_state)
        case Compute(), Compute():
            _computed(both, old, new, feeds_state=feeds_state)
        case _:
            raise AssertionError("operators of one kind are compared")


def _sorts(both: Comparison, old: Sort, new: Sort, *, feeds_state: bool) -> None:
    before, after = [both.old.text(key) for key in old.keys], [both.new.text(key) for key in new.keys]
    if before != after:
        texts = both.old.listed(old.keys), both.new.listed(new.keys)
        detail = "only their order" if sorted(before) == sorted(after) else ""
        both.add(ChangeKind.ORDER, new.step, *texts, feeds_state=feeds_state, detail=detail)


def _generated(both: Comparison, old: Generate, new: Generate, *, feeds_state: bool) -> None:
    both.same_name((old.id, "*"), (new.id, "*"))
    if (both.old.text(old.call), old.outer) != (both.new.text(new.call), new.outer):
        texts, detail = (both.old.show(old.call), both.new.show(new.call)), "how rows are made of one row"
        both.add(ChangeKind.PROJECTION, new.step, *texts, feeds_state=feeds_state, detail=detail)


def _computed(both: Comparison, old: Compute, new: Compute, *, feeds_state: bool) -> None:
    matched = both.matched(old, new, old.values, new.values)
    for place in range(max(len(matched.gone), len(matched.came))):
        one, another = matched.gone[place : place + 1], matched.came[place : place + 1]
        texts = both.lists(one, another)
        both.add(ChangeKind.PROJECTION, new.step, *texts, feeds_state=feeds_state)
        if one and another:
            both.same_name((old.id, one[0].name), (new.id, another[0].name))
