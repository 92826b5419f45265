"""The positions and state that a query takes over from another checkpoint, and its reaction to a damaged one.
Carry-over and its limits rest on these rows.
"""

import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake, agrees, forget, why

pytestmark = pytest.mark.jvm

COLUMNS = {"k": "string", "n": "long"}
SUM = "SELECT k, sum(n) AS n FROM events GROUP BY k"


def land(lake: Lake, n: int) -> None:
    lake.land("events", [{"k": "a", "n": n}])


def events(lake: Lake) -> Any:
    return lake.files("events").select("k", "n")


def totals(lake: Lake) -> Any:
    lake.files("events").createOrReplaceTempView("events")
    return lake.spark.sql(SUM)


def carry(lake: Lake, *logs: str) -> Path:
    """A new generation made of parts of the first one."""
    shutil.rmtree(lake.checkpoint("g0002"), ignore_errors=True)
    for log in logs:
        shutil.copytree(lake.checkpoint("g0001") / log, lake.checkpoint("g0002") / log)
    return lake.checkpoint("g0002")


def numbers(lake: Lake, table: str = "out") -> list[Any]:
    return sorted(item["n"] for item in lake.load(table).scan().to_arrow().to_pylist())


@pytest.fixture
def two_batches(lake: Lake) -> Lake:
    """A query that read one file in each of two batches, and a file that nobody has read."""
    lake.create("out", COLUMNS)
    lake.create("again", COLUMNS)
    for n in (1, 2):
        land(lake, n)
        lake.run(events(lake), "out", checkpoint="g0001")
    land(lake, 3)
    return lake


@fact("carry.files-stateless")
def test_copied_logs_of_a_stateless_query_go_on_where_they_are(two_batches: Lake) -> None:
    """``start_from = "carry_over"``: the new generation is another query, and reads what the old one has
    not.
    """
    carry(two_batches, "sources", "offsets", "commits")
    query = two_batches.run(events(two_batches), "out", checkpoint="g0002")
    assert numbers(two_batches) == [1, 2, 3]
    assert query.id != json.loads((two_batches.checkpoint("g0001") / "metadata").read_text())["id"]


@fact("carry.files-other-query")
def test_copied_logs_take_another_stateless_query(two_batches: Lake) -> None:
    """A changed projection carries over like an unchanged one."""
    carry(two_batches, "sources", "offsets", "commits")
    two_batches.run(two_batches.files("events").selectExpr("k", "n * 10 AS n"), "out", checkpoint="g0002")
    assert numbers(two_batches) == [1, 2, 30]


@fact("carry.files-sources-alone")
def test_the_source_log_alone_carries_nothing_over(two_batches: Lake) -> None:
    """Everything is read again: the offsets say what was."""
    carry(two_batches, "sources")
    two_batches.run(events(two_batches), "again", checkpoint="g0002")
    assert numbers(two_batches, "again") == [1, 2, 3]


@fact("carry.files-in-flight-kept")
def test_a_batch_in_flight_that_is_copied_is_written_again(two_batches: Lake) -> None:
    """Another query id: Iceberg's own check does not see that the rows are there. So carry-over settles
    first.
    """
    new = carry(two_batches, "sources", "offsets", "commits")
    forget(new, "commits", 1)
    two_batches.run(events(two_batches), "out", checkpoint="g0002")
    assert numbers(two_batches) == [1, 2, 2, 3]


@fact("carry.files-in-flight-dropped")
def test_a_batch_in_flight_that_is_left_out_is_read_again_and_no_more(two_batches: Lake) -> None:
    """For a batch that no output has: its offsets and its part of the source log stay behind."""
    new = carry(two_batches, "sources", "offsets", "commits")
    for log in ("commits", "offsets", "sources/0"):
        forget(new, log, 1)
    two_batches.run(events(two_batches), "again", checkpoint="g0002")
    assert numbers(two_batches, "again") == [2, 3]


@fact("carry.files-in-flight-source-log-kept")
def test_files_that_stay_in_the_source_log_are_read_all_the_same(two_batches: Lake) -> None:
    """The offsets count: what is beyond them in the source log is overwritten."""
    new = carry(two_batches, "sources", "offsets", "commits")
    for log in ("commits", "offsets"):
        forget(new, log, 1)
    two_batches.run(events(two_batches), "again", checkpoint="g0002")
    assert numbers(two_batches, "again") == [2, 3]


@fact("carry.files-stateful")
def test_copied_logs_of_a_query_with_state_are_refused(lake: Lake) -> None:
    """Stateful queries over files start from ``earliest``: there is no way to a position without the state of
    that batch.
    """
    from pyspark.errors import StreamingQueryException

    lake.create("out", COLUMNS)
    land(lake, 1)
    lake.run(totals(lake), "out", mode="complete", checkpoint="g0001")
    land(lake, 2)
    carry(lake, "sources", "offsets", "commits")
    with pytest.raises(StreamingQueryException, match="CANNOT_READ_DELTA_FILE"):
        lake.run(totals(lake), "out", mode="complete", checkpoint="g0002")


