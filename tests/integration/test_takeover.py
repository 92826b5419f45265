"""A query written by hand is taken over where it was killed: its checkpoint and its table are imported, and
no row is lost or repeated.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.integration.project import DEADLINE, Project, rides

pytestmark = pytest.mark.jvm

BY_HAND = """
import sys
from pyspark.sql import SparkSession

root, jars = sys.argv[1:]
catalog = "spark.sql.catalog.lake"
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.extraClassPath", jars)
    .config("spark.driver.memory", "512m")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config(catalog, "org.apache.iceberg.spark.SparkCatalog")
    .config(f"{catalog}.type", "jdbc")
    .config(f"{catalog}.uri", f"jdbc:sqlite:{root}/lake/catalog.db?journal_mode=WAL&busy_timeout=15000")
    .config(f"{catalog}.jdbc.schema-version", "V1")
    .config(f"{catalog}.warehouse", f"file://{root}/lake/warehouse")
    .getOrCreate()
)
columns = "id BIGINT, ts TIMESTAMP, city STRING, fare STRING, rider STRING"
rides = spark.readStream.format("json").schema(columns).option("maxFilesPerTrigger", 1).load(f"{root}/landing/rides")
query = (
    rides.select("id", "city")
    .writeStream.option("checkpointLocation", f"{root}/by-hand")
    .trigger(processingTime="200 milliseconds")
    .toTable("lake.demo.old")
)
query.awaitTermination()
"""
TABLE = """
table "old" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
"""
CHECKPOINT = """
import {
  to = checkpoint.old
  id = "by-hand"
}
checkpoint "old" { location = "by-hand" }
"""
JOB = rides("old").split('checkpoint "old" {}')[1]


def run_by_hand(project: Project, jars: tuple[Path, ...], java_home: Path, rows: int) -> None:
    """Runs the query until it has written that many rows, then kills it and its JVM."""
    script = project.root / "by_hand.py"
    script.write_text(textwrap.dedent(BY_HAND))
    environment = {
        **os.environ,
        "JAVA_HOME": str(java_home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (project.root / "by_hand.log").open("wb") as log:
        command = [sys.executable, str(script), str(project.root), os.pathsep.join(map(str, jars))]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        deadline = time.monotonic() + DEADLINE
        while len(project.rows("old")) < rows:
            assert process.poll() is None, (project.root / "by_hand.log").read_text()[-3000:]
            assert time.monotonic() < deadline, "the query by hand wrote nothing"
            time.sleep(0.1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_query_by_hand_goes_on_as_a_job(
    own_project: Project, jars: tuple[Path, ...], java_home: Path
) -> None:
    project = own_project
    for _ in range(4):
        project.land(5)
    project.write(old=TABLE)
    project.apply()
    run_by_hand(project, jars, java_home, rows=10)
    # The commit of the last batch reached the table and not the checkpoint.
    commits = sorted(
        int(item.name) for item in (project.root / "by-hand" / "commits").iterdir() if item.name.isdigit()
    )
    (project.root / "by-hand" / "commits" / str(commits[-1])).unlink()
    (project.root / "by-hand" / "commits" / f".{commits[-1]}.crc").unlink(missing_ok=True)
    newest = max(
        int(item.name) for item in (project.root / "by-hand" / "offsets").iterdir() if item.name.isdigit()
    )
    if newest > commits[-1]:
        # It was killed with another batch in flight: then that one is the batch in flight, and the commit
        # before it stays.
        (project.root / "by-hand" / "commits" / str(commits[-1])).write_text('v1\n{"nextBatchWatermarkMs":0}')
    query = (project.root / "by-hand" / "metadata").read_text()

    project.write(old=TABLE + 'checkpoint "old" { location = "by-hand" }\n' + JOB)
    assert "FIK025" in project.run("plan", code=4).out
    project.write(old=TABLE + CHECKPOINT + JOB)
    said = project.run("plan", "-detailed-exitcode", code=2)
    assert "the offsets and state that are there are taken over" in said.out
    assert "starts where its checkpoint stands" in said.out
    assert "A query may still run on the checkpoint [FIK091]" in said.err
    project.apply()
    project.land(5)
    project.expect_rides("old")
    assert (project.root / "by-hand" / "metadata").read_text() == query
    assert "No changes." in project.plan(0)

    shown = project.run("checkpoint", "show", "checkpoint.old").out
    assert "generation 1 is in use" in shown
    assert "files read, the last one rides-" in shown

    # The next generation is a folder of its own, beside what was imported.
    project.write(
        old=TABLE
        + CHECKPOINT.replace('{ location = "by-hand" }', '{\n  location   = "by-hand"\n  generation = 2\n}')
        + JOB
    )
    project.apply()
    project.land(5)
    project.expect_rides("old")
    assert (project.root / "by-hand" / "rides" / "g0002" / "metadata").exists()
    assert "No changes." in project.plan(0)
