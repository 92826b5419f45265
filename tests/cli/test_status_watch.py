"""``status -watch``: redrawn on a terminal, one block after the other elsewhere, until it is interrupted."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from flareiac.app.workspace import Workspace
from flareiac.sdk.project import Project
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications
from tests.cli.stream_project import TABLES, apply_tables, declare
from tests.cli.test_start_by_hand import STOPPED, record_job
from tests.support.command_line import arguments, environment, flareiac
from tests.support.pseudo_terminal import on_terminal


def test_a_watched_status_is_drawn_over_itself(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "status", "-watch") as screen:
        screen.until(lambda: screen.text.count("No jobs are recorded.") >= 2)
        assert sum("No jobs are recorded." in line for line in screen.lines) == 1
        screen.type("\x03")
        assert screen.end() == 0, screen.text
        assert "Cancelled" not in screen.text
        assert screen.lines.count("No jobs are recorded.") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("words", [(), ("-json",)], ids=["text", "json"])
def test_without_a_terminal_a_watched_status_is_one_block_after_the_other(
    tmp_path: Path, words: tuple[str, ...], number: signal.Signals
) -> None:
    command = arguments("status", "-watch", *words)
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        if words:
            first = "".join(iter(process.stdout.readline, "}\n")) + "}"
            assert json.loads(first)["jobs"] == []
        else:
            assert [process.stdout.readline() for _ in range(3)] == [
                "No jobs are recorded.\n",
                "\n",
                "No jobs are recorded.\n",
            ]
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(timeout=60) == 0
        assert "\x1b" not in rest


def test_an_engine_that_cannot_be_asked_hides_no_other(tmp_path: Path) -> None:
    other = STOPPED.replace('job "r" {', 'job "s" {\n  engine     = engine.other').replace(
        "checkpoint.r", "checkpoint.s"
    )
    apply_tables(tmp_path)
    both = 'engine "other" {}\ncheckpoint "s" {}\n'
    here = STOPPED.replace('job "r" {', 'job "r" {\n  engine     = engine.local')
    declare(tmp_path, TABLES + both + here + other)
    for address in ("job.r", "job.s"):
        record_job(tmp_path, address)
    snapshot = Workspace(root=tmp_path).load_state().snapshot
    engine = JobDefinition.of(snapshot.resources["job.s"].attributes).runs_in
    control = Applications(Project(root=tmp_path, lineage=snapshot.lineage)).control(engine)
    control.prepare()
    (Path(str(control.place)) / "status.json").write_text("{")

    seen = flareiac(tmp_path, "status", "-json")
    assert seen.code == 0, seen.text
    jobs = {job["address"]: job for job in json.loads(seen.out)["jobs"]}
    assert {address: job["phase"] for address, job in jobs.items()} == {
        "job.r": "stopped",
        "job.s": "unknown",
    }
    assert "status.json" in jobs["job.s"]["health"][0]
    with on_terminal(tmp_path, "status", "-watch", columns=140) as screen:
        screen.until(lambda: "job.s: unhealthy" in screen.text)
        assert [line.split()[1] for line in screen.lines if line.startswith("job.") and ":" not in line] == [
            "stopped",
            "unknown",
        ]
        screen.type("\x03")
        assert screen.end() == 0, screen.text


@pytest.mark.parametrize("columns", [60, 90])
def test_a_narrow_terminal_watches_blocks_that_lose_nothing(tmp_path: Path, columns: int) -> None:
    apply_tables(tmp_path)
    declare(tmp_path, TABLES + STOPPED)
    record_job(tmp_path, "job.r")
    with on_terminal(tmp_path, "status", "-watch", columns=columns) as screen:
        screen.until(lambda: "FAILURES" in screen.text)
        text = "\n".join(screen.lines)
        assert all(f"{title} " in text for title in ("LAG", "WATERMARK", "LAST COMMIT", "FAILURES"))
        assert max(map(len, screen.lines)) <= columns
        screen.type("\x03")
        assert screen.end() == 0, screen.text
