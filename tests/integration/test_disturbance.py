"""A column that a running job writes is renamed or dropped, with its SQL in the same edit: the job pauses,
and no row is lost.
"""

import pytest

from tests.integration.project import Project, rides

pytestmark = pytest.mark.jvm


def test_a_rename_and_a_drop_under_a_running_job(project: Project) -> None:
    project.write(rides=rides("rides"))
    project.edit("rides", ("SELECT id, city FROM rides", "SELECT id, city, rider FROM rides"))
    project.edit(
        "rides",
        (
            'column "city" { type = "string" }',
            'column "city" { type = "string" }\n  column "rider" { type = "string" }',
        ),
    )
    project.land(30)
    project.apply()
    project.expect_rides("rides")
    first = project.run_id("job.rides")

    project.edit(
        "rides",
        (
            'column "city" { type = "string" }',
            'column "town" { type = "string" }\n  renamed = { city = "town" }',
        ),
        ("SELECT id, city,", "SELECT id, city AS town,"),
    )
    project.land(30)
    planned = project.plan(2)
    assert "Plan: 0 to add, 2 to change, 0 to destroy." in planned
    project.apply()
    project.land(30)
    project.expect_rides("rides")
    assert project.run_id("job.rides") != first
    assert all(row["town"] == project.landed[row["id"]]["city"] for row in project.rows("rides"))

    project.edit("rides", ('  column "rider" { type = "string" }\n', ""), (", rider FROM", " FROM"))
    project.land(30)
    destructive = project.plan(2)
    assert destructive.startswith(
        "This plan loses data (table.rides: drop column rider) and restarts job.rides.\n"
    )
    assert "Destructive or state-changing:" in destructive
    assert "- column.rider" in destructive
    project.apply()
    project.land(30)
    project.expect_rides("rides")
    assert set(project.rows("rides")[0]) == {"id", "town"}
    assert "No changes." in project.plan(0)
