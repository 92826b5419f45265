"""A job counts as stopped when its application says so, and never by assumption."""

import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.actions import Delete, Quiesce
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, Recorded
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications
from flareiac_spark.job.driver import JobDriver
from flareiac_spark_runtime.control import ControlDirectory, DesiredJob, JobStatus, Status, this_process
from flareiac_spark_runtime.control.status import ApplicationStatus
from tests.spark.declared import LAKE, STATELESS, loaded


def world(root: Path, heartbeat: float) -> tuple[JobDriver, ApplyRequest[Delete]]:
    """A running job whose application is this very process."""
    known = loaded(LAKE + STATELESS, root)
    project = Project(root=root, lineage="test")
    attributes = known.attributes()
    attributes = {**attributes, "application": {**attributes["application"], "graceful_stop_ms": 0}}
    control: ControlDirectory = Applications(project).control(known.job().runs_in)
    control.prepare()
    job = DesiredJob(digest="d", spec={}, state="running", nonce=0)
    control.update_desired(
        lambda desired: replace(desired, jobs={"job.x": job}), lineage="test", workspace="default"
    )
    me = this_process()
    about = ApplicationStatus(id="a", name="a", host=socket.gethostname(), pid=me.pid, pid_started=me.started)
    status = Status(
        application=about,
        heartbeat=heartbeat,
        observed_revision=1,
        jobs={"job.x": JobStatus(phase="running", digest="d", nonce=0)},
    )
    control.write_status(status)
    cancel = threading.Event()
    cancel.set()
    request = ApplyRequest(
        key="k",
        address="job.x",
        action=Delete(recorded=Recorded(attributes=attributes, identity={"digest": "d"})),
        references=known.references(),
        cancel=cancel,
        progress=lambda _text: None,
    )
    return JobDriver(Applications(project)), request


@pytest.mark.parametrize("silent_for", [0.0, 120.0])
@pytest.mark.parametrize("ask", ["quiesce", "delete"])
def test_what_has_not_stopped_is_not_said_to_have(ask: str, silent_for: float, tmp_path: Path) -> None:
    driver, request = world(tmp_path, time.time() - silent_for)
    stop = request.with_action(Quiesce(recorded=request.action.recorded))
    with pytest.raises(Failure) as failed:
        driver.delete(request) if ask == "delete" else driver.quiesce(stop)
    assert [item.code for item in failed.value.diagnostics] == ["FIK076"]
    assert driver.settle(request) is None


def test_what_has_stopped_is_said_to_have(tmp_path: Path) -> None:
    driver, request = world(tmp_path, time.time())
    control = Applications(Project(root=tmp_path, lineage="test")).control(
        JobDefinition.of(request.action.recorded.attributes).runs_in
    )
    status = control.read_status()
    assert status is not None
    control.write_status(replace(status, jobs={"job.x": JobStatus(phase="stopped", digest="d", nonce=0)}))
    request.cancel.clear()
    assert isinstance(driver.delete(request), Applied)
