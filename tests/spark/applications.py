"""An application that is at work, as its control directory says; no process of it runs."""

import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from flareiac.sdk.project import Project
from flareiac_spark.engine.application import Applications, needs_of, settings
from flareiac_spark_runtime.control import DesiredJob, JobStatus, Status, this_process
from flareiac_spark_runtime.control.status import ApplicationStatus
from tests.spark.declared import Loaded

States = Mapping[str, Literal["running", "stopped"]]


def application_at_work(
    root: Path, known: Loaded, jobs: States, *, runs_with: str | None = None
) -> Applications:
    """The applications of a project, of which one was started for what is known and has these jobs.
    ``runs_with``: the digest of its settings, where they are not the wanted ones.
    """
    project = Project(root=root, lineage="test")
    applications, engine = Applications(project), known.job().runs_in
    control = applications.control(engine)
    control.prepare()
    asked = settings(project, engine, needs_of(known.references()))
    wanted = {name: DesiredJob(digest="d", spec={}, state=state, nonce=0) for name, state in jobs.items()}
    control.update_desired(
        lambda desired: replace(desired, jobs=wanted, application=asked), lineage="test", workspace="default"
    )
    me = this_process()
    about = ApplicationStatus(
        id="a",
        name="a",
        host=socket.gethostname(),
        pid=me.pid,
        pid_started=me.started,
        phase="running",
        digest=runs_with or asked.digest,
    )
    control.write_status(
        Status(
            application=about,
            heartbeat=time.time(),
            observed_revision=1,
            jobs={name: JobStatus(phase=state, digest="d", nonce=0) for name, state in jobs.items()},
        )
    )
    return applications
