"""The driver dies in the middle of a batch; the next apply brings it back and every row is there once."""

import json

import pytest

from tests.integration.project import Project, rides
from tests.support.command_line import flareiac

pytestmark = pytest.mark.jvm

COPY = """
table "copy" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
job "copy" {
  mode = "batch"
  input "source" {
    files {
      path    = "landing/rides"
      format  = "json"
      columns = { id = "long" }
    }
  }
  step "picked" { sql = "SELECT id FROM source" }
  output "copy" { table = table.copy }
}
"""


@pytest.mark.turn(0, 2)
def test_the_driver_is_killed_in_mid_stream_and_in_mid_batch(project: Project) -> None:
    project.land(100)
    project.write(rides=rides("rides"))
    started = flareiac(project.root, "apply", "-auto-approve", FLAREIAC_KILL_AT="driver.after-batch:2")
    assert started.code in (0, 7), started.text  # it may have been stable before its second batch

    def gone_while_files_land() -> bool:
        project.land(5)
        return project.driver_pid() is None

    project.until(gone_while_files_land, "the driver's end after its second batch")
    assert "job.rides" in project.run("status").out
    project.apply()
    project.run("drift")
    project.expect_rides("rides")

    # Before the write nothing is there; after it everything is, and the snapshot says whose it is: it is not
    # written again.
    project.kill_driver()
    project.write(copy=COPY)
    died = project.apply(code=7, FLAREIAC_KILL_AT="driver.before-batch-write")
    assert "job.copy" in died.err
    project.until_driver_gone()
    project.apply()
    project.expect_rides("copy")

    project.kill_driver()
    project.land(10)
    project.edit(
        "copy", ("SELECT id FROM source", f"SELECT id FROM source WHERE id >= {len(project.landed) - 10}")
    )
    project.apply(code=1, FLAREIAC_KILL_AT="driver.after-batch-write")  # not one operation was done
    project.until_driver_gone()
    project.apply()
    assert "No changes." in project.plan(0)
    project.expect_rides("copy")
    project.expect_rides("rides")


def test_a_job_whose_first_start_failed_can_be_taken_back(own_project: Project) -> None:
    own_project.land(10)
    own_project.write(rides=rides("rides"))
    own_project.apply(code=7, FLAREIAC_KILL_AT="driver.before-start")
    own_project.until_driver_gone()
    assert "job.rides" in own_project.run("state", "list").out
    own_project.write(rides=rides("rides", job=False))
    own_project.apply()
    assert "job.rides" not in own_project.run("state", "list").out
    assert json.loads((own_project.control / "desired.json").read_text())["jobs"] == {}
    assert own_project.rows("rides") == []
