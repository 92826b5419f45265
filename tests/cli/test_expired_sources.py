"""A stream of a table of the project whose snapshots expire: before the plan, and between the plan and its apply. No JVM is needed."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.table import Table

from tests.iceberg.importing.shapes import catalog_of
from tests.support.command_line import shell

PROJECT = """
catalog "lake" {}
engine "local" {}
table "src" {
  namespace = "n"
  column "id" { type = "long" }
}
table "dst" {
  namespace = "n"
  column "id" { type = "long" }
}
stream "src" {
  table { table = table.src }
}
"""
JOB = """
checkpoint "r" {}
job "r" {
  checkpoint = checkpoint.r
  input "src" { stream = stream.src }
  step "s" { sql = "SELECT id FROM src" }
  output "dst" { table = table.dst }
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    with shell(tmp_path) as commands:
        made = commands.flareiac("apply", "-auto-approve")
    assert made.code == 0, made.text
    (tmp_path / "main.flare.hcl").write_text(PROJECT + JOB)
    return tmp_path


def appended(project: Path, commits: int) -> Table:
    catalog = catalog_of(project)
    table = catalog.load_table("n.src")
    for number in range(commits):
        table.append(pa.table({"id": pa.array([number], pa.int64())}))
    catalog.close()
    return table


def expire(table: Table, oldest: int) -> None:
    table.maintenance.expire_snapshots().by_ids([item.snapshot_id for item in table.snapshots()][:oldest]).commit()


def test_a_first_start_over_expired_snapshots_is_blocked_with_the_count(project: Path) -> None:
    expire(appended(project, 15), 8)
    with shell(project) as commands:
        plan = commands.flareiac("plan")
    assert (plan.code, "[FIK150]" in plan.out) == (4, True), plan.text
    assert "8 of 15 rows of table.src cannot be read as a stream." in plan.out


def test_snapshots_that_expire_after_the_plan_make_it_stale(project: Path) -> None:
    table = appended(project, 5)
    with shell(project) as commands:
        plan = commands.flareiac("plan", "-out=p.json")
        expire(table, 2)
        applied = commands.flareiac("apply", "p.json")
    assert plan.code == 0, plan.text
    assert applied.code == 6, applied.text
    assert "2 of 5 rows of table.src cannot be read as a stream" in applied.text


def test_nothing_is_said_of_a_table_that_only_grew(project: Path) -> None:
    appended(project, 3)
    with shell(project) as commands:
        plan = commands.flareiac("plan")
    assert (plan.code, "starts from the beginning of its streams" in plan.out) == (0, True), plan.text
