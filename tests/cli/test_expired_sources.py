"""A stream of a table of the project whose snapshots expire: before the plan, and between the plan and its
apply. No JVM is needed.
"""

from pathlib import Path

import pytest

from tests.cli.stream_project import JOB, TABLES, apply_tables, commit, declare
from tests.support.command_line import flareiac


@pytest.fixture
def project(tmp_path: Path) -> Path:
    apply_tables(tmp_path)
    declare(tmp_path, TABLES + JOB)
    return tmp_path


def test_a_first_start_over_expired_snapshots_is_blocked_with_the_count(project: Path) -> None:
    commit(project, 15, expired=8)
    plan = flareiac(project, "plan")
    assert (plan.code, "[FIK150]" in plan.out) == (4, True), plan.text
    assert "8 of 15 rows of table.src cannot be read as a stream." in plan.out


def test_snapshots_that_expire_after_the_plan_make_it_stale(project: Path) -> None:
    commit(project, 5)
    plan = flareiac(project, "plan", "-out=p.json")
    commit(project, 0, expired=2)
    applied = flareiac(project, "apply", "p.json")
    assert plan.code == 0, plan.text
    assert applied.code == 6, applied.text
    assert "2 of 5 rows of table.src cannot be read as a stream" in applied.text


def test_nothing_is_said_of_a_table_that_only_grew(project: Path) -> None:
    commit(project, 3)
    plan = flareiac(project, "plan")
    assert (plan.code, "starts from the beginning of its streams" in plan.out) == (0, True), plan.text
