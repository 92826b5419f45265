"""Checkpoints in object storage: verdicts, generations, carry-over and a killed driver, as with a folder."""

import json
from collections import Counter
from collections.abc import Iterator

import boto3
import pytest

from tests.integration.project import COUNTS, LAKE, Project, rides, streaming
from tests.support.object_storage import buckets

pytestmark = pytest.mark.jvm

AT = 'checkpoint "first" {\n  location = "s3://states/app/first"\n'
FIRST = rides("first").replace('checkpoint "first" {', AT)
COUNTED = COUNTS.replace(
    'checkpoint "counts" {', 'checkpoint "counts" {\n  location = "s3a://states/app//counts/"\n'
)

COPY = 'stream "copied" {\n  table { table = table.first }\n}\n' + streaming(
    "copied", {"id": "long", "city": "string"}, "SELECT id, city FROM copied", source="copied"
).replace('checkpoint "copied" {', 'checkpoint "copied" {\n  location = "s3://states/app/copied"\n')


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, java_home: object) -> Iterator[Project]:
    with buckets("states"):
        made = Project(tmp_path_factory.mktemp("project"))
        made.write(lake=LAKE, first=FIRST, counts=COUNTED)
        (made.root / "landing" / "rides").mkdir(parents=True)
        made.run("init")
        try:
            yield made
        finally:
            made.close()


def keys(prefix: str) -> list[str]:
    found = boto3.client("s3").list_objects_v2(Bucket="states", Prefix=prefix).get("Contents", ())
    return [item["Key"] for item in found]


def test_a_job_runs_and_its_checkpoint_is_read_without_spark(project: Project) -> None:
    project.land(10)
    project.apply()
    project.expect_rides("first")
    assert "app/first/first/g0001/metadata" in keys("app/first/") or "app/first/rides/g0001/metadata" in keys(
        "app/first/"
    )
    assert "app/counts/managed-by.json" in keys("app/counts/")
    assert "No changes." in project.quiet()
    shown = project.run("checkpoint", "show", "checkpoint.counts").out
    assert "s3://states/app/counts" in shown
    assert "stateStoreSave" in shown


def test_a_dangerous_change_is_told_from_what_is_there(project: Project) -> None:
    with project.edited("counts", ("GROUP BY city", "GROUP BY city, rider")):
        refused = project.run("plan", code=4)
    assert "Spark 4.1 refuses other grouping keys" in " ".join(refused.out.split())


def test_a_new_generation_goes_on_where_the_old_one_stands(project: Project) -> None:
    project.edit(
        "first",
        ('app/first"\n', 'app/first"\n  generation = 2\n'),
        ("SELECT id, city FROM rides", "SELECT id, city FROM rides WHERE id >= 0"),
    )
    project.land(5)
    assert "begins generation 2: it goes on where the last one stands" in project.plan(2)
    done = project.apply()
    assert "generation 2 goes on after batch" in done.text
    project.land(5)
    project.expect_rides("first")
    assert not [key for key in keys("app/first/") if ".seeding" in key]


def test_a_killed_driver_loses_and_repeats_nothing(project: Project) -> None:
    project.land(5)
    project.kill_driver()
    project.land(5)
    project.apply()
    project.expect_rides("first")
    wanted = Counter(ride["city"] for ride in project.landed)
    project.until(lambda: _counted(project) == wanted, f"the counts {wanted}")


def _counted(project: Project) -> dict[str, int]:
    return {row["city"]: row["rides"] for row in project.rows("counts")}


def test_a_stream_of_a_table_notes_its_beginning_there(project: Project) -> None:
    """Iceberg writes and reads that note itself, with the client of the table's files."""
    project.write(copied=COPY)
    project.apply()
    project.expect_rides("copied")
    assert "app/copied/copied/g0001/sources/0/offsets/0" in keys("app/copied/")
    project.kill_driver()
    project.land(5)
    project.apply()
    project.expect_rides("copied")
    assert "No changes." in project.quiet()
    project.remove("copied")
    project.apply()


def test_an_emptied_bucket_is_reported_and_nothing_starts_again(project: Project) -> None:
    client = boto3.client("s3")
    kept = {key: client.get_object(Bucket="states", Key=key)["Body"].read() for key in keys("app/first/")}
    for key in kept:
        client.delete_object(Bucket="states", Key=key)
    refused = project.run("plan", code=4)
    assert "FIK060" in refused.out
    for key, content in kept.items():
        client.put_object(Bucket="states", Key=key, Body=content)
    project.land(5)
    project.apply()
    project.expect_rides("first")


def test_a_checkpoint_is_deleted_with_its_block(project: Project) -> None:
    project.edit("first", ('app/first"\n', 'app/first"\n  on_destroy = "delete"\n'))
    project.apply()
    project.remove("first")
    project.apply()
    assert keys("app/first/") == []
    assert json.loads(project.run("status", "-json").out)["jobs"]
