"""The work of a streaming query into an Iceberg table, and the effect of a change of the table on a query
that runs.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import StringType

from tests.facts.ids import fact
from tests.facts.lake import Lake, collected, drain

pytestmark = pytest.mark.jvm

COLUMNS = {"k": "string", "n": "long"}
FIRST = [{"k": "a", "n": 1}, {"k": "b", "n": 2}]
SECOND = [{"k": "c", "n": 3}]


def events(lake: Lake) -> Any:
    return lake.files("events").select("k", "n")


def batch(lake: Lake, query: Any, n: int) -> None:
    """One more batch of a running query."""
    lake.land("events", [{"k": "a", "n": n}])
    drain(query)


def spec_ids(lake: Lake) -> list[int]:
    """Partition specifications of the data files."""
    return sorted(task.file.spec_id for task in lake.load("out").scan().plan_files())


def rename(lake: Lake) -> None:
    with lake.load("out").update_schema() as change:
        change.rename_column("n", "amount")


def remove(lake: Lake) -> None:
    with lake.load("out").update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("n")


def replace(lake: Lake) -> None:
    lake.catalog.drop_table(f"{lake.namespace}.out")
    lake.create("out", COLUMNS)


def test_spark_streams_into_a_table_of_pyiceberg_and_both_read_it(lake: Lake) -> None:
    """Tables are made and changed without a JVM, in the catalog that Spark then writes through."""
    made = lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(events(lake), "out")
    assert lake.rows("out") == [("a", 1), ("b", 2)]
    assert collected(lake.spark.table(lake.name("out"))) == [("a", 1), ("b", 2)]
    assert lake.load("out").metadata.table_uuid == made.metadata.table_uuid


def test_spark_spells_local_places_with_one_slash(lake: Lake) -> None:
    """``catalog.spec.local_path`` reads both spellings: the sides differ in them."""
    made = lake.create("out", {"k": "string", "n": "long"})
    assert made.metadata_location.startswith("file:///")
    lake.land("events", FIRST)
    lake.run(events(lake), "out")
    (task, *_) = lake.load("out").scan().plan_files()
    for written in (lake.load("out").metadata_location, task.file.file_path):
        assert re.match(r"file:/(?!/)", written)


@fact("sink.missing-table")
def test_a_missing_table_is_created_silently(lake: Lake) -> None:
    """The driver looks for the table before it starts a query: Spark would make one, without partitions and
    properties.
    """
    lake.land("events", FIRST)
    lake.run(events(lake), "mistyped")
    made = lake.load("mistyped")
    assert made.spec().is_unpartitioned()
    assert lake.rows("mistyped") == [("a", 1), ("b", 2)]


def test_a_column_may_be_added_under_a_running_query(lake: Lake) -> None:
    """A new nullable column needs no stop of the jobs that write the table."""
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    query = lake.start(events(lake), "out")
    drain(query)
    with lake.load("out").update_schema() as change:
        change.add_column("note", StringType())
    lake.land("events", SECOND)
    drain(query)
    assert query.isActive
    assert lake.rows("out") == [("a", 1, None), ("b", 2, None), ("c", 3, None)]


@fact("sink.partitioned")
def test_a_running_query_partitions_anew_from_its_second_batch_on(lake: Lake) -> None:
    """No restart is needed; a query learns of a change of the table when it commits, so one batch more is
    written the old way.
    """
    lake.create("out", COLUMNS)
    query = lake.start(events(lake), "out")
    batch(lake, query, 0)
    with lake.load("out").update_spec() as change:
        change.add_field("k", IdentityTransform(), "k")
    batch(lake, query, 1)
    assert spec_ids(lake) == [0, 0]
    batch(lake, query, 2)
    assert spec_ids(lake) == [0, 0, 1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(rename, [("a", 0), ("a", 1)], id="rename"),
        pytest.param(remove, [("a",), ("a",)], id="drop"),
    ],
)
def test_a_written_column_that_goes_ends_the_query_at_its_second_batch(
    lake: Lake, change: Callable[[Lake], None], expected: list[tuple[Any, ...]]
) -> None:
    """Jobs that write a column stop before it is renamed or dropped: one batch still passes, and of a dropped
    column its values are lost in silence. Afterwards the query fails at every start, until its SQL fits.
    """
    from pyspark.errors import StreamingQueryException

    lake.create("out", COLUMNS)
    query = lake.start(events(lake), "out")
    batch(lake, query, 0)
    change(lake)
    batch(lake, query, 1)
    assert lake.rows("out") == expected
    with pytest.raises(StreamingQueryException, match="Field n not found in source schema"):
        batch(lake, query, 2)
    with pytest.raises(StreamingQueryException, match="Field n not found in source schema"):
        lake.run(events(lake), "out")
    assert lake.rows("out") == expected


@fact("sink.made-anew")
def test_a_table_made_anew_ends_a_running_query(lake: Lake) -> None:
    """Iceberg compares the uuid when it commits: nothing gets into the other table."""
    from pyspark.errors import StreamingQueryException

    lake.create("out", COLUMNS)
    query = lake.start(events(lake), "out")
    batch(lake, query, 0)
    replace(lake)
    with pytest.raises(StreamingQueryException, match="Table UUID does not match"):
        batch(lake, query, 1)
    assert lake.rows("out") == []


@fact("sink.made-anew-at-start")
def test_a_table_dropped_and_made_anew_is_accepted_at_the_next_start(lake: Lake) -> None:
    """A query is bound to the table's uuid by the driver: Spark goes on in the new one, without the rows of
    the old.
    """
    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    lake.run(events(lake), "out")
    replace(lake)
    lake.land("events", SECOND)
    lake.run(events(lake), "out")
    assert lake.rows("out") == [("c", 3)]


@fact("sink.extra-column")
def test_an_extra_column_is_found_only_when_the_query_runs(lake: Lake) -> None:
    """The driver compares columns before it starts: the query itself is accepted and then fails."""
    from pyspark.errors import StreamingQueryException

    lake.create("out", {"k": "string"})
    lake.land("events", FIRST)
    query = lake.start(events(lake), "out")
    with pytest.raises(StreamingQueryException, match="Field n not found in source schema"):
        drain(query)


@fact("sink.column-order")
def test_columns_in_another_order_are_refused(lake: Lake) -> None:
    """The driver brings the columns into the table's order."""
    from pyspark.errors import StreamingQueryException

    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    with pytest.raises(StreamingQueryException, match="out of order"):
        lake.run(events(lake).select("n", "k"), "out")


@fact("sink.update-mode")
def test_update_mode_is_refused_only_when_the_query_runs(lake: Lake) -> None:
    """``mode = "update"`` is an error of the configuration."""
    from pyspark.errors import StreamingQueryException

    lake.create("out", COLUMNS)
    lake.land("events", FIRST)
    counted = lake.files("events").groupBy("k").count().withColumnRenamed("count", "n")
    with pytest.raises(StreamingQueryException, match="does not support Update mode"):
        lake.run(counted, "out", mode="update")


@fact("sink.complete-mode")
def test_complete_mode_wipes_the_rows_of_others(lake: Lake) -> None:
    """A complete output owns its table."""
    lake.create("out", COLUMNS)
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('by hand', 7)")
    lake.land("events", FIRST)
    counted = lake.files("events").groupBy("k").count().withColumnRenamed("count", "n")
    lake.run(counted, "out", mode="complete")
    assert lake.rows("out") == [("a", 1), ("b", 1)]
