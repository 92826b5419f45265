"""A job's block is removed and comes back while its checkpoint stays: what the checkpoint still needs is kept
meanwhile.
"""

import pytest

from tests.integration.project import Project, rides

pytestmark = pytest.mark.jvm

EXPIRY = """
  snapshot_expiry {
    older_than  = "0s"
    retain_last = 1
  }
}
checkpoint"""
READER = """
stream "again" {
  table { table = table.rides }
}
table "copy" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
checkpoint "copy" {}
"""
READER_JOB = """
job "copy" {
  checkpoint = checkpoint.copy
  trigger    = { processing_time = "200ms" }
  input "again" { stream = stream.again }
  step "all" { sql = "SELECT id, city FROM again" }
  output "copy" { table = table.copy }
}
"""


def _with_expiry(job: bool) -> str:
    return rides("rides", job=job).replace("}\ncheckpoint", EXPIRY, 1)


def _append(project: Project, number: int) -> None:
    """Another writer's row, so that the table's current snapshot is not the one that the checkpoint needs."""
    import pyarrow as pa

    row = {"id": [number], "city": ["elsewhere"]}
    project.table("rides").append(
        pa.table(row, schema=pa.schema([("id", pa.int64()), ("city", pa.string())]))
    )


def test_a_batch_in_flight_is_not_written_twice(own_project: Project) -> None:
    """The driver dies between the table's commit and the checkpoint's; the mark that proves the commit
    outlives an expiry.
    """
    own_project.land(10)
    own_project.write(rides=_with_expiry(job=True))
    own_project.apply()
    own_project.expect_rides("rides")
    own_project.kill_driver()
    commits = next((own_project.root / ".flareiac" / "checkpoints").rglob("commits"))
    last = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    (commits / str(last)).unlink()  # as if the driver had been killed just before it wrote this file
    (commits / f".{last}.crc").unlink()
    assert own_project.ids("rides") == list(range(10))
    own_project.write(rides=_with_expiry(job=False))
    own_project.apply()
    for number in (100, 101, 102):
        _append(own_project, number)
    own_project.run("maintain", "-auto-approve")
    own_project.write(rides=_with_expiry(job=True))
    own_project.apply()
    own_project.land(10)
    own_project.until(lambda: len(set(own_project.ids("rides"))) >= 23, "the rides that came later")
    assert own_project.ids("rides") == [*range(20), 100, 101, 102]


def test_a_reader_goes_on_where_it_stopped(own_project: Project) -> None:
    own_project.land(10)
    own_project.write(rides=_with_expiry(job=True), copy=READER, reader=READER_JOB)
    own_project.apply()
    own_project.expect_rides("copy")
    own_project.remove("reader")
    own_project.apply()
    own_project.land(10)
    own_project.expect_rides("rides")
    for number in (100, 101, 102):
        _append(own_project, number)
    own_project.run("maintain", "-auto-approve")
    own_project.write(reader=READER_JOB)
    own_project.apply()
    own_project.until(lambda: len(set(own_project.ids("copy"))) >= 23, "what the table gained meanwhile")
    assert own_project.ids("copy") == [*range(20), 100, 101, 102]
