"""A raised generation goes on where it is told: no row is lost, none is repeated, and what is rebuilt equals
a fresh computation.
"""

import json
from pathlib import Path

import pytest

from tests.integration.project import Project, rides, streaming

pytestmark = pytest.mark.jvm


def from_first(name: str, columns: dict[str, str], query: str, output: str = "") -> str:
    """A job over a stream of what job.first writes."""
    stream = f'stream "{name}" {{\n  table {{ table = table.first }}\n}}'
    return stream + streaming(name, columns, f"SELECT {query}", source=name, output=output)


COUNTS = from_first(
    "counts",
    {"city": "string", "rides": "long"},
    "city, count(*) AS rides FROM counts GROUP BY city",
    output='mode = "complete"',
)
COPY = from_first("copy", {"id": "long", "city": "string"}, "id, city FROM copy")
RAISED = "generation = 2"
FAILS = "if(id >= 0, raise_error('no city today'), city)"


def folder(project: Project, name: str, generation: int, output: str | None = None) -> Path:
    return (
        project.root
        / ".flareiac"
        / "checkpoints"
        / "default"
        / name
        / (output or name)
        / f"g{generation:04d}"
    )


def renew(project: Project, name: str, generation: int, start: str = "") -> None:
    """Raises the generation in the declaration."""
    text = (project.root / f"{name}.flare.hcl").read_text()
    (begin, rest) = text.split(f'checkpoint "{name}" {{', 1)
    lines = f"generation = {generation}\n" + (f'  start_from = "{start}"\n' if start else "")
    (project.root / f"{name}.flare.hcl").write_text(
        f'{begin}checkpoint "{name}" {{\n  {lines}}}{rest.split("}", 1)[1]}'
    )


def test_files_go_on_in_a_new_generation(project: Project) -> None:
    """Stateless: the list of files read is taken over, with another query id."""
    project.land(10)
    project.write(first=rides("first"))
    project.apply()
    project.expect_rides("first")
    before = json.loads((folder(project, "first", 1, "rides") / "metadata").read_text())["id"]
    renew(project, "first", 2)
    project.edit("first", ("SELECT id, city FROM rides", "SELECT id, city FROM rides WHERE id >= 0"))
    project.land(5)
    said = project.plan(2)
    assert "begins generation 2: it goes on where the last one stands" in said
    done = project.apply()
    assert "generation 2 goes on after batch" in done.text
    project.land(5)
    project.expect_rides("first")
    after = json.loads((folder(project, "first", 2, "rides") / "metadata").read_text())["id"]
    assert before != after
    assert "No changes." in project.quiet()


def test_tables_go_on_in_a_new_generation(project: Project) -> None:
    """A table's position is a snapshot, which any query can begin at."""
    project.write(copy=COPY)
    project.apply()
    project.expect_rides("copy")
    renew(project, "copy", 2)
    project.edit(
        "copy", ("SELECT id, city FROM copy", "SELECT id, lower(city) AS city FROM copy WHERE id >= 0")
    )
    project.land(5)
    project.apply()
    project.land(5)
    project.expect_rides("copy")
    assert "No changes." in project.quiet()


def counts(project: Project, name: str) -> dict[str, int]:
    return {row["city"]: row["rides"] for row in project.rows(name)}


def expected(project: Project, since: int = 0) -> dict[str, int]:
    cities = [ride["city"] for ride in project.landed[since:]]
    return {city: cities.count(city) for city in cities}


def test_state_is_left_behind_and_the_position_is_not(project: Project) -> None:
    """Plan says so; ``earliest`` builds it again."""
    project.write(counts=COUNTS)
    project.apply()
    project.until(lambda: counts(project, "counts") == expected(project), "the counts")
    renew(project, "counts", 2)
    assert "its state is left behind (stateStoreSave in 1 partitions)" in project.plan(2)
    project.apply()
    since = len(project.landed)
    project.land(7)
    project.until(lambda: counts(project, "counts") == expected(project, since), "counts of what came since")
    renew(project, "counts", 3, "earliest")
    project.edit("counts", ("count(*)", "count(id)"))
    project.apply()
    project.until(lambda: counts(project, "counts") == expected(project), "all counts")
    assert "No changes." in project.quiet()


@pytest.mark.parametrize("point", ["", "empty.within", "empty.after", "prepare.after"])
def test_a_table_is_rebuilt(project: Project, point: str) -> None:
    """Emptied once, and read again from the beginning; the snapshot before is known."""
    name = f"rebuilt_{point.replace('.', '_')}"
    project.write(**{name: rides(name)})
    project.apply()
    project.expect_rides(name)
    before = project.table(name).metadata.current_snapshot_id
    renew(project, name, 2, "earliest")
    project.edit(
        name,
        (
            'output "rides" { table = table.@ }'.replace("@", name),
            f'output "rides" {{\n table = table.{name}\n rebuild = "truncate"\n }}',
        ),
    )
    project.edit(name, ("SELECT id, city FROM rides", "SELECT id, upper(city) AS city FROM rides"))
    if point:
        project.killed(point, "apply", "-auto-approve")
        assert "was stopped by hand" in project.run("drift", code=3).text
    done = project.apply()
    project.expect_rides(name)
    assert {row["city"] for row in project.rows(name)} == {"ROME", "OSLO", "BERN"}
    emptied = [
        item
        for item in project.table(name).metadata.snapshots
        if "flareiac.rebuild" in item.summary.additional_properties
    ]
    assert [item.parent_snapshot_id for item in emptied] == [before]
    assert f"table.{name}" in done.text
    assert f'"snapshot_id": {before}' in project.run("state", "show", f"job.{name}", "-json").out
    assert "No changes." in project.quiet()


