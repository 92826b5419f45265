"""A job is known by its address to its application: ``state mv`` and ``state rm`` leave none behind.

No JVM is needed.
"""

from pathlib import Path

import pytest

from flareiac.app.workspace import Workspace
from flareiac.sdk.project import Project
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications, read_desired
from tests.cli.stream_project import TABLES, apply_tables, declare
from tests.cli.test_start_by_hand import STOPPED, record_job, refusal, want
from tests.support.command_line import flareiac


@pytest.fixture
def project(tmp_path: Path) -> Path:
    apply_tables(tmp_path)
    declare(tmp_path, TABLES + STOPPED)
    record_job(tmp_path)
    return tmp_path


def wanted(project: Path, address: str) -> set[str]:
    """The jobs that the application of a recorded job knows."""
    snapshot = Workspace(root=project).load_state().snapshot
    applications = Applications(Project(root=project, lineage=snapshot.lineage))
    engine = JobDefinition.of(snapshot.resources[address].attributes).runs_in
    desired = read_desired(applications.control(engine))
    return set(desired.jobs) if desired is not None else set()


@pytest.mark.parametrize("words", [("mv", "job.r", "job.s"), ("rm", "job.r")], ids=["mv", "rm"])
def test_a_job_that_runs_is_neither_renamed_nor_forgotten(project: Path, words: tuple[str, ...]) -> None:
    want(project, Workspace(root=project).load_state().snapshot.lineage, state="running")
    said = refusal(project, "state", *words)
    assert "FIS088" in said
    assert "flareiac stop job.r" in said
    assert wanted(project, "job.r") == {"job.r"}


def test_a_stopped_job_gets_another_name(project: Path) -> None:
    moved = flareiac(project, "state", "mv", "job.r", "job.s")
    assert moved.code == 0, moved.text
    assert wanted(project, "job.s") == set()
    declare(project, TABLES + STOPPED.replace('job "r"', 'job "s"'))
    planned = flareiac(project, "plan")
    assert planned.code == 0, planned.text
    assert "will be destroyed" not in planned.out
    assert "job.r" not in planned.out
    assert "checkpoint.r will be" not in planned.out


def test_what_a_job_refers_to_gets_another_name(project: Path) -> None:
    moved = flareiac(project, "state", "mv", "table.dst", "table.target")
    assert moved.code == 0, moved.text
    assert wanted(project, "job.r") == {"job.r"}
    shown = flareiac(project, "state", "show", "-json", "job.r").out
    assert "table.target" in shown
    assert "table.dst" not in shown
    text = (TABLES + STOPPED).replace("table.dst", "table.target")
    declare(project, text.replace('table "dst" {', 'table "target" {\n  name = "dst"'))
    planned = flareiac(project, "plan")
    assert planned.code == 0, planned.text
    assert "will be created" not in planned.out
    assert "will be destroyed" not in planned.out
