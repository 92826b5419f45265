"""Maintenance through the command line beside a writer that runs and a reader that was stopped; commands and
drivers die in between.
"""

import json
from pathlib import Path

import pytest

from tests.integration.project import Project, rides
from tests.support.command_line import flareiac

pytestmark = pytest.mark.jvm

COPY = (
    rides("copy", job=False)
    + """
stream "rides_table" {
  table { table = table.rides }
}
job "copy" {
  checkpoint = checkpoint.copy
  trigger    = { processing_time = "200ms" }
  stopped    = false
  input "rides" { stream = stream.rides_table }
  step "all" { sql = "SELECT id, city FROM rides" }
  output "copy" { table = table.copy }
}
"""
)
CITY = '  column "city" { type = "string" }\n'
MAINTENANCE = """
  compaction {
    min_input_files = 2
    run_if          = { small_files_over = 1 }
  }
  snapshot_expiry { older_than = "0s" }
"""


def offset(project: Project, job: str) -> int:
    """The snapshot at which a stopped reader goes on."""
    (folder,) = project.root.glob(f".flareiac/checkpoints/*/*{job}*/*/g0001/offsets")
    last = max((path for path in folder.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    return int(json.loads(Path(last).read_text().splitlines()[-1])["snapshot_id"])


def snapshots(project: Project) -> list[int]:
    return [item.snapshot_id for item in project.table("rides").snapshots()]


def land(project: Project, files: int) -> None:
    """So many files, each a snapshot of its own."""
    for _ in range(files):
        project.land(2)
        project.expect_rides("rides")


def test_what_a_stopped_reader_needs_stays_and_every_row_is_there_once(own_project: Project) -> None:
    project = own_project
    project.land(5)
    project.write(rides=rides("rides"), copy=COPY)
    project.apply()
    land(project, 2)
    project.expect_rides("copy")
    project.edit("copy", ("stopped    = false", "stopped    = true"))
    project.apply()
    goes_on_at = offset(project, "copy")
    land(project, 3)

    project.edit("rides", (CITY, CITY + MAINTENANCE))
    project.run("apply", "-auto-approve", "-maintenance=exclude")
    while_held = snapshots(project)
    assert goes_on_at in while_held
    land(project, 2)
    told = project.run("plan").out
    assert "job.copy" in told, told
    project.run("maintain", "-auto-approve")
    assert goes_on_at in snapshots(project)
    project.expect_rides("rides")

    # The command dies when the work is done and not recorded, then the driver before it is begun.
    land(project, 2)
    project.killed("apply.before-result", "maintain", "-auto-approve")
    assert project.run("maintain", "-auto-approve").code == 0
    land(project, 2)
    project.kill_driver()
    died = flareiac(
        project.root,
        "maintain",
        "-auto-approve",
        FLAREIAC_KILL_AT="driver.maintenance-begun@rewrite_data_files",
    )
    assert (died.code in (1, 7), "FIK113" in died.err) == (True, True), died.text
    project.until_driver_gone()
    project.run("maintain", "-auto-approve")
    project.expect_rides("rides")
    assert goes_on_at in snapshots(project)

    project.edit("copy", ("stopped    = true", "stopped    = false"))
    project.apply()
    project.expect_rides("copy")
    # What was planned before the nightly maintenance is still what is applied after it.
    project.edit("copy", ("stopped    = false", "stopped    = true"))
    assert project.run("plan", "-maintenance=exclude", "-out=saved.plan").code == 0
    project.edit("copy", ("stopped    = true", "stopped    = false"))
    assert "Maintained:" in project.run("maintain", "-auto-approve").out
    project.expect_rides("rides")
    assert goes_on_at not in snapshots(project)
    project.edit("copy", ("stopped    = false", "stopped    = true"))
    assert project.run("apply", "saved.plan").code == 0
