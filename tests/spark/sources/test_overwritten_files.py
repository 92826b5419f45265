"""Files that were written again after a query had read them: Spark never reads them again, so they are
named.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from flareiac_spark.sources.files import overwritten as module
from flareiac_spark.sources.files.batches_read import readings
from flareiac_spark.sources.files.overwritten import Overwritten, overwritten, unread
from flareiac_spark_runtime.sources.files.notes import local_path, noted_files

COMMITTED_MS = 50_000


def note(checkpoint: Path, name: str, *files: Path, at_ms: int, number: int | None = None) -> None:
    """An entry of a file source's log, as Spark writes it."""
    log = checkpoint / "sources" / "0"
    log.mkdir(parents=True, exist_ok=True)
    number = int(name.removesuffix(".compact")) if number is None else number
    lines = [json.dumps({"path": file.as_uri(), "timestamp": at_ms, "batchId": number}) for file in files]
    (log / name).write_text("\n".join(["v1", *lines]), encoding="utf-8")


def batch(
    checkpoint: Path, number: int, *, reads: int, begun_ms: int = 0, committed_ms: int | None = COMMITTED_MS
) -> None:
    """A batch that reads the notes up to ``reads``."""
    for log in ("offsets", "commits"):
        (checkpoint / log).mkdir(exist_ok=True)
    header = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": begun_ms, "conf": {}})
    (checkpoint / "offsets" / str(number)).write_text(
        f'v1\n{header}\n{{"logOffset":{reads}}}', encoding="utf-8"
    )
    if committed_ms is not None:
        at(checkpoint / "commits" / str(number), committed_ms, 'v1\n{"nextBatchWatermarkMs":0}')


def at(path: Path, at_ms: int, text: str = "{}") -> Path:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(at_ms * 1_000_000, at_ms * 1_000_000))
    return path


def test_a_file_that_was_written_again_is_named(tmp_path: Path) -> None:
    same, again = at(tmp_path / "same.json", 10_000), at(tmp_path / "a gain%é.json", 90_000)
    note(tmp_path, "0", same, again, at_ms=10_000)
    batch(tmp_path, 0, reads=0)
    assert overwritten(tmp_path) == Overwritten(after=(str(again),))


def test_a_file_that_is_gone_or_as_old_as_it_was_is_not(tmp_path: Path) -> None:
    note(tmp_path, "0", tmp_path / "gone.json", at(tmp_path / "whole_seconds.json", 10_999), at_ms=10_000)
    batch(tmp_path, 0, reads=0)
    assert overwritten(tmp_path) == Overwritten()


def test_a_file_that_was_mended_for_a_batch_still_to_be_committed_is_read_with_it(tmp_path: Path) -> None:
    read, mended = at(tmp_path / "read.json", 90_000), at(tmp_path / "mended.json", 90_000)
    note(tmp_path, "0", read, at_ms=10_000)
    note(tmp_path, "1", mended, at_ms=10_000)
    batch(tmp_path, 0, reads=0)
    batch(tmp_path, 1, reads=1, begun_ms=80_000, committed_ms=None)
    assert overwritten(tmp_path) == Overwritten(after=(str(read),))


def test_of_a_file_that_was_written_while_its_batch_was_under_way_either_content_may_have_been_read(
    tmp_path: Path,
) -> None:
    mended = at(tmp_path / "mended.json", 30_000)
    note(tmp_path, "0", mended, at_ms=10_000)
    batch(tmp_path, 0, reads=0)
    assert overwritten(tmp_path) == Overwritten(meanwhile=((str(mended), 10_000),))
    (problem,) = unread([tmp_path])
    assert problem.startswith(
        f"overwritten while its batch was under way: {mended}. Which of its contents was read is not known"
    )
    assert problem.endswith(f"touch -d 1970-01-01T00:00:10Z {mended}")
    os.utime(mended, ns=(10_000_000_000, 10_000_000_000))
    assert unread([tmp_path]) == ()


