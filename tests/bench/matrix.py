"""The matrix change x source x output: what plan says, what apply does, and which rows are there afterwards,
in each combination.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from tests.bench.figure import Figure
from tests.bench.matrix_bad_changes import bad_changes
from tests.bench.matrix_cells import Cell
from tests.bench.matrix_change import Change
from tests.bench.matrix_changes import all_changes
from tests.bench.matrix_kafka_changes import kafka_changes
from tests.bench.matrix_model import Stateless, Steady
from tests.bench.matrix_plan import plan_cells
from tests.bench.matrix_run import run

_AT_ONCE: Final = 60
"""Cells in one Spark application. Each is a query or two, which take memory, and processor time while they
wait.
"""


STORES: Final = {
    "": "",
    "rocksdb": '{ provider = "rocksdb" }',
    "changelog": '{ provider = "rocksdb", changelog = true }',
}
"""The state stores, by name; Spark's own choice without one."""


def cells(only: str = "", store: str = "") -> list[Cell]:
    """The cells whose name contains one of the words in ``only``; all of them without any. With a ``store``,
    those that have state.
    """
    found = [
        Cell(change=_kept_in(change, STORES[store]))
        for change in chain(all_changes(), kafka_changes(), bad_changes())
        if not store or _has_state(change)
    ]
    words = only.split(",")
    return [cell for cell in found if any(word in cell.name for word in words)]


def _kept_in(change: Change, state_store: str) -> Change:
    return replace(
        change,
        before=replace(change.before, state_store=state_store),
        after=replace(change.after, state_store=state_store),
    )


def _has_state(change: Change) -> bool:
    return any(not isinstance(job.query, Stateless | Steady) for job in (change.before, change.after))


def matrix(directory: Path, only: str = "", store: str = "", *, plan_only: bool = False) -> Iterator[Figure]:
    """Prints the table; the figure is how many cells differ from what is right. Raises ``RuntimeError`` if
    one does. ``plan_only``: the plans alone are judged, and no Spark runs.
    """
    chosen = cells(only, store)
    if plan_only:
        plan_cells(directory, chosen)
        sys.stdout.write(table(chosen) + "\n")
    for number, at in enumerate(() if plan_only else range(0, len(chosen), _AT_ONCE)):
        wave = directory / f"wave-{number}"
        wave.mkdir()
        run(wave, chosen[at : at + _AT_ONCE])
        sys.stdout.write(table(chosen[at : at + _AT_ONCE]) + "\n")
        sys.stdout.flush()
    wrong = [cell for cell in chosen if cell.wrong]
    yield Figure(
        name=f"matrix of {len(chosen)} cells, cells that differ", value=len(wrong), unit="cells", bar=0.0
    )
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(chosen)} cells differ")


def table(chosen: Sequence[Cell]) -> str:
    """One line for each cell, then what differs in words, then the sum."""
    head = ("CHANGE", "QUERY", "SOURCE", "OUTPUT", "VERDICT", "WAY", "OUTCOME", "ROWS", "RIGHT", "")
    lines = [head, *(_line(cell) for cell in chosen)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    told = [
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    differing = [cell for cell in chosen if cell.wrong]
    told += [f"{cell.name}: {'; '.join(cell.wrong)}" for cell in differing]
    return "\n".join([*told, f"{len(chosen)} cells, {len(differing)} differ", ""])


def _line(cell: Cell) -> tuple[str, ...]:
    change = cell.change
    return (
        change.name,
        change.family,
        change.before.source,
        change.output,
        cell.verdict or "-",
        change.way.value or "-",
        cell.outcome or "-",
        _counts(cell.found.values()),
        _counts(cell.rows_last().values()),
        ("DIFFERS" if cell.wrong else "ok") + (f" after {cell.failures} failures" if cell.failures else ""),
    )


def _counts(texts: Iterable[str]) -> str:
    return "+".join("0" if found == "-" else str(found.count(";") + 1) for found in texts) or "-"
