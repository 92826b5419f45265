"""What becomes of a query that starts on the checkpoint of an earlier, different one. The planner's classes of change rest on these rows.

*Accepted* is what Spark says, and no promise that the numbers mean what they meant: where state is carried over under another meaning, the
test shows the mixed numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.lake import EVENT, Lake, batches, entry, forget

pytestmark = pytest.mark.jvm

COLUMNS = {"since": "timestamptz", "k": "string", "m": "string", "total": "long", "mean": "double"}
"""A table that every query here fits: a missing optional column is written as null."""
FIRST = [{"k": "a", "m": "x", "n": 5, "at": "2026-01-01T00:01:00Z"}, {"k": "a", "m": "y", "n": 2, "at": "2026-01-01T00:07:00Z"}]
SECOND = [{"k": "a", "m": "x", "n": 4, "at": "2026-01-01T00:08:00Z"}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """SQL over the view ``events`` before and after."""

    before: str
    after: str
    mode: str = "append"
    watermark: tuple[str | None, str | None] = (None, None)


def stream(lake: Lake, sql: str, watermark: str | None) -> Any:
    events = lake.files("events")
    (events if watermark is None else events.withWatermark("at", watermark)).createOrReplaceTempView("events")
    return lake.spark.sql(sql)


def play(lake: Lake, change: Change) -> None:
    """Runs both definitions, with a file for each."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(stream(lake, change.before, change.watermark[0]), "out", mode=change.mode)
    lake.land("events", SECOND)
    lake.run(stream(lake, change.after, change.watermark[1]), "out", mode=change.mode)


def written(lake: Lake, *columns: str) -> list[tuple[Any, ...]]:
    rows = lake.load("out").scan(selected_fields=columns).to_arrow().select(list(columns)).to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=repr)


SUM = "SELECT k, sum(n) AS total FROM events GROUP BY k"


# Accepted


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param("SELECT k, n * 10 AS total FROM events", [("a", 2), ("a", 40), ("a", 5)], id="projection"),
        pytest.param("SELECT k, n AS total FROM events WHERE n > 100", [("a", 2), ("a", 5)], id="filter"),
        pytest.param("SELECT k, m, n AS total FROM events", [("a", 2), ("a", 4), ("a", 5)], id="one more column"),
    ],
)
def test_a_stateless_query_may_change_its_projection_and_filter(lake: Lake, after: str, expected: list[tuple[Any, ...]]) -> None:
    """Class *restart*: only what is read from now on is treated anew."""
    play(lake, Change(before="SELECT k, n AS total FROM events", after=after))
    assert written(lake, "k", "total") == expected


def test_sum_to_max_of_one_type_is_accepted_with_the_state_of_sum(lake: Lake) -> None:
    """Never a silent restart: the greatest of 5, 2 and 4 comes out as 7, the sum of the first two."""
    play(lake, Change(before=SUM, after=SUM.replace("sum", "max"), mode="complete"))
    assert written(lake, "k", "total") == [("a", 7)]


def test_another_window_size_is_accepted_with_the_old_windows(lake: Lake) -> None:
    """Never a silent restart: windows of 5 minutes stay among those of 1 minute."""
    by = "SELECT window(at, '5 minutes').start AS since, sum(n) AS total FROM events GROUP BY window(at, '5 minutes')"
    play(lake, Change(before=by, after=by.replace("5 minutes", "1 minute"), mode="complete"))
    assert [(since.minute, total) for since, total in written(lake, "since", "total")] == [(0, 5), (5, 2), (8, 4)]


def test_another_watermark_delay_is_accepted(lake: Lake) -> None:
    """Never a silent restart: what counts as late changes in the middle of the stream."""
    by = "SELECT window(at, '1 minute').start AS since, sum(n) AS total FROM events GROUP BY window(at, '1 minute')"
    play(lake, Change(before=by, after=by, watermark=("0 seconds", "1 hour")))
    # With the delay of 0 the first minute was closed by the first run, and stays closed.
    assert [(since.minute, total) for since, total in written(lake, "since", "total")] == [(1, 5)]


def test_left_outer_to_inner_join_is_accepted(lake: Lake) -> None:
    """Never a silent restart: rows that waited for their partner would have come out."""
    _play_join(lake, "LEFT OUTER", "INNER")


def test_files_per_trigger_may_change(lake: Lake) -> None:
    """A rate limit belongs to the run, not to the checkpoint."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(lake.files("events").select("k", "m"), "out")
    lake.land("events", SECOND)
    lake.land("events", SECOND)
    lake.run(lake.files("events", maxFilesPerTrigger=1).select("k", "m"), "out")
    assert batches(lake.checkpoint(), "commits") == [0, 1, 2]


@fact("pinned.conf")
def test_a_pinned_conf_keeps_its_first_value(lake: Lake) -> None:
    """Class *no effect*: the offset log, not the session, says how many shuffle partitions a query has."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(stream(lake, SUM, None), "out", mode="complete")
    lake.spark.conf.set("spark.sql.shuffle.partitions", "3")
    lake.land("events", SECOND)
    lake.run(stream(lake, SUM, None), "out", mode="complete")
    for batch in batches(lake.checkpoint(), "offsets"):
        assert '"spark.sql.shuffle.partitions":"2"' in entry(lake.checkpoint(), "offsets", batch)[1]
    assert sorted(item.name for item in (lake.checkpoint() / "state" / "0").iterdir()) == ["0", "1", "_metadata"]


