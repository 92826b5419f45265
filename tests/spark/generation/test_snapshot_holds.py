"""The snapshots of tables that a job still needs, by its checkpoint: too few lose rows or double them, too
many keep files for ever.
"""

from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.sdk.maintenance import Hold
from flareiac_spark.checkpoint_files.query_positions import read_positions
from flareiac_spark.generation.snapshot_holds import holds
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.checkpoint_log import Damaged
from tests.spark.checkpoint_sample import SNAPSHOT, sample
from tests.spark.declared import BATCH, LAKE, STATELESS, loaded

BEGUN_MS = 1_700_000_000_000
READER = """
stream "orders_table" {
  table {
    table = table.orders
    START
  }
}
job "x" {
  checkpoint = checkpoint.x
  trigger    = TRIGGER
  input "orders" { stream = stream.orders_table }
  step "clean" { sql = "SELECT region, region AS name FROM orders" }
  output "regions" { table = table.regions }
}
"""
TWO = """
stream "orders_table" {
  table { table = table.orders }
}
stream "regions_table" {
  table { table = table.regions }
}
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders_table }
  input "names" { stream = stream.regions_table }
  step "both" { sql = "SELECT o.id, n.region FROM orders o JOIN names n ON o.region = n.region" }
  output "orders" { table = table.orders }
}
"""


def reader(start: str = "", trigger: str = '{ processing_time = "1m" }') -> str:
    return LAKE + READER.replace("START", start and f'start_from = "{start}"').replace("TRIGGER", trigger)


def held(
    root: Path, hcl: str, folder: Path | None = None, name: str = "regions", **facts: object
) -> list[Hold]:
    """The holds of ``job.x``, whose query ``name`` keeps its offsets in a folder."""
    project = loaded(hcl, root)
    stand = read_positions(folder) if folder is not None else None
    known = JobFacts(**{"stands": {name: stand} if stand is not None else {}, **facts})  # type: ignore[arg-type]  # fields that exist
    return list(holds("job.x", project.attributes(), project.references(), known))


def moved(root: Path, snapshots: dict[int, int]) -> None:
    """Has the batches of a checkpoint end at these snapshots."""
    for batch, snapshot in snapshots.items():
        path = root / "offsets" / str(batch)
        path.write_text(path.read_text().replace(str(SNAPSHOT), str(snapshot)))