def test_a_generation_that_has_begun_is_not_begun_again(project: Project) -> None:
    """The first definition in it fails; the next plan names what is left to do, and no table is emptied."""
    name = "begun"
    project.write(begun=rides(name))
    project.apply()
    project.expect_rides(name)
    renew(project, name, 2, "earliest")
    project.edit(
        name,
        (
            'output "rides" { table = table.begun }',
            'output "rides" {\n table = table.begun\n rebuild = "truncate"\n }',
        ),
        ("SELECT id, city FROM rides", f"SELECT id, {FAILS} AS city FROM rides"),
        ('restart    = { backoff = "1s" }', "restart    = { max_failures = 0 }"),
    )
    assert "empties table.begun before it starts" in project.plan(2)
    assert "no city today" in project.run("apply", "-auto-approve", code=7).text
    snapshots = [item.snapshot_id for item in project.table(name).metadata.snapshots]
    project.edit(name, (FAILS, "upper(city)"))
    said = project.plan(2)
    assert "continues in generation 2, which has begun" in said
    assert "empties" not in said
    assert "mpty table.begun" not in project.run("plan", "-show-steps").out
    project.apply()
    project.expect_rides(name)
    assert {row["city"] for row in project.rows(name)} == {"ROME", "OSLO", "BERN"}
    now = [item.snapshot_id for item in project.table(name).metadata.snapshots]
    assert now[: len(snapshots)] == snapshots
    assert "No changes." in project.quiet()


PAIR = """
table "left" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
table "right" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
checkpoint "pair" {}
job "pair" {
  checkpoint    = checkpoint.pair
  trigger       = { processing_time = "200ms" }
  foreach_batch = true
  input "rides" { stream = stream.rides }
  step "clean" { sql = "SELECT id, city FROM rides" }
  output "left" { table = table.left }
  output "right" { table = table.right }
}
"""


def test_a_batch_in_one_table_of_two_is_finished_first(own_project: Project) -> None:
    """The driver died between two outputs: the old definition does the rest of that batch, and the new one
    goes on after it.
    """
    project = own_project
    project.land(6)
    project.write(pair=PAIR)
    project.apply(FLAREIAC_KILL_AT="driver.between-outputs:2")
    project.expect_rides("right")
    project.land(6)
    project.until_driver_gone()
    assert len(project.rows("left")) != len(project.rows("right"))
    renew(project, "pair", 2)
    project.edit("pair", ("SELECT id, city FROM rides", "SELECT id, upper(city) AS city FROM rides"))
    done = project.apply()
    assert "finishing batch 1" in done.text
    assert "generation 2 goes on after batch 1" in done.text
    project.land(6)
    for name in ("left", "right"):
        project.expect_rides(name)
    assert sum(row["city"].isupper() for row in project.rows("right")) == 6
    assert "No changes." in project.quiet()


def forget(project: Project, name: str) -> int:
    """As if the driver had died after the table's commit and before the checkpoint's: a batch in flight that
    was written.
    """
    place = folder(project, name, 1, "rides")
    last = max(int(item.name) for item in (place / "commits").iterdir() if item.name.isdigit())
    (place / "commits" / str(last)).unlink()
    (place / "commits" / f".{last}.crc").unlink(missing_ok=True)
    return last


def begin(project: Project, name: str) -> None:
    """As if the driver had died before the table's commit: a batch in flight with one more file, which nobody
    has written.
    """
    place = folder(project, name, 1, "rides")
    last = max(int(item.name) for item in (place / "offsets").iterdir() if item.name.isdigit())
    newest = max((project.root / "landing" / "rides").iterdir())
    version, header, position = (place / "offsets" / str(last)).read_text().splitlines()
    reached = json.loads(position)["logOffset"] + 1
    (place / "offsets" / str(last + 1)).write_text(
        "\n".join([version, header, json.dumps({"logOffset": reached})])
    )
    seen = {"path": f"file://{newest}", "timestamp": 1_700_000_000_000, "batchId": reached}
    (place / "sources" / "0" / str(reached)).write_text(f"v1\n{json.dumps(seen)}")


def test_a_batch_in_flight_is_settled_by_its_marks(project: Project) -> None:
    """A batch that was written is not written again; one that was not is."""
    project.write(written=rides("written"), unwritten=rides("unwritten"))
    project.apply()
    for name in ("written", "unwritten"):
        project.expect_rides(name)
        project.run("stop", f"job.{name}")
        renew(project, name, 2)
    batch = forget(project, "written")
    project.land(4)
    begin(project, "unwritten")
    said = project.plan(2)
    assert f"batch {batch} was begun and is not committed" in said
    done = project.apply()
    assert f"generation 2 goes on after batch {batch}" in done.text
    for name in ("written", "unwritten"):
        project.expect_rides(name)