# Refused


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        pytest.param(
            Change(before=SUM, after="SELECT k, sum(n) AS total, avg(n) AS mean FROM events GROUP BY k", mode="complete"),
            "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
            id="one more aggregate",
        ),
        pytest.param(
            Change(before=SUM, after="SELECT k, avg(n) AS mean FROM events GROUP BY k", mode="complete"),
            "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
            id="sum to avg",
        ),
        pytest.param(
            Change(before=SUM, after="SELECT k, m, sum(n) AS total FROM events GROUP BY k, m", mode="complete"),
            "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
            id="one more grouping key",
        ),
    ],
)
def test_another_shape_of_the_state_is_refused(lake: Lake, change: Change, condition: str) -> None:
    """Class *new generation*; nothing is written before Spark finds out."""
    with refused(condition):
        play(lake, change)
    assert written(lake, "k", "total") == [("a", 7)]


def test_other_columns_to_deduplicate_by_are_refused(lake: Lake) -> None:
    """Class *new generation*."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(lake.files("events").dropDuplicates(["k"]).select("k"), "out")
    lake.land("events", SECOND)
    with refused("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"):
        lake.run(lake.files("events").dropDuplicates(["k", "m"]).select("k"), "out")


def test_inner_to_left_outer_join_is_refused(lake: Lake) -> None:
    """Class *new generation*."""
    with refused("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"):
        _play_join(lake, "INNER", "LEFT OUTER")


Source = Callable[[Lake], Any]


def union_of_two(lake: Lake) -> Any:
    return lake.files("events").select("k", "m").union(lake.files("more").select("k", "m"))


def another_folder(lake: Lake) -> Any:
    lake.land("moved", SECOND)
    return lake.files("moved").select("k", "m")


def another_kind(lake: Lake) -> Any:
    return lake.spark.readStream.format("rate").load().selectExpr("string(value) AS k", "'x' AS m")


def a_table(lake: Lake) -> Any:
    lake.create("source", COLUMNS)
    return lake.spark.readStream.table(lake.name("source")).select("k", "m")


@pytest.mark.parametrize(
    ("after", "why"),
    [
        pytest.param(union_of_two, r"There are \[1\] sources in the checkpoint offsets and now there are \[2\]", id="one more source"),
        pytest.param(another_folder, "Wrong basePath", id="another folder"),
        pytest.param(another_kind, "For input string", id="files to rate"),
        pytest.param(a_table, "Cannot parse missing int: version", id="files to a table"),
    ],
)
def test_other_sources_are_refused(lake: Lake, after: Source, why: str) -> None:
    """Blocked on a checkpoint: the number of sources, the path of files, the kind of a source."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(lake.files("events").select("k", "m"), "out")
    lake.land("events", SECOND)
    with refused(why):
        lake.run(after(lake), "out")
    assert len(lake.rows("out")) == 2


def test_one_source_less_is_refused(lake: Lake) -> None:
    """Blocked on a checkpoint."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(union_of_two(lake), "out")
    with refused(r"There are \[2\] sources in the checkpoint offsets and now there are \[1\]"):
        lake.run(lake.files("events").select("k", "m"), "out")


def test_a_path_that_still_covers_the_old_files_is_accepted(lake: Lake) -> None:
    """Spark compares no paths, it only fails where old files lie outside the new one: the planner compares paths itself."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(lake.files("events").select("k", "m"), "out")
    lake.land("events-moved", SECOND)
    above = lake.spark.readStream.format("json").schema(EVENT).load(str(lake.folder / "events*"))
    lake.run(above.select("k", "m"), "out")
    assert written(lake, "k", "m") == [("a", "x"), ("a", "x"), ("a", "y")]


# Replayed


def test_a_batch_whose_commit_entry_was_lost_is_not_written_twice(lake: Lake) -> None:
    """Append to the main branch is exactly once by Iceberg's own check of query and epoch."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(lake.files("events").select("k", "m"), "out")
    lake.land("events", SECOND)
    lake.run(lake.files("events").select("k", "m"), "out")
    assert batches(lake.checkpoint(), "commits") == [0, 1]
    forget(lake.checkpoint(), "commits", 1)
    lake.run(lake.files("events").select("k", "m"), "out")
    assert batches(lake.checkpoint(), "commits") == [0, 1]
    assert len(lake.rows("out")) == 3
    assert len(lake.summaries("out")) == 2


def test_a_new_checkpoint_writes_everything_again(lake: Lake) -> None:
    """A generation that starts at ``earliest`` into kept rows repeats them."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    for checkpoint in ("g0001", "g0002"):
        lake.run(lake.files("events").select("k", "m"), "out", checkpoint=checkpoint)
    assert len(lake.rows("out")) == 4


def refused(condition: str) -> Any:
    from pyspark.errors import StreamingQueryException

    return pytest.raises(StreamingQueryException, match=condition)


def _play_join(lake: Lake, before: str, after: str) -> None:
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.land("more", FIRST)
    for kind in (before, after):
        for folder in ("events", "more"):
            lake.files(folder).withWatermark("at", "1 minute").createOrReplaceTempView(folder)
        sql = f"SELECT e.k, o.m FROM events e {kind} JOIN more o ON e.m = o.m AND e.at BETWEEN o.at AND o.at + INTERVAL 1 MINUTE"
        lake.run(lake.spark.sql(sql), "out")
        lake.land("events", SECOND)
