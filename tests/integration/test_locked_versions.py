"""A project keeps the versions of its lock file until ``init -upgrade``; the plan then shows the restart."""

import pytest

from flareiac.sdk.versions import ICEBERG, ICEBERG_RELEASES, SQLITE_JDBC
from flareiac_spark.runtime.coordinates import parse_coordinates, version_of
from flareiac_spark.runtime.jars import fetch_jars
from flareiac_spark.runtime.lock_file import LOCK_FILE, write_lock
from tests.integration.project import COUNTS, LAKE, Project, rides

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

BEFORE = ICEBERG_RELEASES[1][0]
STOPPED = rides("c").replace("checkpoint = checkpoint.c", "checkpoint = checkpoint.c\n  stopped = true")


@pytest.fixture(scope="module")
def older(project: Project) -> Project:
    """A project that was locked by an earlier release and whose jobs run with its Iceberg."""
    lock(project, version_of(BEFORE))
    project.write(lake=LAKE, a=rides("a"), counts=COUNTS, c=STOPPED)
    project.land(30)
    project.apply()
    project.expect_rides("a")
    return project


def lock(project: Project, iceberg: str) -> None:
    """Writes the lock file of a version of Iceberg."""
    wanted = (BEFORE.replace(version_of(BEFORE), iceberg), SQLITE_JDBC)
    jars = fetch_jars(parse_coordinates(wanted), lambda _text: None, locked={})
    write_lock(project.root, {jar.coordinate: jar.sha256 for jar in jars})


def runs_with(project: Project) -> set[str]:
    """The versions of Iceberg's jars that the driver's Java has on its class path."""
    status = project.application()
    command = (project.control.parent / f"/proc/{status['jvm_pid'] or status['pid']}/cmdline").read_text()
    return {
        version
        for version in ("1.11.0", ICEBERG)
        if f"iceberg-spark-runtime-4.1_2.13-{version}.jar" in command
    }


def test_a_later_release_of_the_program_changes_nothing_by_itself(older: Project) -> None:
    lock = (older.root / LOCK_FILE).read_bytes()
    older.quiet()
    said = older.run("init").out
    assert f"{BEFORE} (locked; flareiac init -upgrade takes {ICEBERG})" in said
    assert f"{LOCK_FILE} unchanged" in said
    assert (older.root / LOCK_FILE).read_bytes() == lock
    older.quiet()
    assert runs_with(older) == {version_of(BEFORE)}


def test_an_upgrade_is_a_restart_that_the_plan_shows(older: Project) -> None:
    said = older.run("init", "-upgrade").out
    assert f"(was {version_of(BEFORE)}" in said
    assert f"{LOCK_FILE} written" in said
    text = older.plan(2)
    assert f"iceberg-spark-runtime-4.1_2.13 {ICEBERG} is locked, and {version_of(BEFORE)} runs" in text
    assert "job.a" in text
    assert "job.counts" in text
    assert "job.c " not in text, "it is stopped"
    before = older.application()["id"]
    older.run("plan", "-out=upgrade.plan")
    older.run("apply", "upgrade.plan")
    assert older.application()["id"] != before
    assert runs_with(older) == {ICEBERG}
    older.quiet()
    older.land(20)
    older.expect_rides("a")
    counted = sum(row["rides"] for row in older.rows("counts"))
    older.until(lambda: sum(row["rides"] for row in older.rows("counts")) == 50, f"50 rides after {counted}")
    assert f"{LOCK_FILE} unchanged" in older.run("init", "-upgrade").out


def test_a_plan_made_before_the_lock_file_changed_is_refused(older: Project) -> None:
    older.edit("a", ("SELECT id, city FROM rides", "SELECT id, upper(city) AS city FROM rides"))
    older.run("plan", "-out=before.plan")
    lock(older, version_of(BEFORE))
    refused = older.run("apply", "before.plan", code=1)
    assert f"{LOCK_FILE} had other content when the plan was made" in refused.err
    assert f"iceberg-spark-runtime-4.1_2.13 {version_of(BEFORE)} is locked" in older.plan(2)


@pytest.mark.parametrize("point", ["analysis.held", "restart.before", "restart.after"])
def test_an_apply_that_dies_is_taken_up_by_the_next_plan(older: Project, point: str) -> None:
    """The jobs run with the jars of before, and a plan says so, or with those that are locked."""
    locked, other = (
        (ICEBERG, version_of(BEFORE)) if runs_with(older) != {ICEBERG} else (version_of(BEFORE), ICEBERG)
    )
    lock(older, locked)
    older.killed(point, "apply", "-auto-approve")
    code = older.run("plan", "-detailed-exitcode", code=None).code
    assert (code, runs_with(older)) in ((2, {other}), (2, {locked}), (0, {locked}))
    older.apply()
    assert runs_with(older) == {locked}
    older.quiet()
    older.land(5)
    older.expect_rides("a")
