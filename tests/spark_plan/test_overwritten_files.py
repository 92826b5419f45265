"""Files that were written again after a query had read them: Spark never reads them again, so they are named."""

import json
import os
from pathlib import Path

from flareiac_spark.checkpoint.overwritten import NEWEST, overwritten


def read(checkpoint: Path, name: str, *files: Path, at_ms: int) -> None:
    """An entry of a file source's log, as Spark writes it."""
    log = checkpoint / "sources" / "0"
    log.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"path": file.as_uri(), "timestamp": at_ms, "batchId": 0}) for file in files]
    (log / name).write_text("\n".join(["v1", *lines]), encoding="utf-8")


def written(path: Path, at_ms: int) -> Path:
    path.write_text("{}", encoding="utf-8")
    os.utime(path, ns=(at_ms * 1_000_000, at_ms * 1_000_000))
    return path


def test_a_file_that_was_written_again_is_named(tmp_path: Path) -> None:
    same, again = written(tmp_path / "same.json", 10_000), written(tmp_path / "a gain%é.json", 90_000)
    read(tmp_path, "0", same, again, at_ms=10_000)
    assert overwritten(tmp_path) == (str(again),)


def test_a_file_that_is_gone_or_as_old_as_it_was_is_not(tmp_path: Path) -> None:
    read(tmp_path, "0", tmp_path / "gone.json", written(tmp_path / "whole_seconds.json", 10_999), at_ms=10_000)
    assert overwritten(tmp_path) == ()


def test_a_compacted_log_holds_all_before_it_and_later_entries_count(tmp_path: Path) -> None:
    first, later = written(tmp_path / "first.json", 90_000), written(tmp_path / "later.json", 90_000)
    read(tmp_path, "8", first, at_ms=90_000)  # read again under another entry: the compacted one counts
    read(tmp_path, "9.compact", first, at_ms=10_000)
    read(tmp_path, "10", later, at_ms=10_000)
    assert overwritten(tmp_path) == (str(first), str(later))


def test_only_the_newest_entries_are_asked_for(tmp_path: Path) -> None:
    old = written(tmp_path / "old.json", 90_000)
    read(tmp_path, "0", old, *[tmp_path / "gone"] * NEWEST, at_ms=10_000)
    assert overwritten(tmp_path) == ()


def test_a_log_that_can_not_be_read_tells_nothing(tmp_path: Path) -> None:
    assert overwritten(tmp_path / "none") == ()
    read(tmp_path, "0", at_ms=1)
    (tmp_path / "sources" / "0" / "1").write_text("torn", encoding="utf-8")
    assert overwritten(tmp_path) == ()
