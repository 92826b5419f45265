"""``flareiac start`` and ``restart`` prove what a plan proves of the same definition. No JVM is needed: none
is reached.
"""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.app.run_control import prove
from flareiac.app.workspace import Workspace
from flareiac.applying.state_writer import Recording
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.model.references import reached_by_declaration
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.actions import RunCommand
from flareiac.sdk.project import Project
from flareiac.sdk.resource_type import Kind
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications
from flareiac_spark_runtime.control import DesiredJob
from tests.cli.stream_project import JOB, TABLES, apply_tables, commit, declare
from tests.support.command_line import flareiac

STOPPED = JOB.replace("stopped    = false", "stopped    = true")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    apply_tables(tmp_path)
    declare(tmp_path, TABLES + STOPPED)
    return tmp_path


def record_job(project: Path, address: str = "job.r", **identity: Any) -> None:
    """Puts a declared job into the state, as an apply does that set it up stopped."""
    bench = Workspace(root=project)
    loaded = bench.load_state()
    resources = bench.load_configuration(loaded.snapshot, Diagnostics()).desired.resources
    found = resources[address]
    needed = reached_by_declaration(found.dependencies, resources)
    record = ResourceRecord(
        address=address,
        type="job",
        provider=found.provider,
        attributes=found.attributes,
        identity={"digest": "d", **identity},
        dependencies=found.dependencies,
        resolved={
            address: resources[address].attributes
            for address in needed
            if resources[address].kind is not Kind.MANAGED
        },
    )
    lease = bench.store.lock("test", timeout=1.0, on_wait=lambda _holder: None)
    recording = Recording(
        bench.store, lease, loaded, "apply", clock=time.time, types=bench.installed.registry.types
    )
    recording.begin("digest")
    recording.succeed("1", address, record)
    recording.finish({})
    lease.release()
    want(project, loaded.snapshot.lineage, address, state="stopped")


def want(project: Path, lineage: str, address: str = "job.r", *, state: Any, **spec: Any) -> None:
    """The job among what should run."""
    applications = Applications(Project(root=project, lineage=lineage))
    control = applications.control(
        JobDefinition.of(Workspace(root=project).load_state().snapshot.resources[address].attributes).runs_in
    )
    job = DesiredJob(digest="d", spec={"address": address, **spec}, state=state)
    control.update_desired(
        lambda now: replace(now, jobs={address: job}), lineage=lineage, workspace="default"
    )


def refusal(project: Path, *words: str) -> str:
    """The message of a command that must not start anything, in one line."""
    done = flareiac(project, *words)
    assert done.code == 1, done.text
    assert not list(project.rglob("status.json")), "an application was started"
    return " ".join(done.text.replace("│", " ").split())


def proved(project: Path, address: str, *, by_name: bool) -> None:
    bench = Workspace(root=project)
    try:
        prove(bench, bench.load_state().snapshot, RunCommand.START, [address], by_name=by_name)
    finally:
        bench.close()


@pytest.mark.parametrize("verb", ["start", "restart"])
def test_rows_that_no_stream_can_read_stop_a_first_start_by_hand(project: Path, verb: str) -> None:
    record_job(project)
    commit(project, 15, expired=8)
    said = refusal(project, verb, "job.r")
    assert "FIK150" in said
    assert "8 of 15 rows of table.src cannot be read as a stream" in said
    assert 'start_from = "oldest_snapshot"' in said


def test_an_engine_starts_only_what_may_start(project: Path) -> None:
    record_job(project)
    commit(project, 15, expired=8)
    proved(project, "job.r", by_name=False)  # it is stopped, and stays so
    want(project, Workspace(root=project).load_state().snapshot.lineage, state="running")
    assert "8 of 15 rows of table.src" in refusal(project, "start", "engine.local")


def test_a_lost_checkpoint_stops_a_start_by_hand(project: Path) -> None:
    record_job(project, queries={"dst": {"id": "6116a383-3254-46b6-be89-609df4e7c277", "run_id": "r"}})
    assert "FIK060" in refusal(project, "start", "job.r")


def test_a_damaged_checkpoint_stops_a_start_by_hand(project: Path) -> None:
    record_job(project)
    folder = project / ".flareiac/checkpoints/default/r/dst/g0001"
    (folder / "commits").mkdir(parents=True)
    (folder / "metadata").write_text(json.dumps({"id": "q"}))
    (folder / "commits" / "0").write_text('v1\n{"nextBatchWatermarkMs":0}')
    assert "FIK027" in refusal(project, "start", "job.r")


def test_what_a_plan_would_start_is_not_held_up(project: Path) -> None:
    record_job(project)
    commit(project, 3)
    proved(project, "job.r", by_name=True)


def test_nothing_is_asked_before_a_stop(project: Path) -> None:
    record_job(project)
    commit(project, 15, expired=8)
    done = flareiac(project, "stop", "job.r")
    assert done.code == 0, done.text


def test_refusals_are_those_of_the_plan(project: Path) -> None:
    record_job(project)
    commit(project, 15, expired=8)
    declare(project, TABLES + JOB)
    plan = flareiac(project, "plan", "-json-into=plan.json")
    assert plan.code == 4, plan.text
    changes = json.loads((project / "plan.json").read_text())["resource_changes"]
    (blocked,) = [item["change"]["flareiac"]["blockers"] for item in changes if item["address"] == "job.r"]
    with pytest.raises(Failure) as failure:
        proved(project, "job.r", by_name=True)
    assert [item.code for item in failure.value.diagnostics] == [item["code"] for item in blocked]
