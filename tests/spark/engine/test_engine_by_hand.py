"""``flareiac stop engine.NAME`` and ``start engine.NAME``: what they say where nothing can be ended or
started.
"""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.actions import RunCommand
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac_spark.engine.application import Applications
from flareiac_spark.engine.steer import steer_engine
from flareiac_spark_runtime.control import ApplicationStatus, DesiredJob, Status, moment
from tests.spark.declared import ENGINE


@pytest.fixture
def applications(tmp_path: Path) -> Applications:
    return Applications(Project(root=tmp_path, lineage="l"))


def asked(verb: RunCommand, applications: Applications) -> list[str]:
    engine = Resolved(address="engine.local", type="engine", attributes=encode(ENGINE))
    return list(steer_engine(verb, engine, applications, threading.Event(), lambda _text: None))


def alive(applications: Applications, host: str) -> None:
    about, now = ApplicationStatus(id="a", name="n", host=host, pid=12407, pid_started="boot.1"), moment()
    applications.control(ENGINE).prepare()
    applications.control(ENGINE).write_status(
        Status(application=about, heartbeat=now.wall, observed_revision=1)
    )


def test_an_application_that_does_not_run_is_not_ended(applications: Applications) -> None:
    assert asked(RunCommand.STOP, applications) == ["engine.local: its application does not run."]


def test_an_application_of_another_host_is_not_called_ended(applications: Applications) -> None:
    alive(applications, "other0")
    with pytest.raises(Failure) as failure:
        asked(RunCommand.STOP, applications)
    (said,) = failure.value.diagnostics
    assert said.code == "FIK808"
    assert "process 12407 on other0" in said.detail


def test_an_engine_without_jobs_has_nothing_to_start(applications: Applications) -> None:
    with pytest.raises(Failure) as failure:
        asked(RunCommand.START, applications)
    assert [item.code for item in failure.value.diagnostics] == ["FIK811"]
    assert not applications.control(ENGINE).place.exists()


def test_what_should_run_stays_as_it_is(applications: Applications) -> None:
    control = applications.control(ENGINE)
    job = DesiredJob(digest="d", spec={})
    before = control.update_desired(
        lambda now: replace(now, jobs={"job.x": job}), lineage="l", workspace="default"
    )
    asked(RunCommand.STOP, applications)
    assert control.read_desired() == before
