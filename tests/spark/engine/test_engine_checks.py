"""``flareiac doctor`` on an engine: each problem of its application has its own way out."""

from pathlib import Path

from flareiac.kernel.records import encode
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac_spark.engine.application import Applications
from flareiac_spark.engine.doctor import check_engine
from flareiac_spark_runtime.control import ApplicationStatus, JobStatus, Status, moment
from tests.spark.declared import ENGINE


def test_each_problem_has_its_own_way_out(tmp_path: Path) -> None:
    applications = Applications(Project(root=tmp_path, lineage="l"))
    engine = Resolved(address="engine.local", type="engine", attributes=encode(ENGINE))
    control, now = applications.control(ENGINE), moment()
    control.prepare()
    about = ApplicationStatus(
        id="a",
        name="n",
        host="other0",
        pid=7,
        pid_started="boot.1",
        monitoring_trouble="cannot listen on 127.0.0.1:9188: Address already in use",
        lineage_trouble="cannot send to http://marquez:5000: HTTP 500",
    )
    jobs = {"job.x": JobStatus(phase="failed", digest="d")}
    control.write_status(Status(application=about, heartbeat=now.wall, observed_revision=1, jobs=jobs))
    found = check_engine(engine, applications)
    assert "failed: job.x; cannot listen on 127.0.0.1:9188" in found.text
    assert "flareiac logs job.x tells why." in found.fix
    assert "OpenLineage: cannot send to http://marquez:5000: HTTP 500" in found.text
    assert "another listen or liveness_file in engine.local" in found.fix
