"""A table that others own is streamed from and looked up in, follows what they do to it, and is never
touched.
"""

from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import StringType

from tests.integration.project import Project

pytestmark = pytest.mark.jvm

COPY = """
data "table" "events" {
  namespace = "theirs"
}
stream "events" {
  table { table = data.table.events }
}
table "copy" {
  namespace = "demo"
  column "id"   { type = "long" }
  column "name" { type = "string" }
}
checkpoint "copy" {}
job "copy" {
  checkpoint = checkpoint.copy
  trigger    = { processing_time = "200ms" }
  input "events" { stream = stream.events }
  input "all"    { table = data.table.events }
  step "joined" { sql = "SELECT events.id, all.name FROM events JOIN all ON events.id = all.id" }
  output "copy" { table = table.copy }
}
"""


def theirs(project: Project) -> Any:
    """The other owner's catalog."""
    (project.root / "lake" / "warehouse").mkdir(parents=True, exist_ok=True)
    lake = project.root / "lake"
    return SqlCatalog(
        "lake", uri=f"sqlite:///{lake}/catalog.db?timeout=15", warehouse=f"file://{lake}/warehouse"
    )


def add(catalog: Any, *ids: int) -> None:
    catalog.load_table("theirs.events").append(
        pa.table({"id": list(ids), "name": [f"n{each}" for each in ids]})
    )


def test_what_others_own_is_read_and_left_alone(project: Project) -> None:
    catalog = theirs(project)
    catalog.create_namespace("theirs")
    catalog.create_table("theirs.events", pa.schema([("id", pa.int64()), ("name", pa.string())]))
    uuid = catalog.load_table("theirs.events").metadata.table_uuid
    add(catalog, 1, 2)
    project.write(copy=COPY)
    project.apply()
    project.run("validate")
    assert "data.table.events" not in project.run("state", "list").out
    project.until(lambda: sorted(row["id"] for row in project.rows("copy")) == [1, 2], "the rows of others")
    with catalog.load_table("theirs.events").update_schema() as change:
        change.add_column("note", StringType())
    add_noted(catalog, 3)
    project.until(
        lambda: sorted(row["id"] for row in project.rows("copy")) == [1, 2, 3], "the row with a new column"
    )
    assert "No changes." in project.plan(0)  # a column that no step reads
    project.run("restart", "job.copy")  # on the recorded definition, which has to say which table it was
    add_noted(catalog, 4)
    project.until(
        lambda: sorted(row["id"] for row in project.rows("copy")) == [1, 2, 3, 4], "a row after the restart"
    )
    with catalog.load_table("theirs.events").update_schema() as change:
        change.rename_column("name", "title")
    refused = project.run("plan", code=1).text  # the query would fail at its next start
    assert "FIK158" in refused
    assert 'There is no column "all.name"' in refused
    project.write(copy=COPY.replace("all.name", "all.title AS name"))
    plan = project.plan(2)
    assert '- input.events.columns.name  = "string"' in plan, plan
    assert '+ input.events.columns.title = "string"' in plan, plan
    assert "Plan: 0 to add, 1 to change, 0 to destroy. Restarts: 1." in plan
    assert catalog.load_table("theirs.events").metadata.table_uuid == uuid
    project.remove("copy")
    project.apply()
    assert catalog.table_exists("theirs.events")
    catalog.close()


def add_noted(catalog: Any, number: int) -> None:
    catalog.load_table("theirs.events").append(
        pa.table({"id": [number], "name": [f"n{number}"], "note": ["new"]})
    )
