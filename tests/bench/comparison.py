"""Figures as one table beside their bars, and beside those of an earlier run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.figure import Better, Figure, NotMeasured

_NOISE = 0.05
"""A change of less is not called one: figures of equal programs differ by as much on a shared machine."""
_RULE = "-"


def earlier_values(file: Path) -> dict[str, float]:
    """The values of an earlier run by the names of the figures: ``file`` is what it wrote to its standard
    output. Raises ``ValueError`` for a file with another content.
    """
    found: dict[str, float] = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if not line.startswith("{"):
            continue  # the matrix and chaos print tables of their own
        try:
            data = json.loads(line)
            if "value" in data:
                found[data["figure"]] = float(data["value"])
        except (ValueError, KeyError, TypeError) as problem:
            raise ValueError(f"{file}, line {number}: not the figure of a run: {problem}") from problem
    if not found:
        raise ValueError(f"{file} holds no figures; write one with python -m tests.bench NAME > FILE")
    return found


def table(found: Sequence[Figure | NotMeasured], before: Mapping[str, float]) -> str:
    """One line for each figure; with ``before``, what it was and by how much it changed."""
    header = ["FIGURE", *(["BEFORE"] if before else []), "NOW", "UNIT", "BAR", ""]
    if before:
        header.append("CHANGE")
    rows = [header, *(_row(item, before) for item in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(item: Figure | NotMeasured, before: Mapping[str, float]) -> list[str]:
    known = before.get(item.name)
    was = [_RULE if known is None else f"{known:.4g}"] if before else []
    if isinstance(item, NotMeasured):
        return [item.name, *was, _RULE, "", "", item.reason, *([""] if before else [])]
    bar = "" if item.bar is None else f"{'<=' if item.better is Better.LOWER else '>='} {item.bar:g}"
    met = {None: "", True: "met", False: "MISSED"}[item.met]
    change = [_change(item, known)] if before else []
    return [item.name, *was, f"{item.value:.4g}", item.unit, bar, met, *change]


def _change(item: Figure, known: float | None) -> str:
    if not known:
        return ""
    share = item.value / known - 1
    if abs(share) < _NOISE:
        return "as before"
    is_better = (share < 0) == (item.better is Better.LOWER)
    return f"{share:+.0%} {'better' if is_better else 'WORSE'}"
