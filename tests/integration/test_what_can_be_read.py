"""The part of a table that a stream can still read, with real snapshots that expire, and the holder of what a
removed job needs.
"""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests.integration.project import Project

pytestmark = pytest.mark.jvm

TABLES = """
table "src" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
  snapshot_expiry {
    older_than  = "0s"
    retain_last = 1
  }
}
table "dst" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
stream "src" {
  table {
    table      = table.src
    start_from = "earliest"
  }
}
checkpoint "copy" {}
"""
JOB = """
job "copy" {
  checkpoint = checkpoint.copy
  trigger    = { processing_time = "200ms" }
  input "src" { stream = stream.src }
  step "all" { sql = "SELECT id FROM src" }
  output "dst" { table = table.dst }
}
"""


def append(project: Project, *ids: int) -> None:
    """Each in a commit of its own."""
    table = project.table("src")
    for each in ids:
        table.append(pa.table({"id": pa.array([each], pa.int64())}))


def snapshots(project: Project) -> list[int]:
    return [item.snapshot_id for item in project.table("src").snapshots()]


def expire(project: Project, oldest: int) -> None:
    """Another program lets go of the oldest snapshots."""
    table = project.table("src")
    found = [item.snapshot_id for item in table.snapshots()][:oldest]
    table.maintenance.expire_snapshots().by_ids(found).commit()


def offset(project: Project) -> int:
    """The snapshot at which the job goes on."""
    (folder,) = project.root.glob(".flareiac/checkpoints/*/*copy*/*/g0001/offsets")
    last = max((path for path in folder.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    return int(json.loads(Path(last).read_text().splitlines()[-1])["snapshot_id"])


def expect(project: Project, ids: list[int]) -> None:
    project.until(lambda: project.ids("dst") == ids, f"{ids} in dst")


def test_a_start_is_blocked_where_rows_or_its_position_are_gone_and_a_removed_job_is_held(
    own_project: Project,
) -> None:
    project = own_project
    project.write(tables=TABLES)
    project.run("apply", "-auto-approve")
    append(project, *range(15))
    expire(project, 8)

    # A first start would read 7 of 15 rows.
    project.write(job=JOB)
    blocked = project.run("plan", code=4)
    assert "8 of 15 rows of table.src cannot be read as a stream" in blocked.text
    assert 'start_from = "oldest_snapshot"' in blocked.text
    project.edit("tables", ('start_from = "earliest"', 'start_from = "oldest_snapshot"'))
    assert "8 of 15 rows" in project.run("plan").text
    project.run("apply", "-auto-approve", "-maintenance=exclude")
    expect(project, list(range(8, 15)))

    # Its block is removed: what its checkpoint stands at stays through an expiry, and the block can come
    # back.
    project.remove("job")
    removed = project.run("apply", "-auto-approve", "-maintenance=exclude")
    assert "checkpoint.copy" in removed.text
    stands = offset(project)
    append(project, 15, 16)
    before = len(snapshots(project))
    maintained = project.run("maintain", "-auto-approve")
    assert "checkpoint.copy: job.copy is no longer declared" in maintained.text
    assert stands in snapshots(project)
    assert len(snapshots(project)) < before
    project.write(job=JOB)
    project.run("apply", "-auto-approve", "-maintenance=exclude")
    expect(project, list(range(8, 17)))

    # Another program expires what it needs: the plan sees it, and the way out that it prints works.
    project.remove("job")
    project.run("apply", "-auto-approve", "-maintenance=exclude")
    append(project, 17, 18)
    expire(project, len(snapshots(project)) - 1)
    project.write(job=JOB)
    gone = project.run("plan", code=4)
    assert "The snapshot of table.src at which input src stands is gone" in gone.text
    assert 'rebuild = "truncate"' not in gone.text
    project.edit(
        "tables",
        (
            'checkpoint "copy" {}',
            'checkpoint "copy" {\n  generation = 2\n  start_from = "oldest_snapshot"\n}',
        ),
    )
    project.run("apply", "-auto-approve", "-maintenance=exclude")
    expect(project, [*range(8, 17), 18])
