"""A job keeps the name that its application knows when its address changes; ``state rm`` leaves none behind.

No JVM is needed.
"""

from pathlib import Path

import pytest

from flareiac.app.workspace import Workspace
from flareiac.sdk.project import Project
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import KnownJob
from flareiac_spark.engine.application import Applications, read_desired
from flareiac_spark_runtime.control import Desired
from tests.cli.stream_project import TABLES, apply_tables, declare
from tests.cli.test_start_by_hand import STOPPED, record_job, refusal, want
from tests.support.command_line import flareiac


@pytest.fixture
def project(tmp_path: Path) -> Path:
    apply_tables(tmp_path)
    declare(tmp_path, TABLES + STOPPED)
    record_job(tmp_path)
    return tmp_path


def entries(project: Path, address: str) -> dict[str, tuple[str, str, str]]:
    """Digest, state and address of each of them, by name."""
    desired = desired_of(project, address)
    jobs = desired.jobs if desired is not None else {}
    return {name: (job.digest, job.state, job.spec["address"]) for name, job in jobs.items()}


def entry_of(project: Path, address: str) -> str:
    """The name under which a recorded job is found there."""
    record = Workspace(root=project).load_state().snapshot.resources[address]
    return KnownJob.of(address, record.recorded()).name_in(desired_of(project, address))


def wanted(project: Path, address: str) -> set[str]:
    """The jobs that the application of a recorded job knows."""
    desired = desired_of(project, address)
    return set(desired.jobs) if desired is not None else set()


def desired_of(project: Path, address: str) -> Desired | None:
    """The desired state of a recorded job's application."""
    snapshot = Workspace(root=project).load_state().snapshot
    applications = Applications(Project(root=project, lineage=snapshot.lineage))
    engine = JobDefinition.of(snapshot.resources[address].attributes).runs_in
    return read_desired(applications.control(engine))


def test_a_job_that_runs_is_not_forgotten(project: Path) -> None:
    want(project, Workspace(root=project).load_state().snapshot.lineage, state="running")
    said = refusal(project, "state", "rm", "job.r")
    assert "FIS088" in said
    assert "flareiac stop job.r" in said
    assert wanted(project, "job.r") == {"job.r"}


def test_a_stopped_job_gets_another_name(project: Path) -> None:
    moved = flareiac(project, "state", "mv", "job.r", "job.s")
    assert moved.code == 0, moved.text
    assert wanted(project, "job.s") == {"job.r"}
    declare(project, TABLES + STOPPED.replace('job "r"', 'job "s"'))
    planned = flareiac(project, "plan")
    assert planned.code == 0, planned.text
    assert "will be destroyed" not in planned.out
    assert "job.r" not in planned.out
    assert "checkpoint.r will be" not in planned.out


def test_a_job_that_runs_gets_another_name_and_goes_on(project: Path) -> None:
    """Also where the command is killed before it has written the state, and is given again."""
    want(project, Workspace(root=project).load_state().snapshot.lineage, state="running", address="job.r")
    killed = flareiac(project, "state", "mv", "job.r", "job.s", FLAREIAC_KILL_AT="moves.renamed")
    assert killed.killed, killed.text
    before = flareiac(project, "plan")
    assert "is no longer among what should run" not in before.text
    moved = flareiac(project, "state", "mv", "job.r", "job.s")
    assert moved.code == 0, moved.text
    assert entries(project, "job.s") == {"job.r": ("d", "running", "job.s")}
    assert entry_of(project, "job.s") == "job.r"
    back = flareiac(project, "state", "mv", "job.s", "job.r")
    assert back.code == 0, back.text
    assert entries(project, "job.r") == {"job.r": ("d", "running", "job.r")}
    assert "known_as" not in flareiac(project, "state", "show", "-json", "job.r").out


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
