"""A state that has lost a file is told from the numbers of its files, before a query is started on it."""

import io
import zipfile
from pathlib import Path

import pytest

from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark_runtime.checkpoint_log import Damaged
from tests.spark.checkpoint_sample import sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four batches, so that the fifth loads version 4."""
    return sample(tmp_path / "g0001", operator="stateStoreSave")


@pytest.fixture
def store(folder: Path) -> Path:
    return folder / "state" / "0" / "1"


def archive(listed: str = "{}") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        made.writestr("metadata", f"v1\n{listed}")
    return content.getvalue()


def damage(folder: Path) -> Damaged:
    with pytest.raises(Damaged) as caught:
        read_checkpoint(folder)
    return caught.value


@pytest.mark.parametrize("version", [1, 2, 4])
def test_a_missing_change_file(folder: Path, store: Path, version: int) -> None:
    (store / f"{version}.delta").unlink()
    found = damage(folder)
    assert found.path == store / f"{version}.delta"
    assert "it is not there, and the state of version 4 is built from it" in found.why


def test_an_empty_change_file(folder: Path, store: Path) -> None:
    (store / "4.delta").write_bytes(b"")
    assert (damage(folder).path, damage(folder).why) == (
        store / "4.delta",
        "it is empty, and the state is built from it",
    )


def test_what_a_snapshot_covers_is_not_needed(folder: Path, store: Path) -> None:
    (store / "3.snapshot").write_bytes(b"LZ4Block")
    for version in (1, 2, 3):
        (store / f"{version}.delta").unlink()
    assert read_checkpoint(folder) is not None
    (store / "3.snapshot").write_bytes(b"")
    assert damage(folder).path == store / "3.snapshot"


def test_a_newer_snapshot_does_not_count_for_an_older_version(folder: Path, store: Path) -> None:
    """The batch in flight may have written one that its repetition writes again."""
    (store / "5.snapshot").write_bytes(b"")
    assert read_checkpoint(folder) is not None


def test_a_whole_partition_is_gone(folder: Path, store: Path) -> None:
    for item in store.iterdir():
        item.unlink()
    store.rmdir()
    assert damage(folder).path == store / "1.delta"


def test_rocksdb_with_a_changelog(folder: Path, store: Path) -> None:
    for version in range(1, 5):
        (store / f"{version}.delta").rename(store / f"{version}.changelog")
    assert read_checkpoint(folder) is not None
    (store / "2.zip").write_bytes(archive())
    (store / "1.changelog").unlink()
    assert read_checkpoint(folder) is not None
    (store / "2.zip").write_bytes(archive()[:-10])
    assert damage(folder).why == "it is cut off, and the state is built from it"
    (store / "2.zip").unlink()
    assert damage(folder).path == store / "1.changelog"


def test_rocksdb_without_a_changelog_needs_a_whole_snapshot(folder: Path, store: Path) -> None:
    for version in range(1, 5):
        (store / f"{version}.delta").unlink()
        (store / f"{version}.zip").write_bytes(archive())
    assert read_checkpoint(folder) is not None
    (store / "4.zip").write_bytes(b"")
    assert damage(folder).path == store / "4.zip"
    (store / "4.zip").unlink()
    assert damage(folder).path == store / "4.zip"


def test_the_tables_that_a_snapshot_of_rocksdb_lists(folder: Path, store: Path) -> None:
    for version in range(1, 5):
        (store / f"{version}.delta").unlink()
    (store / "4.zip").write_bytes(
        archive('{"sstFiles":[{"localFileName":"8.sst","dfsSstFileName":"8-a.sst","sizeBytes":3}]}')
    )
    table = store / "SSTs" / "8-a.sst"
    assert damage(folder).path == table
    table.parent.mkdir()
    table.write_bytes(b"ab")
    assert damage(folder).why == "it has 2 bytes, and 4.zip lists it with 3"
    table.write_bytes(b"abc")
    assert read_checkpoint(folder) is not None


def test_versions_with_ids_are_not_judged(folder: Path, store: Path) -> None:
    (store / "4.delta").rename(store / "4_9e3b6c1a-3d0f-4b8e-9d67-0f6f7b1f4a11.changelog")
    assert read_checkpoint(folder) is not None


def test_before_the_first_commit_nothing_is_needed(tmp_path: Path) -> None:
    folder = sample(tmp_path / "g0001", started=0, committed=-1, operator="dedupe")
    assert read_checkpoint(folder) is not None
