"""Some cells of the matrix change x source x output; ``python -m tests.bench matrix`` takes all of them."""

from collections import Counter
from pathlib import Path

import pytest

from tests.bench.matrix import cells, table
from tests.bench.matrix_cells import Cell
from tests.bench.matrix_run import run

SAMPLE = (
    "comment_plain_files_append",
    "projection_plain_table_foreach_batch",
    "pinned_conf_sum_table_merge",
    "sum_to_max_sum_files_complete_token",
    "sum_to_max_sum_files_complete_earliest",
    "dedup_keys_unique_table_append_carry_over",
    "source_path_plain_files_append_undo",
    "generation_truncate_plain_files_branch",
    "topic_added_sum_kafka_complete_token",
    "topic_removed_plain_kafka_append_carry_over",
    "records_created_again_stopped_plain_kafka_append_earliest",
    "drop_to_quarantine_plain_kafka_append",
    "written_key_told_kafka_topic",
)


def test_each_cell_has_a_name_of_its_own_and_rows_that_are_right() -> None:
    found = cells()
    assert [name for name, times in Counter(cell.name for cell in found).items() if times > 1] == []
    assert all(cell.rows_first() and cell.rows_last() and cell.right_outcome for cell in found)


@pytest.mark.jvm
@pytest.mark.parametrize(
    "half", [pytest.param(turn, marks=pytest.mark.turn(turn, 2), id=f"half-{turn}") for turn in (0, 1)]
)
@pytest.mark.usefixtures("jars", "java_home")
def test_no_cell_differs(tmp_path: Path, half: int) -> None:
    chosen: list[Cell] = [cell for cell in cells() if cell.name in SAMPLE[half::2]]
    assert len(chosen) == len(SAMPLE[half::2])
    run(tmp_path, chosen)
    assert [cell.name for cell in chosen if cell.wrong] == [], table(chosen)
