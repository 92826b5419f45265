"""Whatever is killed, and wherever: the next apply converges, one query runs, and no row is lost or
repeated.
"""

import re
from collections.abc import Iterator

import pytest

from tests.integration.project import Project, rides

pytestmark = pytest.mark.jvm

POINTS = ("apply.intent", "apply.before-result", "apply.result", "apply.before-result:2")
"""Before its first stage, while that is at work and when it is done; and when the job runs as it should."""
NAMES = {point: re.sub(r"\W", "_", point.replace("apply.", "at_")) for point in POINTS}


@pytest.fixture(scope="module")
def tables(project: Project) -> Iterator[Project]:
    """Tables and checkpoints of the jobs to come, so that a job is the only change of an apply; one job runs
    on, untouched.
    """
    project.land(30)
    project.write(steady=rides("steady"), **{name: rides(name, job=False) for name in NAMES.values()})
    project.apply()
    yield project
    for name in ("steady", *NAMES.values()):
        project.expect_rides(name)
    project.run("drift")


@pytest.mark.parametrize("point", POINTS)
def test_the_command_line_is_killed_while_a_job_is_created_and_restarted(tables: Project, point: str) -> None:
    name, steady = NAMES[point], tables.run_id("job.steady")
    tables.write(**{name: rides(name)})
    tables.killed(point, "apply", "-auto-approve")
    tables.apply()
    assert "No changes." in tables.plan(0)
    tables.expect_rides(name)

    tables.edit(name, ('"200ms"', '"250ms"'))
    first = tables.run_id(f"job.{name}")
    tables.killed(point, "apply", "-auto-approve")
    tables.land(10)
    tables.apply()
    assert "No changes." in tables.plan(0)
    assert tables.run_id(f"job.{name}") != first
    tables.expect_rides(name)
    running = tables.run_id(f"job.{name}")
    tables.apply()
    assert tables.run_id(f"job.{name}") == running
    assert tables.run_id("job.steady") == steady
