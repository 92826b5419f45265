"""Two engines of one project: each runs its jobs, a job moves between them, and each row is written once."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.project import LAKE, Project, rides
from tests.support.command_line import flareiac

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

ENGINE = LAKE[LAKE.index('engine "local"') : LAKE.index('stream "rides"')]
OTHER = ENGINE.replace('engine "local"', 'engine "other"').replace('"runtime"', '"other"')
POOLS = """
  pools = { etl = { weight = 2, min_share = 1 } }
  conf = {
    "spark.eventLog.enabled" = "true"
    "spark.eventLog.dir" = "events"
    "spark.eventLog.compress" = "false"
"""


COMPACTED = """{
  engine = engine.@
  compaction {
    min_input_files = 2
    run_if          = { small_files_over = 1 }
  }
"""


class Other(Project):
    """The same project, seen from its second engine."""

    @property
    def control(self) -> Path:
        return self.root / "other"


def on(name: str, engine: str, job: str = "") -> str:
    return rides(name).replace(
        f"checkpoint = checkpoint.{name}", f"checkpoint = checkpoint.{name}\n  engine = engine.{engine}{job}"
    )


def wanted(project: Project) -> set[str]:
    """The jobs that the application of an engine is asked to run."""
    return set(json.loads((project.control / "desired.json").read_text())["jobs"])


@pytest.fixture(scope="module")
def other(project: Project) -> Iterator[Other]:
    events = project.root / "events"
    events.mkdir()
    pools = POOLS.replace('"events"', f'"{events.as_uri()}"')
    project.write(lake=LAKE.replace("\n  conf = {", pools, 1) + OTHER)
    project.land(30)
    project.write(a=on("a", "local", '\n  pool = "etl"'), b=on("b", "other"))
    project.apply()
    made = Other(project.root)
    made.landed = project.landed
    try:
        yield made
    finally:
        made.close()


def test_each_engine_runs_its_jobs(project: Project, other: Other) -> None:
    assert (wanted(project), wanted(other)) == ({"job.a"}, {"job.b"})
    assert {row["phase"] for row in project.status().values()} <= {"running", "idle"}
    assert [bool(project.run("logs", job).out) for job in ("job.a", "job.b")] == [True, True]
    for engine in ("engine.local", "engine.other"):
        assert "Spark 4.1.4 runs on Java" in project.run("logs", engine).out
    assert "catalog.lake does not run" in project.run("logs", "catalog.lake", code=1).err
    run = project.run_id("job.a")
    project.run("stop", "engine.other")
    assert project.status()["job.b"]["phase"] == "dead"
    assert "engine.other" in project.run("drift", code=3).out
    assert project.run_id("job.a") == run
    project.run("start", "engine.other")
    other.kill_driver()
    project.apply()
    assert project.run_id("job.a") == run
    for table in ("a", "b"):
        project.expect_rides(table)


def test_queries_run_in_the_pools_of_their_jobs(project: Project, other: Other) -> None:
    """As Spark itself tells: a job that names a pool runs there, in a stream's own thread."""
    del other

    def pools() -> set[tuple[str, str]]:
        lines = [
            json.loads(line)
            for file in (project.root / "events").rglob("*")
            if file.is_file()
            for line in file.read_text(errors="replace").splitlines()
            if line.startswith('{"Event":"SparkListenerStageSubmitted"')
        ]
        found = [line.get("Properties", {}) for line in lines]
        return {
            (item["sql.streaming.queryId"], item.get("spark.scheduler.pool", ""))
            for item in found
            if "sql.streaming.queryId" in item
        }

    project.land(5)
    project.expect_rides("a")
    project.until(lambda: bool(pools()), "a stage of a stream")
    assert {pool for _query, pool in pools()} == {"etl"}


def test_each_engine_maintains_its_tables(project: Project, other: Other) -> None:
    def maintained(name: str, engine: str) -> str:
        return on(name, engine).replace("{\n", COMPACTED.replace("@", engine), 1)

    def files(name: str) -> int:
        return len(project.table(name).inspect.data_files())

    project.write(a=maintained("a", "local"), b=maintained("b", "other"))
    project.run("apply", "-auto-approve", "-maintenance=exclude")
    for _ in range(2):
        project.land(2)
        for table in ("a", "b"):
            project.expect_rides(table)
    assert min(files("a"), files("b")) > 1, "there is something to compact"
    project.run("maintain", "-auto-approve")
    for table, engine in (("a", project), ("b", other)):
        assert files(table) == 1
        project.expect_rides(table)
        log = (engine.control / "logs" / "application.log").read_text()
        assert re.findall(r" of lake\.demo\.(\w+) begins", log) == [table]


@pytest.mark.parametrize("point", ["start.before:1", "move.stopped:1", "move.left:1", "start.after:1"])
def test_jobs_change_their_engines_both_ways_in_one_apply(project: Project, other: Other, point: str) -> None:
    """Killed between stop and start, each job runs in one application, and loses and repeats no row."""
    swapped = "job.a" in wanted(project)
    engines = ("other", "local") if swapped else ("local", "other")
    project.land(10)
    project.write(a=on("a", engines[0]), b=on("b", engines[1]))
    killed = flareiac(project.root, "apply", "-auto-approve", FLAREIAC_KILL_AT=point)
    assert killed.killed, killed.text
    assert not wanted(project) & wanted(other)
    project.land(10)
    project.apply()
    assert "No changes." in project.plan(0)
    assert (wanted(project), wanted(other)) == (({"job.b"}, {"job.a"}) if swapped else ({"job.a"}, {"job.b"}))
    for table in ("a", "b"):
        project.expect_rides(table)


def test_a_job_is_not_started_elsewhere_while_its_old_application_may_run_it(
    project: Project, other: Other
) -> None:
    moving = "a" if "job.a" in wanted(other) else "b"
    pid = other.driver_pid()
    assert pid is not None
    project.write(**{moving: on(moving, "local")})
    os.kill(pid, signal.SIGSTOP)
    try:
        project.until(
            lambda: "FIK442" in flareiac(project.root, "plan", "-detailed-exitcode").text,
            "a plan that refuses",
        )
        assert f"job.{moving}" not in wanted(project)
    finally:
        os.kill(pid, signal.SIGCONT)
    project.until(
        lambda: flareiac(project.root, "apply", "-auto-approve").code == 0, "an apply once it speaks again"
    )
    assert f"job.{moving}" in wanted(project)
    project.expect_rides(moving)


def test_a_renamed_job_keeps_its_query_and_its_log(project: Project, other: Other) -> None:
    del other
    run = project.run_id("job.a")
    project.run("state", "mv", "job.a", "job.c")
    text = (project.root / "a.flare.hcl").read_text().replace('job "a"', 'job "c"')
    project.write(a=text)
    project.apply()
    assert "No changes." in project.plan(0)
    assert project.run_id("job.c") == run
    assert project.run("logs", "job.c").out
    project.edit("a", ('"200ms"', '"250ms"'))
    project.land(5)
    project.apply()
    assert project.run_id("job.c") != run
    project.expect_rides("a")


def test_another_runtime_location_moves_the_application(project: Project, other: Other) -> None:
    jobs = wanted(project)
    project.edit("lake", ('runtime_location = "runtime"', 'runtime_location = "elsewhere"'))
    project.land(5)
    project.apply()
    assert "No changes." in project.plan(0)
    assert wanted(project) == set()
    assert set(json.loads((project.root / "elsewhere" / "desired.json").read_text())["jobs"]) == jobs
    for table in ("a", "b"):
        project.expect_rides(table)
    project.edit("lake", ('runtime_location = "elsewhere"', 'runtime_location = "runtime"'))
    project.apply()
    assert wanted(project) == jobs
