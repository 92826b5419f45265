"""Compares the operands of filters, and of the conditions of joins."""

from collections.abc import Iterator, Sequence

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.differences.comparison import Comparison
from flareiac_spark.sql.operators import Condition


def compare_filters(
    both: Comparison, old: list[Condition], new: list[Condition], *, feeds_state: bool
) -> None:
    for one, other, order in parted(both, old, new):
        last = (other or one)[0]
        detail = order or ("Spark applies it before the state" if feeds_state and last.moved else "")
        texts = shown(both, one, other)
        both.add(ChangeKind.FILTER, last.step, *texts, feeds_state=feeds_state, detail=detail)


def parted(
    both: Comparison, old: list[Condition], new: list[Condition]
) -> Iterator[tuple[list[Condition], list[Condition], str]]:
    """The conditions that one query alone has, side by side. Of the same ones in another order, or asked
    another number of times, all of them: a condition may guard the next one from an error.
    """
    before = [both.old.text(each.expr) for each in old]
    after = [both.new.text(each.expr) for each in new]
    gone = [each for each, text in zip(old, before, strict=True) if text not in after]
    came = [each for each, text in zip(new, after, strict=True) if text not in before]
    if not gone and not came and before != after:
        yield old, new, "only their order" if len(before) == len(after) else "asked again"
    for place in range(max(len(gone), len(came))):
        yield gone[place : place + 1], came[place : place + 1], ""


def shown(both: Comparison, old: Sequence[Condition], new: Sequence[Condition]) -> tuple[str, str]:
    """The conditions of both sides as SQL for people."""
    return (
        both.old.listed((each.expr for each in old), " AND "),
        both.new.listed((each.expr for each in new), " AND "),
    )
