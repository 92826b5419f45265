"""Every start of a query, and every retry, finds the checkpoint and the folders that its job ran on; else the
job fails for good.
"""

import json
import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flareiac_spark_runtime.control import DesiredJob, ErrorSummary, JobStatus, Operation, QueryStatus
from flareiac_spark_runtime.driver import job_runner
from flareiac_spark_runtime.driver.analyse import analyse
from flareiac_spark_runtime.driver.checkpoints import Checkpoints
from flareiac_spark_runtime.driver.job_runner import JobContext, JobRunner
from flareiac_spark_runtime.driver.stream_run import Ready

SESSION: Any = SimpleNamespace(sparkContext=SimpleNamespace(setLocalProperty=lambda *_arguments: None))


class World:
    """One job, its checkpoint and its source folder; ``attempts`` say what Spark does at each start that gets
    so far.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checkpoint, self.source = root / "checkpoints" / "copy" / "g0001", root / "landing"
        self.source.mkdir()
        self.starts = 0
        self.attempts: list[Callable[[], None]] = []
        monkeypatch.setattr(job_runner, "make_ready", lambda *_arguments: Ready(SESSION, ()))
        monkeypatch.setattr(job_runner, "run_ready", self._run)

    def query(self, name: str) -> None:
        """Writes the file that a query leaves in the checkpoint."""
        self.checkpoint.mkdir(parents=True, exist_ok=True)
        (self.checkpoint / "metadata").write_text(json.dumps({"id": name}))

    def spec(self) -> dict[str, Any]:
        source = {
            "kind": "files",
            "path": str(self.source),
            "format": "json",
            "columns": [{"name": "id", "type": "long"}],
        }
        output = {
            "name": "copy",
            "from": "s",
            "identifier": ["lake", "demo", "copy"],
            "mode": "append",
            "columns": [],
        }
        return {
            "address": "job.copy",
            "mode": "stream",
            "inputs": [{"name": "raw", "kind": "stream", "source": source}],
            "steps": [{"name": "s", "sql": "SELECT id FROM raw"}],
            "outputs": [{**output, "checkpoint": str(self.checkpoint)}],
            "restart": {"max_failures": 5, "within_ms": 3_600_000, "backoff_ms": 1},
        }

    def run(self, queries: dict[str, str] | None = None, seen: dict[str, str] | None = None) -> JobStatus:
        """The last status of the job: the runner's own thread is not used."""
        around = JobContext(
            new_session=lambda: SESSION,
            checkpoints=Checkpoints(),
            graceful_seconds=lambda: 0.0,
            changed=lambda: None,
        )
        job = DesiredJob(digest="d", spec=self.spec(), queries=queries or {})
        self.runner = JobRunner("job.copy", job, around, logging.getLogger("test"), queries=seen)
        self.runner.run()
        return self.runner.status

    def _run(
        self, _ready: Ready, _spec: Any, _stop: threading.Event, _graceful: Any, report: Any, _log: Any
    ) -> bool:
        self.starts += 1
        found = (
            json.loads((self.checkpoint / "metadata").read_text())["id"]
            if (self.checkpoint / "metadata").exists()
            else "q-new"
        )
        self.query(found)
        report("running", (QueryStatus(output="copy", id=found, run_id="r"),))
        self.attempts.pop(0)()
        return True


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def error_of(status: JobStatus) -> ErrorSummary:
    assert status.last_error is not None
    return status.last_error


def fails(after: Callable[[], object] = lambda: None) -> Callable[[], None]:
    def attempt() -> None:
        after()
        raise RuntimeError("FileNotFoundException: .../sources/0")

    return attempt


def done() -> None:
    return


def test_a_retry_on_a_lost_checkpoint_fails_for_good(world: World) -> None:
    world.attempts = [fails(lambda: shutil.rmtree(world.checkpoint)), done]
    status = world.run()
    assert (status.phase, world.starts) == ("failed", 1)
    error = error_of(status)
    assert (error.error_class, error.permanent) == ("CHECKPOINT_LOST", True)
    assert "is gone. Its query q-new kept its offsets there" in error.message
    assert "FIK060" in error.message


