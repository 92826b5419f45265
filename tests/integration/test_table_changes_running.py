"""Tables change under queries that write them, stream from them and look rows up in them: plan says who
stops, and no row is lost.

One project for all: the changes follow each other on the same running jobs.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from tests.integration.project import Project, streaming

pytestmark = pytest.mark.jvm

RIDES = """
table "rides" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long not null" }
  column "city" { type = "string" }
  column "fare" { type = "int" }
}
checkpoint "rides" {}
job "rides" {
  checkpoint = checkpoint.rides
  trigger    = { processing_time = "200ms" }
  input "rides" { stream = stream.rides }
  step "clean" { sql = "SELECT id, city, CAST(fare AS INT) AS fare FROM rides" }
  output "rides" { table = table.rides }
}
"""
COPY = """
stream "all" {
  table { table = table.rides }
}
""" + streaming("copy", {"id": "long"}, "SELECT id FROM all", source="all")
ZONES = """
table "zones" {
  catalog   = catalog.lake
  namespace = "demo"
  column "city" { type = "string" }
  column "zone" { type = "int" }
  column "mayor" { type = "string" }
}
table "zoned" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
  column "zone" { type = "int" }
}
checkpoint "zoned" {}
job "zoned" {
  checkpoint = checkpoint.zoned
  trigger    = { processing_time = "200ms" }
  input "rides" { stream = stream.rides }
  input "zones" { table = table.zones }
  step "joined" { sql = "SELECT r.id, z.zone FROM rides r LEFT JOIN zones z ON r.city = z.city" }
  output "zoned" { table = table.zoned }
}
"""
CITIES = {"Rome": 1, "Oslo": 2, "Bern": 3}
JOBS = ("job.copy", "job.rides", "job.zoned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An edit of one file, and the jobs that stop and start for it; the others run on."""

    name: str
    file: str
    edits: tuple[tuple[str, str], ...]
    restarted: tuple[str, ...] = ()


NAMED = '  namespace = "demo"\n  column "id" { type = "long not null" }'
ZONES_NAMED = '  namespace = "demo"\n  column "city" { type = "string" }\n  column "zone"'
CHANGES = (
    Change(
        name="comment, property and a new column",
        file="rides",
        edits=(
            (
                NAMED,
                (
                    '  comment = "rides"\n  properties = { "write.parquet.row-group-limit" = "1000" '
                    f"}}\n{NAMED}"
                ),
            ),
            (
                '  column "city" { type = "string" }\n',
                '  column "note" { type = "string" }\n  column "city" { type = "string" }\n',
            ),
        ),
    ),
    Change(
        name="partition, sort, identify",
        file="rides",
        edits=(
            ('properties = { "write.parquet.row-group-limit" = "1000" }', "properties = {}"),
            (
                NAMED,
                (
                    f'{NAMED}\n  partition_by = [bucket(2, "id")]\n  sort_by = [asc("fare")]\n  identifier = '
                    '["id"]'
                ),
            ),
        ),
    ),
    Change(
        name="partition again, identify by nothing",
        file="rides",
        edits=(('[bucket(2, "id")]', '[identity("city")]'), ('identifier = ["id"]', "identifier = []")),
    ),
    Change(
        name="move a column",
        file="rides",
        edits=(
            ('  column "note" { type = "string" }\n', ""),
            (
                '  column "fare" { type = "int" }\n',
                '  column "fare" { type = "int" }\n  column "note" { type = "string" }\n',
            ),
        ),
    ),
    Change(
        name="rename a column that no query names",
        file="rides",
        edits=(('column "note"', 'column "remark"'), (NAMED, f'{NAMED}\n  renamed = {{ note = "remark" }}')),
        restarted=("job.rides",),
    ),
    Change(
        name="widen",
        file="rides",
        edits=(('"fare" { type = "int" }', '"fare" { type = "long" }'),),
        restarted=("job.copy", "job.rides"),
    ),
    Change(
        name="drop",
        file="rides",
        edits=(
            ('  column "remark" { type = "string" }\n', ""),
            ('renamed = { note = "remark" }', "renamed = {}"),
        ),
        restarted=("job.copy", "job.rides"),
    ),
    Change(
        name="rename a written column",
        file="rides",
        edits=(
            ('column "city"', 'column "town"'),
            ("renamed = {}", 'renamed = { city = "town" }'),
            ("SELECT id, city,", "SELECT id, city AS town,"),
            ('identity("city")', 'identity("town")'),
        ),
        restarted=("job.rides",),
    ),
    Change(
        name="make optional",
        file="rides",
        edits=(('"long not null"', '"long"'),),
        restarted=("job.copy", "job.rides"),
    ),
    Change(
        name="comment and a new column of a lookup",
        file="zones",
        edits=(
            (ZONES_NAMED, f'  comment = "zones"\n{ZONES_NAMED}'),
            ('  column "mayor"', '  column "size" { type = "long" }\n  column "mayor"'),
        ),
    ),
    Change(
        name="rename an unread column of a lookup",
        file="zones",
        edits=(
            ('column "size"', 'column "people"'),
            (ZONES_NAMED, f'  renamed = {{ size = "people" }}\n{ZONES_NAMED}'),
        ),
        restarted=("job.zoned",),
    ),
    Change(
        name="drop an unread column of a lookup",
        file="zones",
        edits=(
            ('  column "people" { type = "long" }\n', ""),
            ('renamed = { size = "people" }', "renamed = {}"),
        ),
        restarted=("job.zoned",),
    ),
    Change(
        name="widen a column of a lookup",
        file="zones",
        edits=(
            ('"zone" { type = "int" }\n  column "mayor"', '"zone" { type = "long" }\n  column "mayor"'),
            ("r.id, z.zone", "r.id, CAST(z.zone AS INT) AS zone"),
        ),
        restarted=("job.zoned",),
    ),
    Change(
        name="version 3, a default, a branch and a tag",
        file="rides",
        edits=(
            (
                '  namespace = "demo"\n',
                (
                    '  namespace = "demo"\n  format_version = 3\n  branch "audit" { retain = "7d" }\n  tag '
                    '"third" {}\n'
                ),
            ),
            (
                '}\ncheckpoint "rides"',
                '  column "kind" {\n    type = "string"\n    default = "web"\n  }\n}\ncheckpoint "rides"',
            ),
        ),
    ),
)


