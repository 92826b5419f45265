"""The data that compaction and expiry take away from those who write and read a table meanwhile: the reason
to hold them back.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake, batches, collected, drain, entry, forget

pytestmark = pytest.mark.jvm

COLUMNS = {"k": "string", "n": "long"}


def land(lake: Lake, n: int) -> None:
    lake.land("events", [{"k": "a", "n": n}])


def call(lake: Lake, procedure: str, table: str, arguments: str) -> tuple[Any, ...]:
    (row,) = collected(
        lake.spark.sql(f"CALL lake.system.{procedure}(table => '{lake.namespace}.{table}', {arguments})")
    )
    return row


def compact(lake: Lake, table: str) -> None:
    """All small files into one, as a snapshot of its own."""
    assert call(lake, "rewrite_data_files", table, "options => map('min-input-files', '2')")[0] > 1


def expire(lake: Lake, table: str, older_than_ms: int | None = None) -> None:
    """Everything but the newest snapshot, or what is older than a time."""
    at = (
        f"timestamp_millis({older_than_ms})"
        if older_than_ms is not None
        else "timestamp_millis(4102444800000)"
    )
    call(lake, "expire_snapshots", table, f"older_than => {at}, retain_last => 1")


def begun_ms(lake: Lake, batch: int) -> int:
    """The time at which a batch was begun, by its entry in the log of offsets."""
    import json

    return int(json.loads(entry(lake.checkpoint(), "offsets", batch)[1])["batchTimestampMs"])


def written_in_flight(lake: Lake) -> None:
    """Two batches are in the table; of the second Spark does not know."""
    lake.create("out", COLUMNS)
    for n in (1, 2):
        land(lake, n)
        lake.run(lake.files("events").select("k", "n"), "out")
    assert batches(lake.checkpoint(), "commits") == [0, 1]
    forget(lake.checkpoint(), "commits", 1)


@fact("marks.expired-mark")
def test_a_batch_whose_mark_expired_is_written_twice(lake: Lake) -> None:
    """Compaction makes a snapshot that needs no older one, and expiry takes the one by which the batch was
    known.
    """
    written_in_flight(lake)
    compact(lake, "out")
    expire(lake, "out")
    lake.run(lake.files("events").select("k", "n"), "out")
    assert lake.rows("out") == [("a", 1), ("a", 2), ("a", 2)]


@fact("marks.held-mark")
def test_a_batch_is_known_while_nothing_expires_that_is_younger_than_it(lake: Lake) -> None:
    """``job.holds``: a batch in flight holds what was committed since it was begun."""
    written_in_flight(lake)
    compact(lake, "out")
    expire(lake, "out", begun_ms(lake, 1))
    assert len(lake.summaries("out")) == 2
    lake.run(lake.files("events").select("k", "n"), "out")
    assert lake.rows("out") == [("a", 1), ("a", 2)]


def reader(lake: Lake, **options: str) -> Any:
    return lake.spark.readStream.options(**options).table(lake.name("source"))


def insert(lake: Lake, *numbers: int) -> None:
    for n in numbers:
        lake.spark.sql(f"INSERT INTO {lake.name('source')} VALUES ('a', {n})")


def time_of(lake: Lake, at: int) -> int:
    """The time at which a snapshot of the source was committed; ``at`` counts from the oldest that lives."""
    return int(lake.load("source").snapshots()[at].timestamp_ms)


def go_on(lake: Lake) -> None:
    """A query that runs on until it has read all there is."""
    query = lake.start(reader(lake), "out")
    try:
        drain(query)
    finally:
        query.stop()


def only_run(lake: Lake) -> None:
    lake.run(reader(lake), "out")


@pytest.fixture
def source(lake: Lake) -> Lake:
    """A table of three snapshots, of which a stream has read two."""
    lake.create("source", COLUMNS)
    lake.create("out", COLUMNS)
    for n in (1, 2):
        insert(lake, n)
        only_run(lake)
    insert(lake, 3)
    return lake


@fact("source.expired-offset")
def test_a_reader_whose_last_snapshot_expired_ends(source: Lake) -> None:
    """``job.holds``: a stream goes on at the snapshot of its last committed offset, and it has to be
    there.
    """
    from pyspark.errors import StreamingQueryException

    expire(source, "source")
    with pytest.raises(StreamingQueryException, match="Cannot load current offset at snapshot"):
        go_on(source)


@fact("source.held-offset")
@pytest.mark.parametrize("run", [go_on, only_run], ids=["runs on", "available now"])
def test_a_reader_goes_on_while_its_snapshots_are_there(source: Lake, run: Callable[[Lake], None]) -> None:
    expire(source, "source", time_of(source, 1 if run is go_on else 0))
    run(source)
    assert source.rows("out") == [("a", 1), ("a", 2), ("a", 3)]


@fact("source.expired-beginning")
def test_a_run_over_all_there_is_needs_the_snapshot_at_which_the_first_began(source: Lake) -> None:
    """Though it has read it long ago: ``available_now`` prepares itself from the initial offset."""
    from pyspark.errors import StreamingQueryException

    expire(source, "source", time_of(source, 1))
    with pytest.raises(StreamingQueryException, match="Cannot load current offset at snapshot"):
        only_run(source)


@fact("source.expired-rows")
def test_a_reader_that_begins_after_an_expiry_misses_what_the_expired_snapshots_added(source: Lake) -> None:
    """It reads what snapshots added, and never the table as a whole."""
    expire(source, "source", time_of(source, 1))
    source.run(reader(source), "out", checkpoint="another")
    assert source.rows("out") == [("a", 1), ("a", 2), ("a", 2), ("a", 3)]


@fact("table.delete-granularity")
def test_files_of_deletes_are_about_one_data_file_each_unless_asked_otherwise(lake: Lake) -> None:
    """A rewrite of them leaves as many, so that it is not worth doing again and again."""
    lake.create("orders", COLUMNS)
    name, spark = lake.name("orders"), lake.spark
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    for _ in range(3):
        spark.sql(f"INSERT INTO {name} SELECT 'a', id FROM range(10)")

    def rewritten() -> tuple[int, int]:
        found = call(lake, "rewrite_position_delete_files", "orders", "options => map('rewrite-all', 'true')")
        return found[0], found[1]

    spark.sql(f"DELETE FROM {name} WHERE n = 1")
    assert rewritten() == (3, 3)
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.delete.granularity' = 'partition')")
    assert rewritten() == (3, 1)
    spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('write.delete.granularity')")
    assert rewritten() == (1, 3)


@fact("table.own-retention")
def test_a_retention_of_the_main_branch_comes_before_the_asked_age(source: Lake) -> None:
    """So what would expire is held against the asked age before anything does."""
    table = source.spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        source.spark._jsparkSession, source.name("source")
    )
    a_day_ago = int(time.time() * 1000) - 86_400_000
    assert len(table.expireSnapshots().expireOlderThan(a_day_ago).retainLast(1).apply()) == 0
    table.manageSnapshots().setMaxSnapshotAgeMs("main", 1).setMinSnapshotsToKeep("main", 1).commit()
    table.refresh()
    assert len(table.expireSnapshots().expireOlderThan(a_day_ago).retainLast(1).apply()) == 2
