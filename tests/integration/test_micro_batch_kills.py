"""The driver dies inside a micro-batch, at each point where it hurts; the next apply brings it back and every
table is exact.
"""

import os
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.integration.project import Project, streaming
from tests.support.command_line import flareiac

pytestmark = pytest.mark.jvm

MERGED = streaming(
    "kept",
    {"id": "long", "fare": "string"},
    "SELECT id % 10 AS id, max(id) AS at, max_by(fare, id) AS fare FROM rides GROUP BY 1",
    job='restart = { backoff = "1s" }',
    output="""mode  = "merge"
    merge = { on = ["id"], latest_by = "at" }""",
)
ERASED = """
table "erased_keys" {
  catalog   = catalog.lake
  namespace = "demo"
  column "key"   { type = "long" }
  column "place" { type = "string" }
}
""" + streaming(
    "erased",
    {"key": "long", "place": "string", "fare": "string"},
    "SELECT id % 10 AS key, reverse(lpad(CAST(id AS STRING), 6, '0')) AS place, fare, id % 3 = 0 AS gone "
    "FROM rides",
    job='restart = { backoff = "1s" }',
    output="""mode    = "merge"
    rebuild = "truncate"
    merge   = { on = ["key"], latest_by = "place", delete_if = "s.gone", tombstones = table.erased_keys }""",
)
"""Rides arrive in another order than that of their places, and each third one deletes its key."""
SPLIT = """
table "even" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
table "odd" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
checkpoint "split" {}
job "split" {
  checkpoint    = checkpoint.split
  foreach_batch = true
  trigger       = { processing_time = "200ms" }
  restart       = { backoff = "1s" }
  input "rides" { stream = stream.rides }
  step "clean" { sql = "SELECT id FROM rides" }
  step "even"  { sql = "SELECT id FROM clean WHERE id % 2 = 0" }
  step "odd"   { sql = "SELECT id FROM clean WHERE id % 2 = 1" }
  output "even" {
    table = table.even
    from  = "even"
  }
  output "odd" {
    table = table.odd
    from  = "odd"
  }
}
"""


POINTS = (
    "driver.in-merge@tombstones.erased:2",
    "driver.between-outputs@job.erased:2",
    "driver.in-merge@kept:2",
    "driver.between-outputs@job.split:2",
    "driver.after-output-write@even:2,driver.before-start:99",
)


@pytest.mark.parametrize(
    "half", [pytest.param(turn, marks=pytest.mark.turn(turn, 2), id=f"half-{turn}") for turn in (0, 1)]
)
def test_every_table_is_exact_wherever_the_driver_dies(own_project: Project, half: int) -> None:
    project = own_project  # a driver of another half would not know where it is to die
    project.write(merged=MERGED, split=SPLIT, erased=ERASED)
    for point in POINTS[half::2]:
        die_at(project, point)
    project.apply()
    expect(project)
    if half == 0:
        return
    die_with_a_commit_under_way(project)
    project.apply()
    expect(project)
    project.edit(
        "erased",
        ('checkpoint "erased" {}', 'checkpoint "erased" {\n  generation = 2\n  start_from = "earliest"\n}'),
    )
    text = project.apply().text
    assert "Empty table.erased for generation 2" in text
    assert "Empty table.erased_keys for generation 2" in text
    expect(project)


def die_at(project: Project, point: str) -> None:
    project.land(10)
    started = flareiac(project.root, "apply", "-auto-approve", FLAREIAC_KILL_AT=point)
    # It may have been stable before it died, or have done nothing else
    assert started.code in (0, 1, 7), started.text

    def gone_while_files_land() -> bool:
        project.land(5)
        return project.driver_pid() is None

    project.until(gone_while_files_land, f"the driver's end at {point}")


def die_with_a_commit_under_way(project: Project) -> None:
    """The data files of a batch are written, and the catalog does not take the commit because somebody else
    holds its lock.
    """
    folder = project.root / "lake"
    before = data_files(folder)
    catalog = sqlite3.connect(folder / "catalog.db", isolation_level=None, timeout=60)
    try:
        catalog.execute("BEGIN IMMEDIATE")
        project.land(10)
        project.until(lambda: len(data_files(folder) - before) > 0, "data files without a commit")
        pid = project.driver_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        project.until_driver_gone()
        catalog.execute("ROLLBACK")
    finally:
        catalog.close()


def data_files(folder: Path) -> set[Path]:
    return set(folder.glob("warehouse/**/*.parquet"))


def expect(project: Project) -> None:
    ids = [row["id"] for row in project.landed]
    latest = {key: max(one for one in ids if one % 10 == key) for key in range(10)}
    wanted = sorted((key, str(at * 2)) for key, at in latest.items())
    project.until(
        lambda: len(project.rows("even")) + len(project.rows("odd")) >= len(ids), "every ride in even or odd"
    )
    project.until(
        lambda: sorted((row["id"], row["fare"]) for row in project.rows("kept")) == wanted,
        f"{wanted} in kept",
    )
    assert project.ids("even") == [one for one in ids if one % 2 == 0]
    assert project.ids("odd") == [one for one in ids if one % 2 == 1]
    latest = {key: max((one for one in ids if one % 10 == key), key=place) for key in range(10)}
    there = sorted((key, place(one)) for key, one in latest.items() if one % 3)
    project.until(
        lambda: sorted((row["key"], row["place"]) for row in project.rows("erased")) == there,
        f"{there} in erased",
    )
    gone = {(key, place(one)) for key, one in latest.items() if one % 3 == 0}
    assert {(row["key"], row["place"]) for row in project.rows("erased_keys")} >= gone


def place(ride: int) -> str:
    return str(ride).zfill(6)[::-1]