@pytest.fixture(scope="module")
def running(project: Project) -> Project:
    """The three jobs, after their first rows."""
    project.write(rides=RIDES, zones=ZONES)
    project.run("apply", "-auto-approve", "-target=table.zones")
    zones = project.table("zones")
    rows = [{"city": city, "zone": zone, "mayor": None} for city, zone in CITIES.items()]
    zones.append(pa.Table.from_pylist(rows, schema=zones.schema().as_arrow()))
    project.write(copy=COPY)
    project.land(6)
    project.apply()
    exact(project)
    return project


def exact(project: Project) -> None:
    """Waits until every landed ride went through all jobs, once and with its values."""
    landed = {row["id"]: row for row in project.landed}
    for name in ("rides", "copy", "zoned"):
        project.expect_rides(name)
    for row in project.rows("rides"):
        wanted = landed[row["id"]]
        assert (row.get("city") or row.get("town"), row["fare"]) == (wanted["city"], int(wanted["fare"]))
    assert {row["id"]: row["zone"] for row in project.rows("zoned")} == {
        number: CITIES[row["city"]] for number, row in landed.items()
    }


def runs(project: Project) -> dict[str, Any]:
    return {job: row["run_id"] for job, row in project.status().items()}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_plan_says_who_stops_and_so_it_is(running: Project, change: Change) -> None:
    before = runs(running)
    running.edit(change.file, *change.edits)
    planned = running.plan(2)
    assert tuple(job for job in JOBS if f"# {job} will be updated" in planned) == change.restarted
    running.land(6)
    running.apply()
    running.land(6)
    exact(running)
    after = runs(running)
    assert tuple(job for job in JOBS if after[job] != before[job]) == change.restarted
    assert all(row["failures"] == 0 for row in running.status().values())


def test_a_table_gets_another_name_and_its_old_one_back(running: Project) -> None:
    """Its writer and its reader stop, and go on where they were under the new name."""
    uuid = running.table("rides").metadata.table_uuid
    new = '  namespace = "moved"\n  name = "trips"\n'
    for edit in (('  namespace = "demo"\n', new), (new, '  namespace = "demo"\n')):
        before = runs(running)
        running.edit("rides", edit)
        planned = running.plan(2)
        assert "table.rides will be updated in-place" in planned
        assert "rename the table" in planned
        running.land(6)
        running.apply()
        running.land(6)
        running.expect_rides("copy")
        after = runs(running)
        assert tuple(job for job in JOBS if after[job] != before[job]) == ("job.copy", "job.rides")
    exact(running)
    assert running.table("rides").metadata.table_uuid == uuid


def test_a_column_that_a_job_still_names_stays(running: Project) -> None:
    """Nobody stops for what cannot be."""
    before = runs(running)
    with running.edited("zones", ('  column "zone" { type = "long" }\n', "")):
        assert "job.zoned" in running.run("plan", code=4).out
    with running.edited(
        "rides",
        ('  column "fare" { type = "long" }\n', ""),
        ('  sort_by = [asc("fare")]\n', "  sort_by = []\n"),
    ):
        blocked = running.run("apply", "-auto-approve", code=4).out
        assert "job.rides still writes it" in blocked
    assert runs(running) == before
    exact(running)


def test_a_target_takes_along_who_must_stop(running: Project) -> None:
    before = runs(running)
    running.edit(
        "rides",
        ('column "town"', 'column "city"'),
        ('renamed = { city = "town" }', 'renamed = { town = "city" }'),
        ("city AS town", "city"),
        ('identity("town")', 'identity("city")'),
    )
    running.land(6)
    running.run("apply", "-auto-approve", "-target=table.rides")
    running.land(6)
    exact(running)
    after = runs(running)
    assert [job for job in JOBS if after[job] != before[job]] == ["job.rides"]