@fact("carry.nothing")
def test_a_new_checkpoint_writes_everything_again(two_batches: Lake) -> None:
    """A generation that starts at ``earliest`` into kept rows repeats them."""
    two_batches.run(events(two_batches), "out", checkpoint="g0002")
    assert numbers(two_batches) == [1, 1, 2, 2, 3]


# Tables


def insert(lake: Lake, table: str, n: int) -> None:
    lake.spark.sql(f"INSERT INTO {lake.name(table)} VALUES ('a', {n})")


def seed(lake: Lake, generation: str) -> None:
    """The last offsets of the first generation as the initial ones of another."""
    last = max(
        int(item.name) for item in (lake.checkpoint("g0001") / "offsets").iterdir() if item.name.isdigit()
    )
    _, _, *offsets = (lake.checkpoint("g0001") / "offsets" / str(last)).read_text().splitlines()
    for source, offset in enumerate(offsets):
        into = lake.checkpoint(generation) / "sources" / str(source) / "offsets"
        into.mkdir(parents=True)
        (into / "0").write_text(offset)


def stream(lake: Lake, *names: str, **options: str) -> Any:
    first, *others = (lake.spark.readStream.options(**options).table(lake.name(name)) for name in names)
    for other in others:
        first = first.union(other)
    return first


@pytest.fixture
def read_table(lake: Lake) -> Lake:
    """A query that read two snapshots of a table, and a third one that nobody has read."""
    for table in ("source", "out", "again"):
        lake.create(table, COLUMNS)
    for n in (1, 2):
        insert(lake, "source", n)
        lake.run(stream(lake, "source"), "out", checkpoint="g0001")
    insert(lake, "source", 3)
    return lake


@fact("carry.table-layout")
def test_the_initial_offset_of_a_table_is_one_line_of_json(read_table: Lake) -> None:
    """The seed of a generation must have this form."""
    text = (read_table.checkpoint("g0001") / "sources/0/offsets/0").read_text()
    assert json.loads(text).keys() == {"version", "snapshot_id", "position", "scan_all_files"}


@fact("carry.table")
def test_an_initial_offset_starts_a_query_after_it(read_table: Lake) -> None:
    """``start_from = "carry_over"``: nothing else is needed in the new generation's folder."""
    seed(read_table, "g0002")
    read_table.run(stream(read_table, "source"), "again", checkpoint="g0002")
    assert numbers(read_table, "again") == [3]
    insert(read_table, "source", 4)
    read_table.run(stream(read_table, "source"), "again", checkpoint="g0002")
    assert numbers(read_table, "again") == [3, 4]


@fact("carry.table-stateful")
def test_an_initial_offset_starts_a_query_with_state_too(read_table: Lake) -> None:
    """Its state begins empty, which plan says."""
    seed(read_table, "g0002")
    totals = stream(read_table, "source").groupBy("k").sum("n").withColumnRenamed("sum(n)", "n")
    read_table.run(totals, "again", mode="complete", checkpoint="g0002")
    assert read_table.rows("again") == [("a", 3)]


@fact("checkpoint.initial-offset-torn")
@pytest.mark.parametrize("left", ["", '{"version":1,"snap'])
def test_a_torn_initial_offset_is_not_found_anew(read_table: Lake, left: str) -> None:
    """A process may be killed while it writes it, for Iceberg writes it in place."""
    seed(read_table, "g0002")
    (read_table.checkpoint("g0002") / "sources" / "0" / "offsets" / "0").write_text(left)
    with pytest.raises(Exception, match="Failed to read StreamingOffset"):
        read_table.run(stream(read_table, "source"), "again", checkpoint="g0002")


@fact("carry.table-start-time")
def test_an_initial_offset_wins_over_an_earlier_start_time(read_table: Lake) -> None:
    """The stream's own ``start`` need not be taken away."""
    seed(read_table, "g0002")
    read_table.run(
        stream(read_table, "source", **{"stream-from-timestamp": "1"}), "again", checkpoint="g0002"
    )
    assert numbers(read_table, "again") == [3]


@fact("carry.two-tables")
def test_each_source_has_an_initial_offset_of_its_own(lake: Lake) -> None:
    """By the place of the stream in the query."""
    for table in ("left", "right", "out", "again"):
        lake.create(table, COLUMNS)
    for table, n in (("left", 1), ("right", 10)):
        insert(lake, table, n)
    lake.run(stream(lake, "left", "right"), "out", checkpoint="g0001")
    for table, n in (("left", 2), ("right", 20)):
        insert(lake, table, n)
    seed(lake, "g0002")
    lake.run(stream(lake, "left", "right"), "again", checkpoint="g0002")
    assert numbers(lake, "again") == [2, 20]


# Damage

Damage = Callable[[Path], None]


