"""Rows that go to another table from now on: a batch that the old table has already is not written into the
new one too.
"""

import re

import pytest

from tests.integration.project import Project, rides

pytestmark = pytest.mark.jvm


def test_a_batch_in_flight_stays_where_it_was_begun(project: Project) -> None:
    project.write(rides=rides("first"), second=rides("second", job=False))
    project.land(4)
    project.land(4)
    project.apply()
    project.expect_rides("first")
    project.run("stop", "job.first")
    forget_last_commit(project)
    project.land(4)
    project.edit("rides", ("{ table = table.first }", "{ table = table.second }"))
    blocked = project.run("plan", code=4)
    token = re.search(r'accept_result_change = "(\w+)"', blocked.out)
    assert token is not None, blocked.out
    project.edit(
        "rides",
        (
            'restart    = { backoff = "1s" }',
            f'restart    = {{ backoff = "1s" }}\n  accept_result_change = "{token[1]}"',
        ),
    )
    done = project.apply()
    assert "finishing batch" in done.text
    project.until(lambda: len(project.rows("second")) >= 4, "the last file in second")
    assert project.ids("first") == [row["id"] for row in project.landed[:8]]
    assert project.ids("second") == [row["id"] for row in project.landed[8:]]
    assert project.plan(0)


def forget_last_commit(project: Project) -> None:
    """As if the driver had died between the table's commit and its own note of it."""
    (folder,) = project.root.glob(".flareiac/checkpoints/*/first/rides/g0001/commits")
    last = max(folder.glob("[0-9]*"), key=lambda item: int(item.name))
    last.unlink()
    (folder / f".{last.name}.crc").unlink(missing_ok=True)
