"""A driver that ``spark-submit`` starts from its archive, in a Python that has Spark and nothing else."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from flareiac_iceberg.maintenance.kinds.snapshot_expiry.perform import PERFORMER, ExpireSnapshots
from flareiac_spark.application import end_application, is_alive, run_operation
from flareiac_spark.control import Maintain, Operation
from flareiac_spark.driver.gateway import write_properties
from flareiac_spark.runtime.driver_archive import driver_archive
from tests.spark.conftest import DEADLINE, Lake

HOME = Path(pyspark.__file__).parent


def bare_python(folder: Path) -> Path:
    """The interpreter below the virtual environment, without any installed package."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).resolve()}" -S "$@"\n')
    script.chmod(0o755)
    return script


def driver_files(folder: Path) -> tuple[Path, Path]:
    """What starts the driver, and the archive of its modules."""
    archive = driver_archive()
    (folder / "driver.py").write_bytes(archive.entry)
    (folder / "driver.zip").write_bytes(archive.content)
    return folder / "driver.py", folder / "driver.zip"


@contextmanager
def submitted(lake: Lake, digest: str) -> Iterator["subprocess.Popen[bytes]"]:
    """As a pod of a cluster runs what was submitted to it."""
    entry, archive = driver_files(lake.root)
    properties = lake.root / "spark.properties"
    write_properties(
        properties,
        {
            "spark.flareiac.settings": digest,
            "spark.driver.memory": "512m",
            "spark.driver.extraClassPath": os.pathsep.join(map(str, lake.launch.jars)),
            "spark.driver.extraJavaOptions": " ".join(lake.launch.java_options),
            "spark.pyspark.python": str(bare_python(lake.root)),
        },
    )
    words = ["--master", "local[2]", "--properties-file", properties, "--py-files", archive, entry]
    environment = {"PATH": "/usr/bin:/bin", "SPARK_HOME": str(HOME), "JAVA_HOME": str(lake.launch.java_home)}
    with (lake.root / "submitted.out").open("wb") as output:
        process = subprocess.Popen(
            [HOME / "bin" / "spark-submit", *words, str(lake.control.place)],
            env=environment | {"SPARK_LOCAL_IP": "127.0.0.1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(DEADLINE)


@pytest.mark.jvm
def test_a_submitted_driver_runs_jobs_and_maintenance_and_ends_when_it_is_asked(own_lake: Lake) -> None:
    lake = own_lake
    uuid = lake.table("late", ("carrier", "string"), ("delay", "long"))
    lake.drop_file("landing", "a", [{"ts": "2024-01-01T00:00:00Z", "carrier": "AA", "delay": 7}])
    lake.settle(supervised=True)
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
    with submitted(lake, "a1") as process:
        deadline = time.monotonic() + DEADLINE
        while not (is_alive(lake.control.read_status()) and lake.rows("late")):
            assert process.poll() is None, (lake.root / "submitted.out").read_text()
            assert time.monotonic() < deadline, (lake.root / "submitted.out").read_text()
            time.sleep(0.1)
        assert lake.rows("late") == [{"carrier": "AA", "delay": 7}]
        task = PERFORMER.work(ExpireSnapshots(older_than_ms=0, retain_last=1))
        asked = Maintain(key="k1", identifier=("lake", "demo", "late"), uuid=uuid, task=task)
        done = run_operation(lake.control, Operation(id="maintain-1", work=asked), timeout=DEADLINE)
        assert done is not None
        assert (done.status, done.error) == ("done", None)
        assert end_application(lake.control, timeout=DEADLINE)
        assert process.wait(DEADLINE) == 0
    last = lake.control.read_status()
    assert last is not None
    assert (last.application.phase, last.application.reason) == ("ended", "asked to stop")
