"""The plans of a sample of the matrix say what its cells expect. ``python -m tests.bench matrix --plan-only``
plans all cells, and a run without that option compares what an apply does and which rows are there.
"""

from pathlib import Path

from tests.bench.matrix import cells
from tests.bench.matrix_plan import plan_cells


def test_the_plan_of_a_change_says_what_its_cell_expects(tmp_path: Path) -> None:
    changes = {(cell.change.name, cell.change.family): cell for cell in cells()}
    plan_cells(tmp_path, list(changes.values()))
    assert {cell.name: cell.wrong for cell in changes.values() if cell.wrong} == {}
