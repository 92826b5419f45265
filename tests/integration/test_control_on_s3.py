"""Command lines and driver meet in S3 and nowhere else: one checkout starts a job, another one reads its
status and its log, takes it over after its driver was killed on a host that no one can look at, and stops it.
"""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flareiac_spark_runtime.control.status import ASKED_TO_STOP
from flareiac_spark_runtime.storage import Place, place_at, replace_whole
from tests.integration.project import LAKE, Project, rides
from tests.support.object_storage import buckets

pytestmark = pytest.mark.jvm
CONTROL = "s3://lake/team/control"


class Checkout(Project):
    """Data lie outside of it."""

    @property
    def control(self) -> Place:  # type: ignore[override]  # what both kinds can be asked
        return place_at(CONTROL)

    def table(self, name: str) -> Any:
        return Project(self.root.parent).table(name)

    def told(self) -> str:
        return "\n".join(
            f"--- {item}\n{item.read_text()[-3000:]}"
            for item in (self.control / "status.json", self.control / "lease.json")
            if item.exists()
        )


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with buckets("lake") as endpoint:
        yield endpoint


@pytest.fixture
def checkouts(server: str, tmp_path: Path) -> Iterator[tuple[Checkout, Checkout]]:
    lake = (
        LAKE.replace("sqlite:///lake", f"sqlite:///{tmp_path}/lake")
        .replace('"lake/warehouse"', f'"{tmp_path}/lake/warehouse"')
        .replace('"landing/rides"', f'"{tmp_path}/landing/rides"')
        .replace("-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "")
        .replace('"runtime"', '"s3a://lake//team/control/"')
    )
    job = (
        rides("rides")
        .replace('checkpoint "rides" {}', f'checkpoint "rides" {{ location = "{tmp_path}/checkpoint" }}')
        .replace('sql = "SELECT id, city FROM rides"', 'python = "steps:clean"')
        .replace('job "rides" {', f'job "rides" {{\n  code = "{tmp_path}/code"')
    )
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "steps.py").write_text(
        "def clean(spark, inputs, params):\n    return inputs['rides'].select('id', 'city')\n"
    )
    (tmp_path / "landing" / "rides").mkdir(parents=True)
    (tmp_path / "lake").mkdir()
    first, second = Checkout(tmp_path / "first"), Checkout(tmp_path / "second")
    for each in (first, second):
        each.root.mkdir()
        each.write(lake=lake, rides=job)
    try:
        yield first, second
    finally:
        first.close()


@pytest.mark.turn(0, 2)
def test_two_checkouts_meet_in_s3(checkouts: tuple[Checkout, Checkout]) -> None:
    first, second = checkouts
    first.run("init")
    land(first, 4)
    first.apply()
    first.expect_rides("rides")
    assert not (first.root / "runtime").exists()
    shutil.copytree(first.root / ".flareiac", second.root / ".flareiac")
    shutil.copy(first.root / ".flareiac.lock.hcl", second.root)

    assert second.status()["job.rides"]["phase"] in ("running", "idle")
    second.until(lambda: "(digest" in second.run("logs", "job.rides").out, "the log of the job")
    assert "runs on Java" in second.run("logs", "engine.local").out
    second.quiet()

    move_elsewhere(first)
    land(second, 5)
    said = second.apply()
    assert "if the lease of process" in said.out
    second.landed = first.landed + second.landed
    second.expect_rides("rides")
    assert second.run("stop", "engine.local").out
    assert second.driver_pid() is None
    assert json.loads((second.control / "lease.json").read_text())["seconds"] == 0

    land(second, 3)
    with second.served():
        second.expect_rides("rides")
    assert json.loads((second.control / "lease.json").read_text())["seconds"] == 0
    assert json.loads((second.control / "status.json").read_text())["application"]["reason"] == ASKED_TO_STOP


def land(project: Checkout, count: int) -> None:
    """Below the folder that both read, with numbers that no other has used."""
    outside = Project(project.root.parent)
    taken = len(list((outside.root / "landing" / "rides").iterdir())) * 100
    rows = [{"id": taken + number, "ts": "2024-01-01T00:00:00Z", "city": "Rome"} for number in range(count)]
    project.landed += rows
    outside.drop("rides", f"rides-{taken:06}", rows)


def move_elsewhere(project: Checkout) -> None:
    """Kills the driver, and writes what it left as if it had run on another host, with a short lease."""
    pid = project.driver_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    project.until_driver_gone()
    far = {"name": "far", "machine": "far", "boot": "far", "namespace": "far"}
    status = json.loads((project.control / "status.json").read_text())
    status["application"] |= {"host": "far", "place": far}
    status["heartbeat"] -= 1000
    lease = json.loads((project.control / "lease.json").read_text())
    lease |= {"host": "far", "place": far, "seconds": 3}
    replace_whole(project.control / "status.json", json.dumps(status).encode())
    replace_whole(project.control / "lease.json", json.dumps(lease).encode())
