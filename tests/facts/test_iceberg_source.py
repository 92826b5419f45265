"""The rows that a stream which reads an Iceberg table sees."""

import time

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake

pytestmark = pytest.mark.jvm

COLUMNS = {"k": "string"}


def insert(lake: Lake, k: str) -> None:
    lake.spark.sql(f"INSERT INTO {lake.name('source')} VALUES ('{k}')")


def now() -> str:
    """Later than every snapshot so far, in milliseconds."""
    return str(int(time.time() * 1000) + 1)


def wait_past(moment: str) -> None:
    """Until the clock is past a moment, so that a snapshot made next is later."""
    while int(time.time() * 1000) <= int(moment):
        time.sleep(0.001)


@pytest.fixture
def source(lake: Lake) -> Lake:
    """A lake with a table to read, with one row, and one to write."""
    lake.create("source", COLUMNS)
    lake.create("out", COLUMNS)
    insert(lake, "a")
    return lake


def read(lake: Lake, checkpoint: str = "checkpoint", **options: str) -> None:
    lake.run(
        lake.spark.readStream.options(**options).table(lake.name("source")), "out", checkpoint=checkpoint
    )


def test_a_row_appended_by_pyiceberg_is_read(source: Lake) -> None:
    """Any engine may write what a stream reads."""
    import pyarrow as pa

    source.load("source").append(pa.table({"k": ["b"]}))
    read(source)
    assert source.rows("out") == [("a",), ("b",)]


@fact("source.start-time-later")
def test_a_start_time_after_the_newest_snapshot_misses_rows_in_spite_of_the_checkpoint(source: Lake) -> None:
    """It sets the position back to the beginning, and then hides what is older than itself.

    So ``latest`` has to mean one moment for a whole generation: a new one at each start loses what was
    appended in between.
    """
    first = now()
    wait_past(first)
    insert(source, "b")
    read(source, **{"stream-from-timestamp": first})
    insert(source, "between")
    later = now()
    read(source, **{"stream-from-timestamp": later})
    wait_past(later)
    insert(source, "d")
    read(source, **{"stream-from-timestamp": later})
    assert source.rows("out") == [("b",), ("d",)]


def test_a_start_time_after_the_newest_snapshot_makes_the_old_one_read_everything_again(source: Lake) -> None:
    """The position was set back, as above."""
    first = now()
    wait_past(first)
    insert(source, "b")
    for start in (first, None, first):
        read(source, **{"stream-from-timestamp": start or now()})
    assert source.rows("out") == [("b",), ("b",)]


def test_a_later_start_time_before_the_newest_snapshot_changes_nothing(source: Lake) -> None:
    """The position in the checkpoint counts, as it should."""
    first = now()
    wait_past(first)
    insert(source, "b")
    read(source, **{"stream-from-timestamp": first})
    insert(source, "between")
    later = now()
    wait_past(later)
    insert(source, "d")
    read(source, **{"stream-from-timestamp": later})
    assert source.rows("out") == [("b",), ("between",), ("d",)]


@fact("source.start-time")
def test_the_same_start_time_misses_nothing(source: Lake) -> None:
    """Even where no snapshot was read before the query stopped."""
    first = now()
    wait_past(first)
    read(source, **{"stream-from-timestamp": first})
    assert source.rows("out") == []
    for k in ("b", "c"):
        insert(source, k)
        read(source, **{"stream-from-timestamp": first})
    assert source.rows("out") == [("b",), ("c",)]


@fact("source.start-time-of-the-beginning")
@pytest.mark.parametrize("start", [{}, {"stream-from-timestamp": "0"}])
def test_a_time_before_every_snapshot_is_the_beginning(source: Lake, start: dict[str, str]) -> None:
    """The rows that the oldest live snapshot added come first; those of expired ones do not come at all."""
    insert(source, "b")
    insert(source, "c")
    second = sorted(source.load("source").snapshots(), key=lambda snapshot: snapshot.timestamp_ms)[1]
    until = f"older_than => timestamp_millis({second.timestamp_ms})"
    source.spark.sql(f"CALL lake.system.expire_snapshots(table => '{source.namespace}.source', {until})")
    read(source, **start)
    assert source.rows("out") == [("b",), ("c",)]


def test_a_checkpoint_goes_on_when_it_is_given_the_time_of_the_beginning(source: Lake) -> None:
    """As checkpoints of earlier releases are, which began without a time."""
    read(source)
    insert(source, "b")
    read(source, **{"stream-from-timestamp": "0"})
    insert(source, "c")
    read(source)
    assert source.rows("out") == [("a",), ("b",), ("c",)]


def test_an_empty_table_is_read_from_its_first_snapshot_on(lake: Lake) -> None:
    lake.create("source", COLUMNS)
    lake.create("out", COLUMNS)
    for start in ("0", "0"):
        read(lake, **{"stream-from-timestamp": start})
        insert(lake, "a")
    read(lake, **{"stream-from-timestamp": "0"})
    assert lake.rows("out") == [("a",), ("a",)]


@fact("source.overwritten")
def test_an_overwritten_source_ends_the_stream_unless_told_to_skip(source: Lake) -> None:
    """``skip_overwrites``; what was overwritten does not reach the reader."""
    from pyspark.errors import StreamingQueryException

    read(source)
    source.spark.sql(f"INSERT OVERWRITE {source.name('source')} VALUES ('new')")
    insert(source, "b")
    with pytest.raises(StreamingQueryException, match="Cannot process overwrite snapshot"):
        read(source)
    read(source, **{"streaming-skip-overwrite-snapshots": "true"})
    assert source.rows("out") == [("a",), ("b",)]


@fact("source.deleted-rows")
def test_deleted_rows_end_the_stream_unless_told_to_skip(source: Lake) -> None:
    """``skip_deletes``."""
    from pyspark.errors import StreamingQueryException

    read(source)
    source.spark.sql(f"DELETE FROM {source.name('source')} WHERE k = 'a'")
    insert(source, "b")
    with pytest.raises(StreamingQueryException, match="Cannot process delete snapshot"):
        read(source)
    read(source, **{"streaming-skip-delete-snapshots": "true"})
    assert source.rows("out") == [("a",), ("b",)]
