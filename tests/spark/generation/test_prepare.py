"""A new generation is prepared from an old one: what Spark will read there, and what is never touched."""

import json
import shutil
from pathlib import Path

import pytest

from flareiac_spark.checkpoint_files.folder_state import FolderState, folder_state
from flareiac_spark.checkpoint_files.reader import note_of, read_checkpoint
from flareiac_spark.generation.prepare import (
    LastBatch,
    StartPositions,
    positions_at,
    prepare_folder,
    times_at,
)
from flareiac_spark_runtime.checkpoint_log import Damaged, files_in, read_offsets
from flareiac_spark_runtime.storage import replace_whole
from tests.spark.checkpoint_sample import QUERY, compact, sample, table

ME = "lineage/checkpoint.x"


def settled(folder: Path, batch: int | None) -> LastBatch:
    return LastBatch(folder=folder, query_id=QUERY, batch=batch)


def test_logs_are_taken_over_up_to_the_settled_batch(tmp_path: Path) -> None:
    """The batch in flight is read again: its offsets and its files do not come along. Nor does the query
    id.
    """
    old, new = sample(tmp_path / "g0001", committed=2), tmp_path / "g0002"
    prepare_folder(new, StartPositions(by=ME, copied=settled(old, 2)))
    assert sorted(path.name for path in (new / "offsets").iterdir()) == ["0", "1", "2"]
    assert sorted(path.name for path in (new / "commits").iterdir()) == ["0", "1", "2"]
    assert sorted(path.name for path in (new / "sources" / "0").iterdir()) == ["0", "1", "2"]
    assert not (new / "metadata").exists()
    assert read_checkpoint(new) is None
    assert folder_state(new, ME) is FolderState.PREPARED


def test_a_batch_that_was_written_counts_as_committed(tmp_path: Path) -> None:
    old, new = sample(tmp_path / "g0001", committed=2), tmp_path / "g0002"
    prepare_folder(new, StartPositions(by=ME, copied=settled(old, 3)))
    assert (new / "commits" / "3").read_text().startswith("v1\n{")
    assert (new / "sources" / "0" / "3").exists()


def test_a_stream_that_is_read_twice_has_one_log(tmp_path: Path) -> None:
    """It has two positions. Of two streams both logs must be there: one would be read again from its
    beginning.
    """
    old, new = sample(tmp_path / "g0001", ("files", "files")), tmp_path / "g0002"
    shutil.rmtree(old / "sources" / "1")
    with pytest.raises(FileNotFoundError):
        prepare_folder(new, StartPositions(by=ME, copied=settled(old, 3)))
    prepare_folder(new, StartPositions(by=ME, copied=settled(old, 3), alone=True))
    assert read_offsets(new, 3).positions == read_offsets(old, 3).positions
    assert [path.name for path in (new / "sources").iterdir()] == ["0"]


def test_settings_of_the_new_definition_are_pinned(tmp_path: Path) -> None:
    old, new = sample(tmp_path / "g0001"), tmp_path / "g0002"
    prepare_folder(
        new,
        StartPositions(
            by=ME, copied=settled(old, 3), conf={"spark.sql.shuffle.partitions": "9", "other": "x"}
        ),
    )
    assert read_offsets(new, 3).header["conf"] == {"spark.sql.shuffle.partitions": "9"}
    assert read_offsets(new, 3).positions == read_offsets(old, 3).positions


@pytest.mark.parametrize(("folded", "last"), [((1,), 3), ((3,), 2), ((1, 3), 2), ((3,), 3), ((1,), 1)])
def test_a_compacted_log_of_files_is_taken_over(tmp_path: Path, folded: tuple[int, ...], last: int) -> None:
    """Also where Spark has folded the entry that does not count into it."""
    old, new = sample(tmp_path / "g0001"), tmp_path / "g0002"
    log = old / "sources" / "0"
    for at in folded:
        kept = (log / f"{folded[0]}.compact").read_text() if at != folded[0] else None
        compact(log, at)
        if kept is not None:
            (log / f"{folded[0]}.compact").write_text(kept)
    prepare_folder(new, StartPositions(by=ME, copied=settled(old, last)))
    entries = [entry["batchId"] for path in (new / "sources" / "0").iterdir() for entry in files_in(path)]
    assert sorted(entries) == list(range(last + 1))


def test_a_table_begins_at_its_position(tmp_path: Path) -> None:
    """In the form in which Iceberg keeps its own beginning; a query with one stream finds it at whatever
    index it asks for.
    """
    old, new = sample(tmp_path / "g0001", ("table",)), tmp_path / "g0002"
    (position,) = positions_at(settled(old, 2))
    assert position == table(2)
    prepare_folder(new, StartPositions(by=ME, positions={0: position}, times={"orders": None}))
    assert [str(path.relative_to(new)) for path in new.rglob("*") if path.is_file()] == [
        "sources/0/offsets/0"
    ]
    assert json.loads((new / "sources" / "0" / "offsets" / "0").read_text()) == json.loads(table(2))
    prepare_folder(new, StartPositions(by=ME, positions={0: position}, alone=True))
    assert (new / "sources" / "1" / "offsets" / "0").read_text() == position


def test_the_moments_of_the_old_generation_are_known(tmp_path: Path) -> None:
    old, new = sample(tmp_path / "g0001", ("table",)), tmp_path / "g0002"
    assert times_at(settled(old, 1)) == {}
    prepare_folder(new, StartPositions(by=ME, times={"orders": 17, "others": None}))
    assert times_at(settled(new, None)) == {"orders": 17, "others": None}


def test_preparing_again_discards_what_nobody_used(tmp_path: Path) -> None:
    old, new = sample(tmp_path / "g0001"), tmp_path / "g0002"
    prepare_folder(new, StartPositions(by=ME, copied=settled(old, 3)))
    prepare_folder(new, StartPositions(by=ME))
    assert list(new.iterdir()) == []
    assert folder_state(new, ME) is FolderState.PREPARED
    assert folder_state(new, "somebody/else") is FolderState.UNKNOWN


def test_what_a_query_has_used_is_used(tmp_path: Path) -> None:
    new = tmp_path / "g0002"
    assert folder_state(new) is FolderState.ABSENT
    prepare_folder(new, StartPositions(by=ME))
    (new / "metadata").write_text("{}")
    assert folder_state(new, ME) is FolderState.USED


def test_a_folder_without_a_note_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "g0002").mkdir()
    assert folder_state(tmp_path / "g0002", ME) is FolderState.UNKNOWN


def test_a_torn_note_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "g0002"
    folder.mkdir()
    replace_whole(note_of(folder), b'{"times": {')
    with pytest.raises(Damaged) as caught:
        folder_state(folder, ME)
    assert caught.value.path == note_of(folder)


def test_a_log_with_a_hole_is_refused(tmp_path: Path) -> None:
    """Files of the missing entry would be read twice."""
    old, new = sample(tmp_path / "g0001"), tmp_path / "g0002"
    (old / "sources" / "0" / "1").unlink()
    with pytest.raises(Damaged):
        prepare_folder(new, StartPositions(by=ME, copied=settled(old, 3)))
    assert folder_state(new, ME) is FolderState.ABSENT
