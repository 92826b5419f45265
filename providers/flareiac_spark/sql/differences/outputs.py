"""Compares the columns that come out of two queries, and their hints. No state is made of them."""

from typing import Literal

from flareiac_spark.sql.change_kinds import ChangeKind, ColumnChange
from flareiac_spark.sql.differences.comparison import Comparison
from flareiac_spark.sql.differences.matching import parting
from flareiac_spark.sql.differences.side import Side
from flareiac_spark.sql.operators import Hint, Output


def compare_outputs(both: Comparison, old: list[Output], new: list[Output]) -> None:
    """Compares columns of one name, and their order unless a table takes them by their names."""
    before, after = _by_name(old), _by_name(new)
    for name, output in after.items():
        if name not in before:
            _column(both, output.step, "added", output, "", _named(output, both.new))
            continue
        was = before[name]
        if (both.old.text(was.expr), was.without) != (both.new.text(output.expr), output.without):
            where = parting(was.expr, output.expr, output.step)
            _column(both, where, "changed", output, _named(was, both.old), _named(output, both.new))
        elif was.shown != output.shown and (both.old.exact_names or both.new.exact_names):
            _add(both, output.step, was.shown, output.shown, "the case of a name")
    for name, output in before.items():
        if name not in after:
            where = new[0].step if new else output.step
            _column(both, where, "removed", output, _named(output, both.old), "")
    by_name = both.old.writes and both.new.writes  # a table takes columns by their names
    if list(before) != list(after) and sorted(before) == sorted(after) and not by_name:
        texts = ", ".join(_name(each) for each in old), ", ".join(_name(each) for each in new)
        _add(both, new[0].step, *texts, "only their order")


def compare_hints(both: Comparison, old: list[Hint], new: list[Hint]) -> None:
    before, after = [each.text for each in old], [each.text for each in new]
    if before != after:
        step, texts = (new or old)[0].step, (", ".join(before), ", ".join(after))
        both.add(ChangeKind.HINT, step, *texts, feeds_state=False)


def _add(
    both: Comparison, step: str, old: str, new: str, detail: str, column: ColumnChange | None = None
) -> None:
    both.add(ChangeKind.PROJECTION, step, old, new, feeds_state=False, detail=detail, column=column)


def _column(
    both: Comparison,
    step: str,
    kind: Literal["added", "removed", "changed"],
    output: Output,
    old: str,
    new: str,
) -> None:
    name = _name(output)
    detail = f"{name} changed" if kind == "changed" else f"{kind} {name}"
    _add(both, step, old, new, detail, ColumnChange(step=step, name=name, kind=kind))


def _by_name(outputs: list[Output]) -> dict[tuple[str, int], Output]:
    """By name, and by place among those of one name."""
    known: dict[tuple[str, int], Output] = {}
    for output in outputs:
        known[output.name, sum(name == output.name for name, _ in known)] = output
    return known


def _name(output: Output) -> str:
    return output.name or "a column without a name"


def _named(output: Output, side: Side) -> str:
    text = side.show(output.expr)
    return text if output.name in ("", "*") or text == output.name else f"{text} AS {output.name}"
