"""A driver on a host of a cluster: its modules come in an archive, to a Python that has Spark and nothing
else, and it is asked for everything through S3.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import PERFORMER, ExpireSnapshots
from flareiac_spark.application import Launch, end_application, ensure_submitted, run_operation, submit
from flareiac_spark.runtime.driver_archive import driver_archive
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory, Maintain, Operation, Status
from flareiac_spark_runtime.submitted import EXIT_NO_DRIVER, EXIT_OLD_PYTHON
from tests.spark.conftest import DEADLINE, Lake
from tests.support.hadoop_jvm import s3_jars
from tests.support.object_storage import buckets
from tests.support.one_pod_cluster import end_pods, one_pod_cluster, pods

BARE = (f'"{Path(sys.executable).resolve()}"', "-S")


class Cluster:
    """A lake whose application runs in a pod, and meets the command line in a bucket."""

    def __init__(self, lake: Lake, home: Path) -> None:
        self.lake, self.home = lake, home
        lake.control = ControlDirectory("s3://lake/control")

    def wanted(self, **more: object) -> ApplicationSettings:
        packages = "org.apache.hadoop:hadoop-aws:3.4.2"
        quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        settings = self.lake.settings(supervised=True, **more)
        ours = {"spark.flareiac.packages": packages, "spark.driver.extraJavaOptions": quick}
        return replace(settings, master="k8s://https://k8s", memory="512m", conf={**settings.conf, **ours})

    def submit(self, **more: object) -> Status:
        settings = self.wanted(**more)
        self.lake.change(lambda desired: replace(desired, application=settings))
        launch = replace(self.lake.launch, jars=(*self.lake.launch.jars, *s3_jars()))
        status = ensure_submitted(
            self.lake.control,
            settings,
            launch,
            cancel=threading.Event(),
            progress=lambda _text: None,
            timeout=DEADLINE,
        )
        assert status is not None
        return status


@pytest.fixture
def cluster(
    own_lake: Lake, tmp_path: Path, java_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    home = one_pod_cluster(tmp_path / "cluster", java_home, s3_jars(), BARE)
    monkeypatch.setattr(submit, "spark_home", lambda: home)
    local = own_lake.control
    with buckets("lake"):
        yield Cluster(own_lake, home)
        end_pods(home)
    own_lake.control = local


@pytest.mark.jvm
def test_a_submitted_driver_runs_jobs_and_maintenance_and_ends_when_it_is_asked(cluster: Cluster) -> None:
    lake = cluster.lake
    uuid = lake.table("late", ("carrier", "string"), ("delay", "long"))
    lake.drop_file("landing", "a", [{"ts": "2024-01-01T00:00:00Z", "carrier": "AA", "delay": 7}])
    lake.put(
        {
            "address": "job.late",
            "mode": "stream",
            "inputs": [lake.flights_input("landing")],
            "steps": [{"name": "late", "sql": "SELECT carrier, delay FROM raw"}],
            "outputs": [lake.output("late", "late", uuid, [("carrier", "string"), ("delay", "long")])],
            "trigger": {"kind": "processing_time", "interval_ms": 200},
        }
    )
    first = cluster.submit()
    lake.until("job.late", lambda job: bool(job.queries) and job.queries[0].batch is not None)
    assert lake.rows("late") == [{"carrier": "AA", "delay": 7}]

    task = PERFORMER.work(ExpireSnapshots(older_than_ms=0, retain_last=1))
    asked = Maintain(key="k1", identifier=("lake", "demo", "late"), uuid=uuid, task=task)
    done = run_operation(lake.control, Operation(id="maintain-1", work=asked), timeout=DEADLINE)
    assert done is not None
    assert (done.status, done.error) == ("done", None)

    assert cluster.submit().application.id == first.application.id
    assert len(pods(cluster.home)) == 1
    assert end_application(lake.control, timeout=DEADLINE)
    last = lake.control.read_status()
    assert last is not None
    assert (last.application.phase, last.application.reason) == ("ended", "asked to stop")


@pytest.mark.parametrize(
    ("before", "code", "printed", "cause"),
    [
        # As a Python of another release would: its version is all that differs.
        ("sys.version_info = (3, 9, 2, 'final', 0)", EXIT_OLD_PYTHON, "needs Python 3.11", "older than 3.11"),
        (
            "sys.modules['flareiac_spark_runtime'] = None",
            EXIT_NO_DRIVER,
            "cannot be imported",
            "cannot import it",
        ),
    ],
)
def test_a_host_that_cannot_run_the_driver_is_named(
    before: str, code: int, printed: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = tmp_path / "entry.py"
    entry.write_bytes(driver_archive().entry)
    program = f"import sys, runpy; {before}; runpy.run_path({str(entry)!r}, run_name='__main__')"
    ended = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True)
    assert ended.returncode == code
    assert printed in ended.stderr

    # What it printed is on its host: the client of a cluster knows the exit code.
    client = tmp_path / "spark" / "bin" / "spark-submit"
    client.parent.mkdir(parents=True)
    client.write_text(f"#!/bin/sh\necho '\t exit code: {code}'\nexit 1\n")
    client.chmod(0o755)
    monkeypatch.setattr(submit, "spark_home", lambda: client.parent.parent)
    control, settings = ControlDirectory(tmp_path / "control"), ApplicationSettings(master="yarn")
    with pytest.raises(Failure) as failure:
        ensure_submitted(
            control,
            settings,
            Launch(),
            cancel=threading.Event(),
            progress=lambda _text: None,
            timeout=DEADLINE,
        )
    (said,) = failure.value.diagnostics
    assert said.code == "FIK807"
    assert cause in said.detail
    assert not list(control.scratch.glob(".submit-*"))


@pytest.mark.jvm
@pytest.mark.slow
def test_a_cluster_that_cannot_be_reached_is_reported_with_the_cause(own_lake: Lake) -> None:
    with buckets("lake"):
        control = ControlDirectory("s3://lake/control")
        settings = ApplicationSettings(
            master="k8s://https://127.0.0.1:9", conf={"spark.kubernetes.container.image": "spark"}
        )
        launch = replace(own_lake.launch, jars=s3_jars())
        with pytest.raises(Failure) as failure:
            ensure_submitted(
                control,
                settings,
                launch,
                cancel=threading.Event(),
                progress=lambda _text: None,
                timeout=DEADLINE,
            )
    (said,) = failure.value.diagnostics
    assert said.code == "FIK807"
    assert "Connection refused" in said.detail
