"""Jobs on a standalone cluster of Spark: the driver runs here, the work is done by executors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cluster_lake import cluster_lake
from tests.integration.project import COUNTS, Project, rides
from tests.support.spark_cluster import SparkCluster

pytestmark = pytest.mark.jvm

PYTHON = """
table "named" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
checkpoint "named" {}
job "named" {
  checkpoint = checkpoint.named
  trigger    = { processing_time = "200ms" }
  code       = "code"
  input "rides" { stream = stream.rides }
  step "named" { python = "cities:loud" }
  output "named" { table = table.named }
}
"""
CODE = """
from pyspark.sql.functions import udf

from spelling import shout


def loud(spark, inputs, params):
    return inputs["rides"].select("id", udf(shout, "string")("city").alias("city"))
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[SparkCluster]:
    with SparkCluster(tmp_path_factory.mktemp("cluster"), java_home, workers=2, cores=1) as started:
        yield started


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.close()


@pytest.mark.turn(1, 2)
def test_a_worker_is_lost_and_every_row_is_there_once(project: Project, cluster: SparkCluster) -> None:
    (project.root / "code").mkdir()
    (project.root / "code" / "cities.py").write_text(CODE)
    (project.root / "code" / "spelling.py").write_text("def shout(text):\n    return text.upper()\n")
    lake = cluster_lake(cluster.master, idle_shutdown="60s", graceful_stop="60s")
    project.write(lake=lake, rides=rides("rides"), counts=COUNTS, named=PYTHON)
    project.land(20)
    project.run("init")
    project.apply()
    project.expect_rides("rides")
    (application,) = cluster.said()["activeapps"]
    assert (application["name"], application["cores"]) == ("flareiac runtime (default)", 2)
    cluster.kill("worker-0")
    project.land(20)
    project.expect_rides("rides")
    cluster.start_worker(0)
    project.land(20)
    project.expect_rides("rides")
    project.expect_rides("named")
    assert {row["city"] for row in project.rows("named")} == {"ROME", "OSLO", "BERN"}
    project.until(lambda: sum(row["rides"] for row in project.rows("counts")) == 60, "60 rides counted")
    project.quiet()
    # Spark's plans are compared in the driver that was submitted
    run = project.run_id("job.counts")
    project.edit("counts", ("FROM rides GROUP", "FROM rides AS r GROUP"))
    assert "proves that it is the same query" in project.apply().out
    assert project.run_id("job.counts") == run
