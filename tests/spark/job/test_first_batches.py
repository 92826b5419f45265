"""A query that is at work on its first batch when the time is up counts as applied, with a warning, and as
nothing to roll back to.
"""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.sdk.actions import Control, RunCommand
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, NotApplied, Outcome, Recorded
from flareiac_spark.definition.job_definition import Stability
from flareiac_spark.engine.application import Applications
from flareiac_spark.job.driver import JobDriver
from flareiac_spark_runtime.control import (
    ApplicationStatus,
    DesiredJob,
    ErrorSummary,
    JobStatus,
    QueryStatus,
    Status,
    moment,
    this_process,
)
from tests.spark.declared import EMPTY

JOB = replace(EMPTY, stability=Stability(within_ms=200, on_failure="rollback"))
ATTRIBUTES, ENGINE = JOB.attributes, JOB.runs_in
AT_WORK = QueryStatus(output="t", id="q", run_id="r", running_seconds=5.0)
WAITING = replace(AT_WORK, running_seconds=None)
FAILURE = ErrorSummary(error_class="X", message="y", permanent=False)


def started(root: Path, job: JobStatus) -> Outcome:
    """The outcome of a start by hand for a job that its application shows like this until the time is up."""
    applications = Applications(Project(root=root, lineage="l"))
    control = applications.control(ENGINE)
    spec = {"address": "job.x", "mode": "stream", "inputs": [], "steps": [], "outputs": []}
    entry = DesiredJob(digest="d", spec=spec)
    desired = applications.want(ENGINE, {}, lambda now: replace(now, jobs={"job.x": entry}))
    me, now = this_process(), moment()
    about = ApplicationStatus(
        id="a", name="n", host=_host(), pid=me.pid, pid_started=me.started, digest=desired.application.digest
    )
    control.write_status(
        Status(
            application=about, heartbeat=now.wall, uptime=now.uptime, observed_revision=1, jobs={"job.x": job}
        )
    )
    request = ApplyRequest(
        key="k",
        address="job.x",
        action=Control(
            command=RunCommand.START,
            recorded=Recorded(attributes=ATTRIBUTES, identity={"digest": "d"}),
        ),
        references={},
        cancel=threading.Event(),
        progress=lambda _text: None,
    )
    return JobDriver(applications).steer(request)


def _host() -> str:
    import socket

    return socket.gethostname()


def test_a_first_batch_under_way_counts_as_applied_and_not_as_stable(tmp_path: Path) -> None:
    outcome = started(tmp_path, JobStatus(phase="running", digest="d", queries=(AT_WORK,)))
    assert isinstance(outcome, Applied)
    assert outcome.messages[0].startswith("Warning: it runs, and its first batch is not committed after 0 s.")
    assert outcome.identity["unproven"] is True
    assert outcome.identity["queries"] == {"t": {"id": "q", "run_id": "r"}}


def test_a_committed_batch_is_stable(tmp_path: Path) -> None:
    outcome = started(tmp_path, JobStatus(phase="running", digest="d", queries=(replace(AT_WORK, batch=0),)))
    assert isinstance(outcome, Applied)
    assert outcome.messages == ("running",)
    assert "unproven" not in outcome.identity


@pytest.mark.parametrize(
    "job",
    [
        JobStatus(phase="running", digest="d", queries=(WAITING,)),
        JobStatus(phase="starting", digest="d"),
        JobStatus(phase="running", digest="d", queries=(AT_WORK,), failures=1, last_error=FAILURE),
        JobStatus(phase="backoff", digest="d", failures=1, last_error=FAILURE),
    ],
    ids=["no batch under way", "not started", "failed before", "between two starts"],
)
def test_anything_else_is_not_applied(tmp_path: Path, job: JobStatus) -> None:
    outcome = started(tmp_path, job)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FIK072"]
