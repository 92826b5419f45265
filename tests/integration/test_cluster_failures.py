"""A failure on a cluster is reported with cause and way out, and mended by itself or by the next apply."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cluster_lake import cluster_lake
from tests.integration.project import Project, rides
from tests.support.spark_cluster import SparkCluster

pytestmark = pytest.mark.jvm

JOB = """
table "@" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
checkpoint "@" {}
job "@" {
  checkpoint = checkpoint.@
  trigger    = { processing_time = "200ms" }
  code       = "code"
  stability  = { within = "90s" }
  restart    = { max_failures = 0, within = "10m", backoff = "1s" }
  health     = { max_batch_duration = "2s" }
  input "rides" { stream = stream.rides }
  step "result" { # }
  output "@" { table = table.@ }
}
"""
CODE = """
import time

from pyspark.sql.functions import udf


def same(spark, inputs, params):
    return inputs["rides"].select("id", udf(lambda text: text, "string")("city").alias("city"))


def never(spark, inputs, params):
    return inputs["rides"].select("id", udf(lambda text: time.sleep(10**6), "string")("city").alias("city"))
"""
HUNGRY = "SELECT id, CAST(size(sequence(1L, 150000000L + id)) AS string) AS city FROM rides"
HOG = """
import sys

from pyspark import SparkConf, SparkContext

conf = {"master": "@", "app.name": "nightly", "executor.memory": "512m", "driver.host": "127.0.0.1"}
conf |= {"ui.enabled": "false", "driver.memory": "512m"}
SparkContext(conf=SparkConf().setAll([(f"spark.{name}", value) for name, value in conf.items()]))
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[SparkCluster]:
    with SparkCluster(tmp_path_factory.mktemp("cluster"), java_home, workers=2, cores=1) as started:
        yield started


@pytest.fixture
def project(tmp_path: Path, cluster: SparkCluster) -> Iterator[Project]:
    made = Project(tmp_path)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "steps.py").write_text(CODE)
    made.write(
        lake=cluster_lake(cluster.master, idle_shutdown="5m", graceful_stop="2s", max_failures=1),
        rides=rides("rides"),
    )
    made.land(20)
    made.run("init")
    yield made
    made.close()


def job(name: str, step: str) -> str:
    """A job over the rides with a table of its own."""
    return JOB.replace("@", name).replace("#", step)


def health(project: Project, name: str) -> str:
    return " ".join(project.status()[f"job.{name}"].get("health") or ())


def applications(cluster: SparkCluster) -> list[str]:
    """The ids of those that the master gives cores to."""
    return [item["id"] for item in cluster.said().get("activeapps", [])]


@pytest.mark.slow
def test_workers_the_master_and_the_driver_are_lost_and_no_row_is(
    project: Project, cluster: SparkCluster
) -> None:
    project.apply()
    project.expect_rides("rides")

    cluster.kill("worker-0")
    cluster.kill("worker-1")
    project.land(20)
    project.until(lambda: "waiting: no executor runs" in health(project, "rides"), "the reason")
    assert f"{cluster.master}" in health(project, "rides")
    assert "waiting: no executor runs" in project.run("drift", code=3).out
    cluster.start_worker(0)
    cluster.start_worker(1)
    project.expect_rides("rides")
    project.until(lambda: health(project, "rides") == "", "the end of the complaint")

    before, driver = applications(cluster), project.driver_pid()
    cluster.kill("master")
    cluster.start_master()
    project.until(
        lambda: bool(applications(cluster)) and applications(cluster) != before, "another registration"
    )
    project.land(20)
    project.expect_rides("rides")
    assert project.driver_pid() == driver
    assert len(applications(cluster)) == 1
    project.quiet()

    before, jvm = applications(cluster), project.application()["jvm_pid"]
    os.kill(jvm, signal.SIGSTOP)
    project.kill_driver()
    project.land(20)
    project.apply()
    assert not Path(f"/proc/{jvm}").exists(), "the old JVM could still commit"
    project.expect_rides("rides")
    (now,) = applications(cluster)
    assert now not in before


@pytest.mark.slow
def test_an_application_that_is_killed_in_the_cluster_has_ended_and_is_started_again(
    project: Project, cluster: SparkCluster
) -> None:
    project.apply()
    project.expect_rides("rides")
    (application,) = applications(cluster)
    cluster.kill_application(application)
    project.until_driver_gone()
    assert "APPLICATION_REMOVED: its cluster ended the application" in project.run("drift", code=3).out
    project.land(20)
    project.apply()
    project.expect_rides("rides")
    project.quiet()


@pytest.mark.slow
def test_what_goes_wrong_on_executors_is_named_and_other_jobs_go_on(project: Project) -> None:
    project.edit(
        "lake",
        ('    "spark.driver.host"', '    "spark.pyspark.python" = "/no/python"\n    "spark.driver.host"'),
    )
    project.write(
        hungry=job("hungry", f'sql = "{HUNGRY}"'),
        strange=job("strange", 'python = "steps:same"'),
    )
    project.apply(code=7)
    status = project.status()
    assert {name: status[name]["phase"] for name in ("job.hungry", "job.strange")} == {
        "job.hungry": "failed",
        "job.strange": "failed",
    }
    assert "EXECUTOR_OUT_OF_MEMORY" in status["job.hungry"]["last_error"]
    assert "executor = { memory" in status["job.hungry"]["last_error"]
    assert "EXECUTOR_WITHOUT_PYTHON: /no/python cannot be run" in status["job.strange"]["last_error"]
    project.land(20)
    project.expect_rides("rides")

    project.remove("hungry")
    project.edit("lake", ('    "spark.pyspark.python" = "/no/python"\n', ""))
    project.edit("strange", ("steps:same", "steps:never"))
    text = project.plan(2)
    assert all(f"# job.{name} will be updated in-place" in text for name in ("rides", "strange"))
    project.apply(code=0)
    project.until(lambda: "stuck: " in health(project, "strange"), "the batch that does not end")
    assert "stuck: " in project.run("drift", code=3).out
    project.run("stop", "job.strange")
    project.edit("strange", ("steps:never", "steps:same"))
    project.apply()
    project.run("start", "job.strange")
    project.expect_rides("strange")
    project.expect_rides("rides")


@pytest.mark.turn(0, 2)
def test_a_job_waits_for_cores_and_for_its_master(project: Project, cluster: SparkCluster) -> None:
    cluster.kill("master")
    failed = project.apply(code=1)
    assert f"The master {cluster.master} cannot be reached: Connection refused" in failed.err
    assert project.run("status").out.strip() == "No jobs are recorded."
    cluster.start_master()
    cluster.until(lambda: cluster.said().get("aliveworkers") == 2, "the workers")
    with hog(cluster):
        project.edit("rides", ("trigger    =", 'stability  = { within = "25s" }\n  trigger    ='))
        failed = project.apply(code=7)
        assert "no free cores" in failed.err
        assert "'nightly' holds 2" in failed.err
        assert "no free cores" in health(project, "rides")
    project.expect_rides("rides")
    project.until(lambda: health(project, "rides") == "", "the end of the complaint")
    project.apply()
    project.quiet()


@contextlib.contextmanager
def hog(cluster: SparkCluster) -> Iterator[None]:
    """Another application that holds every core."""
    command = [sys.executable, "-c", HOG.replace("@", cluster.master)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as other:
        try:
            cluster.until(
                lambda: any(item["cores"] == 2 for item in cluster.said().get("activeapps", [])), "its cores"
            )
            yield
        finally:
            other.communicate(timeout=60)
