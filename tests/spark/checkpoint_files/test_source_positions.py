"""The positions of a query in its sources, by its checkpoint."""

import json
from pathlib import Path

from flareiac_spark.checkpoint_files.source_positions import read_source_positions

SEEDS = 8
"""A generation is prepared for a query that reads its only stream at any number of places."""


def entry(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["v1", *lines]))


def prepared(folder: Path) -> Path:
    for number in range(SEEDS):
        entry(folder / "sources" / str(number) / "0", json.dumps({"orders": {"0": 5}}))
    return folder


def test_of_a_prepared_generation_each_log_is_a_position(tmp_path: Path) -> None:
    positions = read_source_positions(prepared(tmp_path))
    assert positions is not None
    assert positions.count == SEEDS


def test_once_a_batch_was_begun_its_offsets_say_how_many_positions_there_are(tmp_path: Path) -> None:
    entry(prepared(tmp_path) / "offsets" / "0", "{}", json.dumps({"orders": {"0": 9}}))
    begun = read_source_positions(tmp_path)
    entry(tmp_path / "commits" / "0", "{}")
    committed = read_source_positions(tmp_path)
    assert begun is not None
    assert committed is not None
    assert (begun.count, committed.count) == (1, 1)
    assert committed.reached == ({"orders": {"0": 9}},)
