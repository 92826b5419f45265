"""The main road: create, look, edit, drift, heal, destroy; with exact data at every stop."""

import pytest

from tests.integration.project import COUNTS, Project, rides

pytestmark = pytest.mark.jvm

CITIES = """
table "cities" {
  catalog   = catalog.lake
  namespace = "demo"
  column "city"    { type = "string not null" }
  column "country" { type = "string" }
}
job "cities" {
  mode = "batch"
  input "source" {
    files {
      path    = "landing/cities"
      format  = "json"
      columns = { city = "string", country = "string" }
    }
  }
  step "trimmed" { sql = "SELECT city, trim(country) AS country FROM source" }
  output "cities" {
    table = table.cities
    mode  = "overwrite"
  }
}
"""
JOINED = (
    (
        'column "city" { type = "string" }',
        'column "city" { type = "string" }\n  column "country" { type = "string" }',
    ),
    (
        'input "rides" { stream = stream.rides }',
        'input "rides" { stream = stream.rides }\n  input "cities" { table = table.cities }',
    ),
    (
        "SELECT id, city FROM rides",
        "SELECT r.id, r.city, c.country FROM rides r LEFT JOIN cities c ON r.city = c.city",
    ),
    ('"200ms" }', '"200ms" }\n  depends_on = [job.cities]'),
)


def expect_counts(project: Project) -> None:
    wanted = sorted(
        (city, len([row for row in project.landed if row["city"] == city]))
        for city in ("Rome", "Oslo", "Bern")
    )
    project.until(
        lambda: sorted((row["city"], row["rides"]) for row in project.rows("counts")) == wanted,
        f"the counts {wanted}",
    )


def test_the_whole_road(project: Project) -> None:
    project.write(cities=CITIES, counts=COUNTS, rides=rides("rides"))
    project.edit("rides", *JOINED)
    project.drop(
        "cities", "cities", [{"city": "Rome", "country": " Italy "}, {"city": "Oslo", "country": "Norway"}]
    )
    project.land(100)

    # It is not there, then it is, and then nothing is left to do.
    assert "Plan: 8 to add" in project.plan(2)
    project.apply()
    project.expect_rides("rides")
    assert {row["country"] for row in project.rows("rides") if row["city"] == "Rome"} == {"Italy"}
    expect_counts(project)
    assert {job: row["phase"] for job, row in project.status().items() if job == "job.cities"} == {
        "job.cities": "completed"
    }
    runs = {job: project.run_id(job) for job in ("job.rides", "job.counts")}
    assert "No changes." in project.plan(0)
    project.apply()
    assert {job: project.run_id(job) for job in runs} == runs
    assert project.driver_pid() is not None

    # A column, its SQL, another trigger: metadata and one restart.
    files = len(project.table("rides").inspect.files())
    project.edit(
        "rides",
        (
            'column "country" { type = "string" }',
            'column "country" { type = "string" }\n  column "rider" { type = "string" }',
        ),
        ("c.country FROM", "c.country, r.rider FROM"),
        ('"200ms"', '"300ms"'),
    )
    planned = project.run("plan", "-detailed-exitcode", "-out=plan.json", code=2).out
    assert "Plan: 0 to add, 2 to change, 0 to destroy." in planned
    assert "job.counts" not in planned
    assert "metadata only" in planned
    assert "stops after its current batch and starts on the same checkpoint" in planned
    project.run("apply", "plan.json")
    assert project.run_id("job.counts") == runs["job.counts"]
    assert project.run_id("job.rides") != runs["job.rides"]
    assert len(project.table("rides").inspect.files()) == files
    project.land(50)
    project.expect_rides("rides")
    assert {row["rider"] for row in project.rows("rides") if row["id"] < 100} == {None}
    assert sorted(
        row["rider"] for row in project.rows("rides") if row["id"] >= 100 and row["rider"]
    ) == sorted(row["rider"] for row in project.landed[100:] if row["rider"])

    # Somebody changes a property and kills the driver, while data goes on landing.
    with project.table("rides").transaction() as transaction:
        transaction.set_properties({"write.parquet.compression-codec": "gzip"})
    project.edit(
        "rides",
        (
            'namespace = "demo"',
            'namespace = "demo"\n  properties = { "write.parquet.compression-codec" = "zstd" }',
        ),
    )
    project.run("plan", "-detailed-exitcode", code=2)
    project.apply()
    with project.table("rides").transaction() as transaction:
        transaction.set_properties({"write.parquet.compression-codec": "gzip"})
    project.kill_driver()
    project.land(50)
    found = project.run("drift", code=3).out
    assert "write.parquet.compression-codec" in found
    assert "job.rides" in found
    assert "job.counts" in found
    assert "is not running" in found
    project.apply()
    project.run("drift")
    assert project.table("rides").properties["write.parquet.compression-codec"] == "zstd"
    project.expect_rides("rides")
    expect_counts(project)

    # The end: jobs stop, tables stay.
    ended = project.run("destroy", "-auto-approve").out
    assert "stay" in ended
    assert project.run("state", "list").out == ""
    project.expect_rides("rides")