def test_a_copied_checkpoint_has_later_times_and_the_next_batch_tells_the_bound(tmp_path: Path) -> None:
    again = at(tmp_path / "again.json", 30_000)
    note(tmp_path, "0", again, at_ms=10_000)
    batch(tmp_path, 0, reads=0, committed_ms=900_000)
    batch(tmp_path, 1, reads=0, begun_ms=20_000, committed_ms=900_000)
    assert overwritten(tmp_path) == Overwritten(after=(str(again),))


def test_batches_whose_offsets_are_gone_were_committed_before_the_oldest_that_is_left(tmp_path: Path) -> None:
    old = at(tmp_path / "old.json", 60_000)
    note(tmp_path, "0", old, at_ms=10_000)
    batch(tmp_path, 7, reads=7)
    batch(tmp_path, 8, reads=8, committed_ms=80_000)
    assert overwritten(tmp_path) == Overwritten(after=(str(old),))


def test_a_compacted_log_holds_all_before_it_and_later_entries_count(tmp_path: Path) -> None:
    first, later = at(tmp_path / "first.json", 90_000), at(tmp_path / "later.json", 90_000)
    note(tmp_path, "8", first, at_ms=90_000)  # in the compacted one, too
    note(tmp_path, "9.compact", first, at_ms=10_000, number=8)
    note(tmp_path, "10", later, at_ms=10_000)
    batch(tmp_path, 10, reads=10)
    assert overwritten(tmp_path) == Overwritten(after=(str(first), str(later)))


def test_of_20_000_files_each_is_looked_at_and_few_are_named(tmp_path: Path) -> None:
    names = [tmp_path / f"{number}.json" for number in range(20_000)]
    for number in (0, 1, 2, 19_999):
        at(names[number], 90_000)
    note(tmp_path, "19.compact", *names, at_ms=10_000)
    batch(tmp_path, 19, reads=19)
    (problem,) = unread([tmp_path])
    assert problem.startswith(f"overwritten after it was read: {names[0]} and 3 more. ")


def test_beyond_the_newest_entries_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEWEST", 2)
    files: Sequence[Path] = [at(tmp_path / name, 90_000) for name in ("oldest", "older", "newest")]
    note(tmp_path, "0", *files, at_ms=10_000)
    batch(tmp_path, 0, reads=0)
    assert overwritten(tmp_path) == Overwritten(after=(str(files[1]), str(files[2])), cut=True)
    assert "and 1 more of the newest" in unread([tmp_path])[0]


def test_a_log_that_can_not_be_read_tells_nothing(tmp_path: Path) -> None:
    assert overwritten(tmp_path / "none") == Overwritten()
    note(tmp_path, "0", at_ms=1)
    batch(tmp_path, 0, reads=0)
    (tmp_path / "sources" / "0" / "1").write_text("torn", encoding="utf-8")
    assert overwritten(tmp_path) == Overwritten()


def test_names_that_spark_escapes_are_those_of_the_file_system(tmp_path: Path) -> None:
    note(tmp_path, "0", tmp_path / "a b%é.json", at_ms=1)
    assert [local_path(item.path) for item in noted_files(tmp_path / "sources" / "0")] == [
        str(tmp_path / "a b%é.json")
    ]
    assert readings(tmp_path, 0) == []


def test_a_file_that_moved_within_the_folder_was_perhaps_read_twice(tmp_path: Path) -> None:
    (tmp_path / "done").mkdir()
    gone, moved = tmp_path / "a.json", at(tmp_path / "done" / "a.json", 10_000)
    copy = at(tmp_path / "done" / "copy.json", 10_000)
    note(tmp_path, "0", gone, at(tmp_path / "copy.json", 10_000), at_ms=10_000)
    note(tmp_path, "1", moved, copy, at_ms=10_000)
    batch(tmp_path, 0, reads=1)
    assert overwritten(tmp_path) == Overwritten(moved=((str(gone), str(moved)),))
    (text,) = unread([tmp_path])
    assert text.startswith(f"perhaps read twice: {moved} has the name and the time of {gone}, ")