def test_a_retry_on_the_checkpoint_of_another_query_fails_for_good(world: World) -> None:
    world.attempts = [fails(lambda: world.query("q-other")), done]
    status = world.run()
    assert (status.phase, world.starts) == ("failed", 1)
    assert "belongs to another query (q-other)" in error_of(status).message


def test_a_source_of_a_kind_that_the_driver_does_not_know_fails_for_good(world: World) -> None:
    """A later release may know more kinds under the same version of the files."""
    spec = world.spec()
    spec["inputs"][0]["source"] = {"kind": "pulsar", "topic": "t"}
    world.spec = lambda: spec  # type: ignore[method-assign]  # the spec of this test alone
    status = world.run()
    assert (status.phase, world.starts) == ("failed", 0)
    error = error_of(status)
    assert (error.error_class, error.permanent) == ("SPEC_NOT_UNDERSTOOD", True)
    assert "job.copy" in error.message
    assert "spec.inputs[0].source.kind is 'pulsar', which is not known" in error.message
    (finding,) = analyse(lambda: SESSION, Operation(id="analyse-1", jobs=(spec,))).findings
    assert (finding.address, finding.error_class) == ("job.copy", "SPEC_NOT_UNDERSTOOD")


def test_a_retry_on_the_same_checkpoint_goes_on(world: World) -> None:
    world.attempts = [fails(), fails(), done]
    assert world.run().phase == "completed"
    assert world.starts == 3


def test_a_first_start_finds_what_the_state_knows(world: World) -> None:
    """After the driver died nothing else remembers the query."""
    world.attempts = [done]
    status = world.run(queries={str(world.checkpoint): "q-1"})
    assert (status.phase, world.starts) == ("failed", 0)
    world.query("q-1")
    assert world.run(queries={str(world.checkpoint): "q-1"}).phase == "completed"


def test_another_runner_of_the_job_finds_what_the_one_before_saw(world: World) -> None:
    world.attempts = [done, done]
    world.run()
    seen = world.runner.queries
    assert seen == {str(world.checkpoint): "q-new"}
    shutil.rmtree(world.checkpoint)
    assert world.run(seen=seen).phase == "failed"


def test_half_of_a_checkpoint_is_never_started_on(world: World) -> None:
    """Spark takes a new query id there, and goes on with the offsets of the old query."""
    (world.checkpoint / "offsets").mkdir(parents=True)
    (world.checkpoint / "offsets" / "0").write_text("v1\n{}\n{}")
    world.attempts = [done]
    status = world.run()
    assert (status.phase, world.starts) == ("failed", 0)
    assert error_of(status).error_class == "CHECKPOINT_DAMAGED"


def test_a_missing_source_folder_is_named_and_final(world: World) -> None:
    world.attempts = [fails(lambda: shutil.rmtree(world.source)), done]
    status = world.run()
    assert (status.phase, world.starts) == ("failed", 1)
    assert (
        f"The folder {world.source}, which the input 'raw' reads, does not exist" in error_of(status).message
    )


def test_a_new_checkpoint_is_started_from_its_beginning(world: World) -> None:
    world.attempts = [done]
    assert world.run().phase == "completed"


def in_flight(world: World, *names: str, compacted: bool = False) -> None:
    """Batch 0 is committed and its file is gone, as it may be; batch 1 reads these files and was broken
    off.
    """
    world.query("q")
    for log in ("offsets", "commits", "sources/0"):
        (world.checkpoint / log).mkdir(parents=True)
    for batch in (0, 1):
        (world.checkpoint / "offsets" / str(batch)).write_text(
            f'v1\n{{"conf":{{}}}}\n{{"logOffset":{batch}}}'
        )
    (world.checkpoint / "commits" / "0").write_text("v1\n{}")
    notes = [[world.source / "done.json"], [world.source / name for name in names]]
    lines = [
        [json.dumps({"path": file.as_uri(), "timestamp": 1, "batchId": number}) for file in files]
        for number, files in enumerate(notes)
    ]
    noted = world.checkpoint / "sources" / "0"
    if compacted:
        (noted / "1.compact").write_text("\n".join(["v1", *lines[0], *lines[1]]))
    else:
        for number in (0, 1):
            (noted / str(number)).write_text("\n".join(["v1", *lines[number]]))


