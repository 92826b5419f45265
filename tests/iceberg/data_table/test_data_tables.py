"""``data "table"``: read when a plan is made, never planned, never recorded; no system is asked where none is
needed.
"""

import json
from pathlib import Path

import pytest

from tests.iceberg.discovery.shapes import catalog_of, make_lake
from tests.support.command_line import flareiac

PROJECT = """
catalog "lake" {}
engine "local" {}
data "table" "raw" {
  namespace = "sales"
  name      = "events"
}
stream "raw" {
  table { table = data.table.raw }
}
table "copy" {
  namespace = "mine"
  column "id"     { type = "long" }
  column "region" { type = "string" }
}
checkpoint "copy" {}
job "copy" {
  checkpoint = checkpoint.copy
  input "raw"    { stream = stream.raw }
  input "lookup" { table = data.table.raw }
  step "joined" { sql = "SELECT raw.id, lookup.region FROM raw JOIN lookup ON raw.id = lookup.id" }
  output "copy" { table = table.copy }
}
output "place" { value = "${data.table.raw.namespace}.${data.table.raw.name}" }
output "uuid" { value = data.table.raw.uuid }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    return tmp_path


def test_its_columns_are_those_of_the_jobs_that_read_it_and_nothing_of_it_is_planned(project: Path) -> None:
    make_lake(project)
    plan = flareiac(project, "plan")
    assert plan.code == 0, plan.text
    assert "Plan: 3 to add, 0 to change, 0 to destroy." in plan.out
    flareiac(project, "plan", "-out=saved.plan")
    shown = json.loads(flareiac(project, "show", "-json", "saved.plan").out)
    (job,) = (each for each in shown["resource_changes"] if each["address"] == "job.copy")
    columns = job["change"]["after"]["inputs"]["raw"]["columns"]
    assert columns == {"id": "long not null", "region": "string"}
    assert "# data.table.raw" not in plan.out
    assert '+ place = "sales.events"' in plan.out
    assert '+ input "raw" { ' in plan.out


def test_validate_and_doctor_ask_no_catalog(project: Path) -> None:
    assert flareiac(project, "validate").code == 0
    plan = flareiac(project, "plan")
    assert "FIC060" not in flareiac(project, "doctor").text
    assert (plan.code, "The object of a data block does not exist [FIC060]" in plan.err) == (1, True), (
        plan.text
    )
    assert 'on main.flare.hcl line 4, in data "table" "raw"' in plan.err


def test_what_does_not_depend_on_one_that_is_missing_is_planned(project: Path) -> None:
    whole = flareiac(project, "plan")
    part = flareiac(project, "apply", "-target=table.copy", "-auto-approve")
    without = flareiac(project, "plan", "-exclude=job.copy")
    kept = flareiac(project, "maintain", "table.copy", "-auto-approve")
    drift = flareiac(project, "drift")
    assert (whole.code, "# table.copy will be created" in whole.out, "job.copy depends on" in whole.err) == (
        1,
        True,
        True,
    ), whole.text
    assert (part.code, "1 added" in part.out) == (0, True), part.text
    assert (without.code, "FIC060" in without.text) == (0, False), without.text
    assert (kept.code, "FIC060" in kept.text) == (0, False), kept.text
    assert (drift.code, "FIC060" in drift.err, "1 resource checked" in drift.out) == (1, True, True), (
        drift.text
    )


def test_what_was_an_output_stays_one_while_it_can_not_be_read(project: Path) -> None:
    make_lake(project)
    assert flareiac(project, "apply", "-target=table.copy", "-auto-approve").code == 0
    before = flareiac(project, "output", "uuid").out
    catalog = catalog_of(project)
    moved = Path(catalog.load_table("sales.events").metadata_location.removeprefix("file://"))
    catalog.close()
    moved.rename(moved.with_suffix(".away"))
    again = flareiac(project, "apply", "-target=table.copy", "-auto-approve")
    after = flareiac(project, "output", "uuid").out
    assert (again.code, before, after) == (0, before, before), again.text
    assert len(before) > 30


@pytest.mark.parametrize("used", ["properties = { x = data.table.raw.uuid }", "for_each = toset([local.y])"])
def test_a_value_that_is_unknown_because_it_could_not_be_read_is_told_as_that(
    project: Path, used: str
) -> None:
    more = (
        'locals { y = data.table.raw.uuid }\ntable "more" {\n  namespace = "mine"\n  column "id" { '
        f'type = "long" }}\n  {used}\n}}\n'
    )
    (project / "more.flare.hcl").write_text(more)
    plan = flareiac(project, "plan")
    assert (plan.code, "FIC060" in plan.err) == (1, True), plan.text
    assert "known only after apply" not in plan.text


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (lambda path: path.write_text("{"), "The metadata of a table cannot be read [FII012]"),
        (lambda path: path.unlink(), "The metadata of a table cannot be read [FII012]"),
    ],
)
def test_what_can_not_be_read_is_told_with_its_place(project: Path, break_it: object, told: str) -> None:
    assert callable(break_it)
    make_lake(project)
    catalog = catalog_of(project)
    break_it(Path(catalog.load_table("sales.events").metadata_location.removeprefix("file://")))
    catalog.close()
    plan = flareiac(project, "plan")
    assert (plan.code, told in plan.err) == (1, True), plan.text
    assert "with data.table.raw" in plan.err
    assert "Traceback" not in plan.text


def test_what_others_took_away_does_not_keep_anybody_from_letting_go(project: Path) -> None:
    make_lake(project)
    (project / "main.flare.hcl").write_text(PROJECT[: PROJECT.index('job "copy"')])
    assert flareiac(project, "apply", "-auto-approve").code == 0
    catalog = catalog_of(project)
    catalog.drop_table("sales.events")
    catalog.close()
    assert flareiac(project, "plan").code == 1
    assert flareiac(project, "plan", "-refresh=none").code == 0
    done = flareiac(project, "destroy", "-auto-approve")
    assert done.code == 0, done.text


def test_one_can_be_read_for_each_of_a_set(project: Path) -> None:
    make_lake(project)
    (project / "main.flare.hcl").write_text(
        'catalog "lake" {}\n'
        'data "table" "all" {\n'
        '  for_each = toset(["plain", "odd"])\n'
        '  namespace = "sales"\n'
        "  name = each.key\n"
        "}\n"
        'output "columns" { value = { for key, table in data.table.all : key => table.column_order } }\n'
    )
    plan = flareiac(project, "plan")
    assert plan.code == 0, plan.text
    assert 'plain = ["id"]' in plan.out


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('data "table" "raw" {', 'data "topic" "raw" {', "FIC065"),
        ('data "table" "raw" {', 'data "raw" {', "FIL207"),
        ("stream = stream.raw", "stream = data.table.raw", "FIL"),
        ('output "copy" { table = table.copy }', 'output "copy" { table = data.table.raw }', "FIL"),
        ("{ table = data.table.raw }\n}", "{ table = data.table.row }\n}", "FIC050"),
        ('  name      = "events"\n', '  name      = "events"\n  comment = "x"\n', "FIL"),
        (
            '  name      = "events"\n',
            '  name      = "events"\n  lifecycle { prevent_destroy = true }\n',
            "FIC066",
        ),
    ],
)
def test_what_is_written_wrongly_is_told(project: Path, old: str, new: str, code: str) -> None:
    (project / "main.flare.hcl").write_text(PROJECT.replace(old, new))
    done = flareiac(project, "validate")
    assert (done.code, code in done.err) == (1, True), done.text


def test_a_table_of_this_project_is_not_also_one_of_others(project: Path) -> None:
    (project / "main.flare.hcl").write_text(
        PROJECT.replace(
            '  namespace = "sales"\n  name      = "events"', '  namespace = "mine"\n  name      = "copy"'
        )
    )
    done = flareiac(project, "validate")
    assert (done.code, "FIP010" in done.err) == (1, True), done.text


def test_rows_of_a_table_of_others_that_no_stream_can_read_block_a_start(project: Path) -> None:
    import pyarrow as pa

    make_lake(project)
    catalog = catalog_of(project)
    rows = pa.table({"id": pa.array([1], pa.int64()), "region": ["x"]})
    table = catalog.create_table("sales.own", schema=rows.schema)
    for _ in range(3):
        table.append(rows)
    hcl = PROJECT.replace('"events"', '"own"')
    (project / "main.flare.hcl").write_text(hcl)
    whole = flareiac(project, "plan")
    oldest = [item.snapshot_id for item in table.snapshots()][:2]
    table.maintenance.expire_snapshots().by_ids(oldest).commit()
    catalog.close()
    blocked = flareiac(project, "plan")
    not_looked = flareiac(project, "plan", "-refresh=none")
    (project / "main.flare.hcl").write_text(
        hcl.replace(
            "{ table = data.table.raw }",
            '{\n  table = data.table.raw\n  start_from = "oldest_snapshot"\n}',
            1,
        )
    )
    accepted = flareiac(project, "plan")
    assert whole.code == 0, whole.text
    assert "The owner of a table may expire snapshots that the job needs [FIK154]" in whole.err
    assert 'reader "copy"' in whole.err
    assert (blocked.code, "[FIK150]" in blocked.out) == (4, True), blocked.text
    assert "2 of 3 rows of data.table.raw cannot be read as a stream." in blocked.out
    assert not_looked.code == 4, not_looked.text
    assert (accepted.code, "(2 of 3 rows of data.table.raw" in accepted.out) == (0, True), accepted.text