def test_a_reader_needs_the_snapshot_at_which_it_goes_on(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table",))
    moved(folder, {2: 22, 3: 33})
    (hold,) = held(tmp_path / "p", reader(), folder)
    assert (hold.subject, hold.holder, hold.snapshots, hold.since_ms) == (
        "table.orders",
        "job.x",
        (33,),
        None,
    )
    assert (hold.moved_ms, hold.unknown) == (BEGUN_MS + 3, False)


def test_a_batch_in_flight_is_held_on_both_sides(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table",), started=3, committed=2)
    moved(folder, {2: 22, 3: 33})
    read, written = held(tmp_path / "p", reader(), folder)
    assert (read.subject, read.snapshots, read.moved_ms) == ("table.orders", (22, 33), BEGUN_MS + 2)
    assert (written.subject, written.snapshots, written.since_ms) == ("table.regions", (), BEGUN_MS + 3)


@pytest.mark.parametrize("trigger", ["{ available_now = true }", "{ once = true }"])
def test_a_run_over_all_there_is_needs_the_snapshot_at_which_the_first_began(
    tmp_path: Path, trigger: str
) -> None:
    folder = sample(tmp_path / "c", ("table",))
    moved(folder, {3: 33})
    (hold,) = held(tmp_path / "p", reader(trigger=trigger), folder)
    assert hold.snapshots == (33, SNAPSHOT)


def test_a_first_batch_in_flight_begins_at_the_first_snapshot(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table",), started=0, committed=-1)
    moved(folder, {0: 11})
    read, _written = held(tmp_path / "p", reader(), folder)
    assert read.snapshots == (SNAPSHOT, 11)


def test_a_generation_that_is_prepared_and_not_begun_is_held(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table",), started=-1, committed=-1)
    (folder / "metadata").unlink()
    (hold,) = held(tmp_path / "p", reader(), folder)
    assert (hold.snapshots, hold.moved_ms) == ((SNAPSHOT,), None)


def test_what_has_not_begun_holds_what_it_will_read(tmp_path: Path) -> None:
    (hold,) = held(tmp_path / "a", reader())
    assert (hold.unknown, "not read anything" in hold.reason) == (True, True)
    assert held(tmp_path / "b", reader("latest")) == []
    (hold,) = held(tmp_path / "c", reader("2026-01-01T00:00:00Z"))
    assert (hold.unknown, hold.since_ms) == (False, 1_767_225_600_000)


def test_a_stream_that_found_an_empty_table_holds_all_that_comes(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table",), started=0, committed=0)
    moved(folder, {0: -1})
    (hold,) = held(tmp_path / "p", reader(), folder)
    assert hold.unknown
    (tmp_path / ".c.starts.json").write_text('{"version": 1, "times": {"orders": 77}}')
    (hold,) = held(tmp_path / "p", reader("latest"), folder)
    assert (hold.unknown, hold.since_ms) == (False, 77)


def test_an_idle_query_that_lives_has_moved_just_now(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table",))
    (hold,) = held(tmp_path / "p", reader(), folder, alive=True, phase="idle", heard_ms=99)
    assert hold.moved_ms == 99


def test_a_writer_holds_only_while_a_batch_is_in_flight(tmp_path: Path) -> None:
    assert held(tmp_path / "a", LAKE + STATELESS, sample(tmp_path / "c"), name="orders") == []
    folder = sample(tmp_path / "d", committed=2)
    (hold,) = held(tmp_path / "b", LAKE + STATELESS, folder, name="orders")
    assert (hold.subject, hold.since_ms, hold.moved_ms) == ("table.orders", BEGUN_MS + 3, BEGUN_MS + 2)
    assert "batch 3" in hold.reason


def test_of_several_tables_each_has_its_position(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table", "table"))
    path = folder / "offsets" / "3"
    lines = path.read_text().split("\n")
    path.write_text(
        "\n".join([*lines[:2], lines[2].replace(str(SNAPSHOT), "1"), lines[3].replace(str(SNAPSHOT), "2")])
    )
    found = {hold.subject: hold.snapshots for hold in held(tmp_path / "p", LAKE + TWO, folder, name="orders")}
    assert found == {"table.orders": (1,), "table.regions": (2,)}
    # Where the SQL does not tell the order, nobody says that a table's snapshots may go.
    twice = TWO.replace(
        "JOIN names n ON o.region = n.region",
        "JOIN names n ON o.region = n.region JOIN names m ON o.region = m.region",
    )
    assert all(hold.unknown for hold in held(tmp_path / "q", LAKE + twice, folder, name="orders"))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"state": "running", "phase": "running", "since_ms": 5}, [(5, False)]),
        ({"state": "running", "phase": "backoff", "since_ms": 5, "failures": 1}, [(None, True)]),
        ({"state": "running", "phase": None}, [(None, True)]),
        ({"state": "running", "phase": "completed"}, []),
        ({"state": "stopped", "phase": "stopped"}, []),
    ],
)
def test_a_run_holds_until_it_has_ended(
    tmp_path: Path, facts: Attributes, expected: list[tuple[int | None, bool]]
) -> None:
    found = held(tmp_path / "p", LAKE + BATCH, **facts)
    assert [(hold.since_ms, hold.unknown) for hold in found] == expected
    assert {hold.subject for hold in found} <= {"table.regions"}


def test_what_was_not_looked_at_is_held_as_unknown(tmp_path: Path) -> None:
    project = loaded(reader(), tmp_path)
    found = holds("job.x", project.attributes(), project.references(), {"digest": "d"})
    assert [(hold.subject, hold.unknown) for hold in found] == [
        ("table.orders", True),
        ("table.regions", True),
    ]


def test_a_damaged_checkpoint_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    folder = sample(tmp_path / "c", ("table",))
    (folder / "offsets" / "3").write_text("")
    with pytest.raises(Damaged):
        read_positions(folder)