@pytest.mark.parametrize("compacted", [False, True], ids=["plain", "compacted"])
def test_a_batch_is_not_done_again_without_a_file_that_it_was_to_read(world: World, compacted: bool) -> None:
    in_flight(world, "a b.json", "c.json", compacted=compacted)
    (world.source / "a b.json").touch()
    status = world.run({str(world.checkpoint): "q"})
    assert (status.phase, error_of(status).error_class, error_of(status).permanent) == (
        "failed",
        "SOURCE_FILE_GONE",
        True,
    )
    assert f"{world.source / 'c.json'} is gone" in error_of(status).message
    assert world.starts == 0
    (world.source / "c.json").touch()
    world.attempts = [lambda: None]
    assert world.run({str(world.checkpoint): "q"}).phase != "failed"


def test_a_file_that_goes_while_its_batch_is_retried_ends_the_retries(world: World) -> None:
    in_flight(world, "a.json")
    (world.source / "a.json").touch()
    world.attempts = [fails((world.source / "a.json").unlink)]
    status = world.run({str(world.checkpoint): "q"})
    assert (error_of(status).error_class, world.starts) == ("SOURCE_FILE_GONE", 1)


def test_many_files_are_counted_and_a_committed_batch_needs_none(world: World) -> None:
    in_flight(world, *(f"{number}.json" for number in range(20_000)))
    assert "and 19,999 more files are gone" in error_of(world.run({str(world.checkpoint): "q"})).message
    (world.checkpoint / "commits" / "1").write_text("v1\n{}")
    world.attempts = [lambda: None]
    assert world.run({str(world.checkpoint): "q"}).phase != "failed"


def test_who_says_so_goes_on_without_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    in_flight(world, "a.json")
    spec = world.spec() | {"conf": {"spark.sql.files.ignoreMissingFiles": "true"}}
    monkeypatch.setattr(world, "spec", lambda: spec)
    world.attempts = [lambda: None]
    assert world.run({str(world.checkpoint): "q"}).phase != "failed"


def test_what_one_stream_passes_over_is_not_passed_over_by_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_flight(world, "a.json")
    spec = world.spec()
    source = spec["inputs"][0]["source"]
    lenient = {**source, "path": str(world.source.parent), "options": {"ignoreMissingFiles": "true"}}
    spec["inputs"].append({"name": "other", "kind": "stream", "source": lenient})
    monkeypatch.setattr(world, "spec", lambda: spec)
    assert error_of(world.run({str(world.checkpoint): "q"})).error_class == "SOURCE_FILE_GONE"
    source["options"] = {"IGNOREMISSINGFILES": "TRUE"}
    world.attempts = [lambda: None]
    assert world.run({str(world.checkpoint): "q"}).phase != "failed"


def test_lines_of_streams_that_stand_at_one_note_hide_no_lost_file(world: World) -> None:
    """Two streams of files, one of them read at two places: three lines, all equal, for two logs."""
    in_flight(world, "a.json")
    shutil.copytree(world.checkpoint / "sources" / "0", world.checkpoint / "sources" / "1")
    for batch in (0, 1):
        position = f'{{"logOffset":{batch}}}'
        text = "\n".join(["v1", '{"conf":{}}', position, position, position])
        (world.checkpoint / "offsets" / str(batch)).write_text(text)
    (world.source / "done.json").touch()
    assert error_of(world.run({str(world.checkpoint): "q"})).error_class == "SOURCE_FILE_GONE"
    (world.source / "a.json").touch()
    world.attempts = [lambda: None]
    assert world.run({str(world.checkpoint): "q"}).phase != "failed"


def test_a_place_that_cannot_be_opened_is_a_failure_with_pauses(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client of buckets that lacks a class cannot be asked about the failure either. The failure is
    reported all the same, and the budget of restarts ends the attempts.
    """

    def broken(*_arguments: object) -> None:
        raise RuntimeError("there is no such class")

    monkeypatch.setattr(job_runner, "prove_start", broken)
    monkeypatch.setattr(job_runner, "place_at", broken)
    status = world.run()
    assert (status.phase, world.starts) == ("failed", 0)
    assert "there is no such class" in error_of(status).message