def empty(log: str, entry: int, *, checksum: bool = False) -> Damage:
    return lambda place: write(place / log / str(entry), "", checksum=checksum)


def half(log: str, entry: int) -> Damage:
    def damage(place: Path) -> None:
        text = (place / log / str(entry)).read_text()
        write(place / log / str(entry), text[: len(text) // 2])

    return damage


def version(log: str, entry: int, other: str) -> Damage:
    def damage(place: Path) -> None:
        text = (place / log / str(entry)).read_text()
        write(place / log / str(entry), other + text[2:])

    return damage


def without(*names: str) -> Damage:
    def damage(place: Path) -> None:
        for name in names:
            target = place / name
            shutil.rmtree(target) if target.is_dir() else target.unlink()
            target.with_name(f".{target.name}.crc").unlink(missing_ok=True)

    return damage


def first_offsets_torn(place: Path) -> None:
    """As a process leaves it that is killed amid the write of the first batch's offsets."""
    without("offsets", "commits", "sources")(place)
    (place / "offsets").mkdir()
    (place / "offsets" / f".0.{uuid.uuid4()}.tmp").write_text("v1\n")


def write(target: Path, text: str, *, checksum: bool = False) -> None:
    target.write_text(text)
    if not checksum:
        target.with_name(f".{target.name}.crc").unlink(missing_ok=True)


def row(name: str, damage: Damage, outcome: str) -> Any:
    return pytest.param(damage, outcome, id=name, marks=fact(name))


@pytest.mark.parametrize(
    ("damage", "outcome"),
    [
        row("checkpoint.offsets-empty", empty("offsets", 1), "!Incomplete log file"),
        row(
            "checkpoint.offsets-empty-with-checksum",
            empty("offsets", 1, checksum=True),
            "!Incomplete log file",
        ),
        row("checkpoint.offsets-half", half("offsets", 1), "!Unexpected end-of-input in field name"),
        row(
            "checkpoint.offsets-version",
            version("offsets", 1, "v2"),
            "!INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION",
        ),
        row(
            "checkpoint.offsets-version-unknown",
            version("offsets", 1, "v9"),
            "!INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION",
        ),
        row(
            "checkpoint.offsets-last-deleted",
            without("offsets/1"),
            "!CONCURRENT_STREAM_LOG_UPDATE",
        ),
        row(
            "checkpoint.offsets-deleted",
            without("offsets"),
            "!STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY",
        ),
        row(
            "checkpoint.first-offsets-torn", first_offsets_torn, "!STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY"
        ),
        row("checkpoint.commits-empty", empty("commits", 1), "!Incomplete log file in the offset commit log"),
        row("checkpoint.commits-half", half("commits", 1), "!Unexpected end-of-input in field name"),
        row("checkpoint.commits-last-deleted", without("commits/1"), "1 2 3"),
        row("checkpoint.commits-deleted", without("commits"), "1 2 3"),
        row("checkpoint.metadata-deleted", without("metadata"), "1 2 3"),
        row(
            "checkpoint.metadata-empty",
            lambda place: write(place / "metadata", ""),
            "!An error occurred while calling",
        ),
        row("checkpoint.source-log-last-deleted", without("sources/0/1"), "!batch 1 doesn't exist"),
        row("checkpoint.source-log-deleted", without("sources"), "!batch 1 doesn't exist"),
        row(
            "checkpoint.source-log-half",
            half("sources/0", 1),
            "!Unexpected end-of-input: was expecting closing quote for a string value",
        ),
        row("checkpoint.moved-back", without("offsets/1", "commits/1", "sources/0/1"), "1 2"),
        row("checkpoint.deleted", without("metadata", "offsets", "commits", "sources"), "1 1 2 2 3"),
    ],
)
def test_damage(two_batches: Lake, damage: Damage, outcome: str) -> None:
    """A stateless query over files, whose folder was tampered with after two batches; a third file waits. The
    rows should be 1, 2 and 3.
    """
    damage(two_batches.checkpoint("g0001"))
    found = outcome_of(two_batches, events(two_batches), "append")
    assert agrees(found, outcome), found


@fact("checkpoint.state-deleted")
def test_deleted_state_is_found_out(lake: Lake) -> None:
    """Spark never goes on with empty state where there was some."""
    lake.create("out", COLUMNS)
    land(lake, 1)
    lake.run(totals(lake), "out", mode="complete", checkpoint="g0001")
    land(lake, 2)
    without("state")(lake.checkpoint("g0001"))
    assert outcome_of(lake, totals(lake), "complete").startswith(
        "![CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS]"
    )


def outcome_of(lake: Lake, frame: Any, mode: str) -> str:
    """The numbers in the table, or why the query ended."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import StreamingQueryException

    try:
        lake.run(frame, "out", mode=mode, checkpoint="g0001")
    except (StreamingQueryException, Py4JJavaError) as failure:
        return f"!{why(failure)}"
    return " ".join(map(str, numbers(lake)))
