"""``status`` tells how many files wait, where that can be known, and what the checkpoint keeps when nothing
runs.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.data import Reference
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.results import Recorded
from flareiac_spark.definition.input_definition import StreamInput
from flareiac_spark.definition.output_definition import TableOutput
from flareiac_spark.engine.application import Applications
from flareiac_spark.job.inspect import _lag, inspect_job
from flareiac_spark.sources.files.backlog import files_left
from flareiac_spark.sources.files.definition import FilesSource
from flareiac_spark.sources.folder_look import FilesLeft
from flareiac_spark_runtime.control import QueryStatus, SourceLag
from tests.spark.declared import EMPTY


def note(log: Path, name: str, *files: Path, at_ms: int = 0) -> None:
    log.mkdir(parents=True, exist_ok=True)
    number = int(name.removesuffix(".compact"))
    entries = [
        json.dumps({"path": f"file://{str(file).replace(' ', '%20')}", "timestamp": at_ms, "batchId": number})
        for file in files
    ]
    (log / name).write_text("\n".join(["v1", *entries]))


def committed(checkpoint: Path, reads: int, batch: int = 0) -> None:
    """A batch that has read the notes up to ``reads``, and another one under way that reads all of them."""
    for log in ("offsets", "commits"):
        (checkpoint / log).mkdir(exist_ok=True)
    for number, reached in ((batch, reads), (batch + 1, 99)):
        (checkpoint / "offsets" / str(number)).write_text(
            f'v1\n{{"batchTimestampMs": 1, "conf": {{}}}}\n{{"logOffset": {reached}}}'
        )
    (checkpoint / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs": 0}')


def waiting(checkpoint: Path, index: int, folder: Path, options: dict[str, str]) -> int:
    left = files_left(checkpoint, index, folder, options)
    assert left is not None
    return left.waiting


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    folder = tmp_path / "landing"
    folder.mkdir()
    for name in ("a.json", "b c.json", "d.json", "e.json", "_hidden", ".hidden"):
        (folder / name).touch()
    return folder


def test_files_that_no_note_names_wait(tmp_path: Path, landing: Path) -> None:
    log = tmp_path / "g0001" / "sources" / "0"
    note(log, "0", landing / "gone.json")
    note(log, "1.compact", landing / "gone.json", landing / "a.json")
    note(log, "2", landing / "b c.json")
    committed(tmp_path / "g0001", reads=2)
    assert waiting(tmp_path / "g0001", 0, landing, {}) == 2


def test_files_of_a_batch_that_is_not_committed_wait(tmp_path: Path, landing: Path) -> None:
    log = tmp_path / "g0001" / "sources" / "0"
    note(log, "0", landing / "a.json")
    note(log, "1", landing / "b c.json", landing / "d.json", landing / "e.json")
    assert waiting(tmp_path / "g0001", 0, landing, {}) == 4
    committed(tmp_path / "g0001", reads=0)
    assert waiting(tmp_path / "g0001", 0, landing, {}) == 3


def test_before_the_first_note_all_wait(tmp_path: Path, landing: Path) -> None:
    assert waiting(tmp_path / "g0001", 0, landing, {}) == 4


def test_what_spark_would_pass_over_does_not_wait(tmp_path: Path, landing: Path) -> None:
    newest = int((landing / "a.json").stat().st_mtime * 1000) + 8 * 24 * 3_600_000
    note(tmp_path / "g0001" / "sources" / "0", "0", landing / "a.json", at_ms=newest)
    assert files_left(tmp_path / "g0001", 0, landing, {}) == FilesLeft(waiting=0, too_old=3)


@pytest.mark.parametrize(
    "options", [{"recursiveFileLookup": "true"}, {"PATHGLOBFILTER": "*.json"}, {"maxFileAge": "1h"}]
)
def test_another_listing_is_not_guessed(tmp_path: Path, landing: Path, options: dict[str, str]) -> None:
    assert files_left(tmp_path / "g0001", 0, landing, options) is None


def test_folders_patterns_and_a_missing_folder_are_not_guessed(tmp_path: Path, landing: Path) -> None:
    assert files_left(tmp_path / "g0001", 0, tmp_path / "*", {}) is None
    assert files_left(tmp_path / "g0001", 0, tmp_path / "nowhere", {}) is None
    (landing / "day=1").mkdir()
    assert files_left(tmp_path / "g0001", 0, landing, {}) is None


def test_status_counts_the_records_of_topics_that_wait() -> None:
    def query(end: object, latest: object) -> QueryStatus:
        lag = {"0": SourceLag(end=end, latest=latest)}
        return QueryStatus(output="rows", id="q", run_id="r", lag=lag)

    level = query({"orders": {"0": 5, "1": 7}}, {"orders": {"0": 5, "1": 7}})
    behind = query({"orders": {"0": 5, "1": 7}}, {"orders": {"0": 2005, "1": 8}})
    new_partition = query({"orders": {"0": 5}}, {"orders": {"0": 5, "1": 3}})
    assert [_lag((item,), None) for item in (level, behind, new_partition)] == [
        "none",
        "2,001 records",
        "3 records",
    ]
    assert _lag((level, behind), None) == "2,001 records"


def test_words() -> None:
    behind = QueryStatus(output="t", id="q", run_id="r", lag={"0": SourceLag(end=1, latest=2)})
    assert [_lag((), None), _lag((), 0), _lag((), 1), _lag((behind,), 2000)] == [
        None,
        "none",
        "1 file",
        "behind, 2,000 files",
    ]


def test_a_job_that_does_not_run_shows_what_its_checkpoint_keeps(tmp_path: Path, landing: Path) -> None:
    folder = tmp_path / "checkpoints" / "c" / "t" / "g0001"
    note(folder / "sources" / "0", "0", landing / "a.json")
    for log in ("offsets", "commits"):
        (folder / log).mkdir()
    (folder / "metadata").write_text('{"id": "q-1"}')
    header = {"batchWatermarkMs": 1_767_225_600_000, "batchTimestampMs": 1, "conf": {}}
    (folder / "offsets" / "0").write_text(f'v1\n{json.dumps(header)}\n{{"logOffset": 0}}')
    (folder / "commits" / "0").write_text('v1\n{"nextBatchWatermarkMs": 0}')
    source = FilesSource(path="landing", format="json", options={}, max_files_per_trigger=None)
    raw = StreamInput(stream=Reference("stream.raw"), source=source, columns={}, watermark=None)
    output = TableOutput(
        table=Reference("table.t"),
        source="raw",
        mode="append",
        merge=None,
        branch=None,
        rebuild="keep",
        options={},
        columns={},
    )
    job = replace(
        EMPTY,
        checkpoint=Reference("checkpoint.c"),
        checkpoint_location="checkpoints/c",
        inputs={"raw": raw},
        outputs={"t": output},
    )
    references = {"checkpoint.c": Resolved(address="checkpoint.c", type="checkpoint", attributes={})}
    found = inspect_job(
        "job.x", Recorded(attributes=job.attributes), references, Applications(Project(root=tmp_path))
    )
    assert (found.batch, found.lag, found.watermark) == (0, "3 files", "2026-01-01T00:00:00.000Z")
    assert found.last_commit == (folder / "commits" / "0").stat().st_mtime
