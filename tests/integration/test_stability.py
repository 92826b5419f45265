"""The queries that an apply calls stable: those that did their first batch, or asked their sources and got
nothing new.
"""

import pytest

from tests.integration.project import Project, rides

pytestmark = pytest.mark.jvm


def test_without_data_a_job_is_idle_and_with_data_it_has_done_a_batch(project: Project) -> None:
    project.write(rides=rides("rides"))
    project.apply()
    assert project.status()["job.rides"]["phase"] == "idle"
    for batch in range(2):
        project.run("stop", "job.rides")
        project.land(5)
        project.run("start", "job.rides")
        assert project.status()["job.rides"]["batch"] == batch
    project.expect_rides("rides")
