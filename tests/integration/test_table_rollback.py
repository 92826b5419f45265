"""``table snapshots`` and ``table rollback``: back to an earlier snapshot, refused where somebody would be
hurt.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.integration.project import Project, rides

TABLE = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
table "orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
"""


@pytest.fixture
def plain(tmp_path: Path) -> Project:
    """A project with one table and no jobs: it needs no JVM."""
    made = Project(tmp_path)
    made.write(main=TABLE)
    made.apply()
    return made


def append(project: Project, *ids: int) -> int:
    """Writes as another program does; returns the snapshot."""
    table = project.table("orders")
    table.append(pa.Table.from_pylist([{"id": each} for each in ids], schema=table.schema().as_arrow()))
    head = table.refresh().current_snapshot()
    assert head is not None
    return int(head.snapshot_id)


def snapshots(project: Project) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(project.run("table", "snapshots", "table.orders", "-json").out)[
        "snapshots"
    ]
    return found


def test_a_table_goes_back_and_forth_and_plan_stays_quiet(plain: Project) -> None:
    first, second = append(plain, 1), append(plain, 2)
    assert [(row["id"], row["current"], row["total"]) for row in snapshots(plain)] == [
        (second, True, 2),
        (first, False, 1),
    ]
    said = plain.run("table", "rollback", "table.orders", f"-to={first}", "-auto-approve").out
    assert plain.ids("orders") == [1]
    assert f"flareiac table rollback table.orders -to={second}" in said
    assert "No changes." in plain.plan(0)
    assert "No drift" in plain.run("drift").out
    assert [row["names"] for row in snapshots(plain)] == [[f"flareiac-before-rollback-{second}"], ["main"]]

    plain.run("table", "rollback", "table.orders", f"-to={second}", "-auto-approve")
    assert plain.ids("orders") == [1, 2]
    append(plain, 3)
    assert plain.ids("orders") == [1, 2, 3]
    assert "No changes." in plain.plan(0)


def test_the_list_is_for_people(plain: Project) -> None:
    assert "nothing was ever written" in plain.run("table", "snapshots", "table.orders").out
    first = append(plain, 1)
    append(plain, 2)
    said = plain.run("table", "snapshots", "table.orders", "-limit=1").out
    assert str(first) not in said
    assert "1 older" in said


def test_going_to_where_it_stands_does_nothing(plain: Project) -> None:
    only = append(plain, 1)
    assert "already" in plain.run("table", "rollback", "table.orders", f"-to={only}").out
    assert [row["names"] for row in snapshots(plain)] == [["main"]]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("table.orders",), "No earlier state is recorded"),
        (("table.orders", "-to=17"), "lake.demo.orders no longer has snapshot 17"),
        (("table.nothing",), "The state does not hold table.nothing"),
    ],
)
def test_what_can_not_be_is_refused_with_its_reason(
    plain: Project, words: tuple[str, ...], complaint: str
) -> None:
    append(plain, 1)
    assert complaint in plain.run("table", "rollback", *words, code=1).err
    assert plain.ids("orders") == [1]


def test_another_table_of_the_same_name_is_left_alone(plain: Project) -> None:
    first = append(plain, 1)
    other = plain.table("orders")
    other.catalog.drop_table(("demo", "orders"))
    other.catalog.create_table(("demo", "orders"), other.schema())
    refused = plain.run("table", "rollback", "table.orders", f"-to={first}", "-auto-approve", code=1)
    assert "is another table than the recorded one" in refused.err


def test_a_saved_plan_is_stale_after_a_rollback(plain: Project) -> None:
    first = append(plain, 1)
    append(plain, 2)
    plain.edit("main", ('namespace = "demo"', 'namespace = "demo"\n  comment = "orders"'))
    plain.run("plan", "-out=saved")
    plain.run("table", "rollback", "table.orders", f"-to={first}", "-auto-approve")
    assert "serial" in plain.run("apply", "-auto-approve", "saved", code=6).err


def test_it_is_shown_and_asked_for_before_anything_happens(plain: Project) -> None:
    first = append(plain, 1)
    append(plain, 2)
    last = append(plain, 3)
    before = plain.table("orders").metadata_location
    asked = plain.run("table", "rollback", "table.orders", f"-to={first}", code=8)
    assert f"table.orders goes back to snapshot {first} of " in asked.out
    assert (
        f"the 2 snapshots after it are no longer part of the table, with 3 rows; {last} is kept for 7 days"
        in asked.out
    )
    assert "Use -auto-approve" in asked.err
    assert plain.table("orders").metadata_location == before
    assert "No changes." in plain.plan(0)


@pytest.mark.parametrize(
    ("point", "told", "left"),
    [("apply.intent", "had not done this", [1, 2]), ("apply.before-result", "had done this", [1])],
)
def test_a_rollback_that_was_killed_is_found_out_by_the_next_apply(
    plain: Project, point: str, told: str, left: list[int]
) -> None:
    first = append(plain, 1)
    append(plain, 2)
    plain.killed(point, "table", "rollback", "table.orders", f"-to={first}", "-auto-approve")
    assert plain.ids("orders") == left
    assert "interrupted while it worked on table.orders" in plain.run("plan").err.lower().replace(
        "it ended while", "interrupted while"
    )
    assert (
        "The last apply was interrupted"
        in plain.run("table", "rollback", "table.orders", f"-to={first}", "-auto-approve", code=1).err
    )
    assert f"table.orders: the interrupted apply {told} (rollback)" in plain.apply().out
    assert plain.ids("orders") == left
    assert "No changes." in plain.plan(0)


@pytest.mark.jvm
def test_back_to_what_was_there_before_a_rebuild(own_project: Project) -> None:
    """A table that a new generation emptied gets its old rows back, once the jobs that use it have
    stopped.
    """
    project = own_project
    project.write(rides=rides("rides"))
    project.land(20)
    project.apply()
    project.expect_rides("rides")
    before = project.rows("rides")

    project.edit(
        "rides",
        ('checkpoint "rides" {}', 'checkpoint "rides" {\n  generation = 2\n  start_from = "earliest"\n}'),
    )
    project.edit(
        "rides",
        ("table = table.rides", 'table   = table.rides\n    rebuild = "truncate"'),
        ("SELECT id, city", "SELECT id + 1000 AS id, city"),
    )
    project.edit(
        "rides",
        ('output "rides" { table', 'output "rides" {\n    table'),
        ('"truncate" }', '"truncate"\n  }'),
    )
    project.apply()
    project.until(lambda: len(project.rows("rides")) == 20, "the rebuilt table")
    assert min(project.ids("rides")) == 1000

    refused = project.run("table", "rollback", "table.rides", code=1).err
    assert "job.rides writes table.rides and has not stopped" in refused
    project.run("stop", "job.rides")
    said = project.run("table", "rollback", "table.rides", "-auto-approve").out
    assert "job.rides goes on where its checkpoint stands" in said
    assert sorted(project.rows("rides"), key=lambda row: row["id"]) == sorted(
        before, key=lambda row: row["id"]
    )
    project.run("start", "job.rides")
    project.land(5)
    project.until(lambda: len(project.rows("rides")) == 25, "what came after the rollback")
    assert "No changes." in project.plan(0)
