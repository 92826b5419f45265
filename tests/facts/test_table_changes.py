"""The effect of a change of a table on the queries that run on it: those that write it, stream from it, and
look things up in it.

A query has made a batch, then comes the change, then two more batches. Which jobs stop for a change of a
table rests on these rows: the numbers that are there in the end (7 and 8 were in the table before, 0 is a
null), or ``!``, the batch at which the query ended, and why.
"""

from collections.abc import Callable
from typing import Any

import pytest
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, StringType

from tests.facts.ids import fact
from tests.facts.lake import Lake, agrees, drain, why

pytestmark = pytest.mark.jvm

Change = Callable[[Lake], None]
COLUMNS = {"k": "string", "n": "int", "x": "string"}
OUT = {"k": "string", "n": "long", "note": "string"}


def rename(lake: Lake) -> None:
    with lake.load("t").update_schema() as change:
        change.rename_column("n", "amount")


def remove(lake: Lake) -> None:
    with lake.load("t").update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("n")


def remove_other(lake: Lake) -> None:
    with lake.load("t").update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("x")


def sort(lake: Lake) -> None:
    lake.spark.sql(f"ALTER TABLE {lake.name('t')} WRITE ORDERED BY k")


def widen(lake: Lake) -> None:
    with lake.load("t").update_schema() as change:
        change.update_column("n", LongType())


def add_required(lake: Lake) -> None:
    with lake.load("t").update_schema(allow_incompatible_changes=True) as change:
        change.add_column("must", StringType(), required=True)


def add(lake: Lake) -> None:
    with lake.load("t").update_schema() as change:
        change.add_column("note", StringType())


def partition(lake: Lake) -> None:
    with lake.load("t").update_spec() as change:
        change.add_field("k", IdentityTransform(), "k")


def reorder(lake: Lake) -> None:
    with lake.load("t").update_schema() as change:
        change.move_first("n")


def set_property(lake: Lake) -> None:
    lake.load("t").transaction().set_properties({"owner": "x"}).commit_transaction()


def replace(lake: Lake) -> None:
    """A query that looks between the two finds no table, and one that looks later another one."""
    lake.catalog.drop_table(f"{lake.namespace}.t")
    lake.create("t", COLUMNS)


def drop(lake: Lake) -> None:
    lake.catalog.drop_table(f"{lake.namespace}.t")


def delete_all(lake: Lake) -> None:
    lake.spark.sql(f"DELETE FROM {lake.name('t')}")


def roll_back(lake: Lake) -> None:
    first = lake.load("t").snapshots()[0].snapshot_id
    lake.spark.sql(f"CALL lake.system.rollback_to_snapshot('{lake.namespace}.t', {first})")


def insert(lake: Lake, n: int) -> None:
    """A row by another writer, whatever the columns are called by now."""
    if not lake.catalog.table_exists(f"{lake.namespace}.t"):
        return
    values = {"k": "'a'", "n": str(n), "amount": str(n), "must": "'m'", "x": "'x'", "note": "'new'"}
    row = ", ".join(values[item.name] for item in lake.load("t").schema().fields)
    lake.spark.newSession().sql(f"INSERT INTO {lake.name('t')} VALUES ({row})")


def land(lake: Lake, n: int) -> None:
    lake.land("events", [{"k": "a", "n": n}])


def land_and_insert(lake: Lake, n: int) -> None:
    """Before the third batch there is another row to find."""
    if n == 3:
        insert(lake, 1000)
    land(lake, n)


def writes(lake: Lake) -> Any:
    return lake.start(lake.files("events", "k STRING, n INT").select("k", "n"), "t")


def streams(lake: Lake) -> Any:
    return lake.start(lake.spark.readStream.table(lake.name("t")).selectExpr("k", "bigint(n) AS n"), "out")


def looks_up(lake: Lake) -> Any:
    lake.files("events", "k STRING, n INT").createOrReplaceTempView("events")
    lake.spark.table(lake.name("t")).createOrReplaceTempView("t")
    return lake.start(
        lake.spark.sql("SELECT e.k, bigint(e.n * 100 + t.n) AS n FROM events e JOIN t ON e.k = t.k"), "out"
    )


def row(name: str, change: Change, outcome: str) -> Any:
    return pytest.param(change, outcome, id=name, marks=fact(name))


def play(
    lake: Lake, start: Callable[[Lake], Any], step: Callable[[Lake, int], None], change: Change, result: str
) -> str:
    """The numbers in a table afterwards, and after which batch which words ended the query."""
    from pyspark.errors import StreamingQueryException

    lake.create("t", COLUMNS)
    lake.create("out", OUT)
    insert(lake, 7)
    insert(lake, 8)
    query = start(lake)
    for number in (1, 2, 3):
        if number == 2:
            change(lake)
        step(lake, number)
        try:
            drain(query)
        except StreamingQueryException as failure:
            return f"!{number} {why(failure)}"
    rows = lake.load(result).scan().to_arrow().to_pylist()
    return " ".join(map(str, sorted(item.get("n", item.get("amount")) or 0 for item in rows)))


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        row("table.written-column-added", add, "1 2 3 7 8"),
        row(
            "table.written-required-column-added",
            add_required,
            "!3 Cannot write incompatible dataset to table with schema",
        ),
        row("table.written-column-renamed", rename, "!3 Field n not found in source schema"),
        row("table.written-column-dropped", remove, "!3 Field n not found in source schema"),
        row("table.written-other-column-dropped", remove_other, "1 2 3 7 8"),
        row("table.written-column-widened", widen, "1 2 3 7 8"),
        row(
            "table.written-columns-reordered",
            reorder,
            "!3 Cannot write incompatible dataset to table with schema",
        ),
        row("table.written-partitioned", partition, "1 2 3 7 8"),
        row("table.written-sorted", sort, "1 2 3 7 8"),
        row("table.written-property-set", set_property, "1 2 3 7 8"),
        row("table.written-dropped", drop, "!2 Failed to load table"),
        row("table.written-made-anew", replace, "!2 Table UUID does not match | 2 Failed to load table"),
        row("table.written-emptied", delete_all, "2 3"),
        row("table.written-rolled-back", roll_back, "2 3 7"),
    ],
)
def test_a_table_that_a_query_writes(lake: Lake, change: Change, outcome: str) -> None:
    """A query learns of a change when it commits: one batch more is written the old way, and the next one
    fails.
    """
    found = play(lake, writes, land, change, "t")
    assert agrees(found, outcome), found


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        row("table.streamed-column-added", add, "1 2 3 7 8"),
        row("table.streamed-column-renamed", rename, "1 2 3 7 8"),
        row("table.streamed-column-dropped", remove, "0 0 1 7 8"),
        row("table.streamed-other-column-dropped", remove_other, "1 2 3 7 8"),
        row("table.streamed-column-widened", widen, "!2 Job aborted"),
        row("table.streamed-columns-reordered", reorder, "1 2 3 7 8"),
        row("table.streamed-partitioned", partition, "1 2 3 7 8"),
        row("table.streamed-dropped", drop, "!2 Failed to load table"),
        row("table.streamed-made-anew", replace, "!2 Table UUID does not match | 2 Failed to load table"),
        row("table.streamed-emptied", delete_all, "!2 Cannot process delete snapshot"),
        row("table.streamed-rolled-back", roll_back, "!2 Cannot invoke"),
    ],
)
def test_a_table_that_a_query_streams_from(lake: Lake, change: Change, outcome: str) -> None:
    """A stream keeps the columns that it started with: of a dropped one it reads nulls in silence. What it
    has read may not go.
    """
    found = play(lake, streams, insert, change, "out")
    assert agrees(found, outcome), found


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        row("table.looked-up-column-added", add, "107 108 207 208 307 308 1300"),
        row(
            "table.looked-up-column-renamed",
            rename,
            "!2 [INCOMPATIBLE_TABLE_CHANGE_AFTER_ANALYSIS.COLUMNS_MISMATCH]",
        ),
        row(
            "table.looked-up-column-dropped",
            remove,
            "!2 [INCOMPATIBLE_TABLE_CHANGE_AFTER_ANALYSIS.COLUMNS_MISMATCH]",
        ),
        row(
            "table.looked-up-other-column-dropped",
            remove_other,
            "!2 [INCOMPATIBLE_TABLE_CHANGE_AFTER_ANALYSIS.COLUMNS_MISMATCH]",
        ),
        row(
            "table.looked-up-column-widened",
            widen,
            "!2 [INCOMPATIBLE_TABLE_CHANGE_AFTER_ANALYSIS.COLUMNS_MISMATCH]",
        ),
        row("table.looked-up-columns-reordered", reorder, "107 108 207 208 307 308 1300"),
        row("table.looked-up-partitioned", partition, "107 108 207 208 307 308 1300"),
        row("table.looked-up-dropped", drop, "!2 [TABLE_OR_VIEW_NOT_FOUND]"),
        row(
            "table.looked-up-made-anew",
            replace,
            "!2 [INCOMPATIBLE_TABLE_CHANGE_AFTER_ANALYSIS.TABLE_ID_MISMATCH] | 2 [TABLE_OR_VIEW_NOT_FOUND]",
        ),
        row("table.looked-up-emptied", delete_all, "107 108 1300"),
        row("table.looked-up-rolled-back", roll_back, "107 108 207 307 1300"),
    ],
)
def test_a_table_that_a_query_looks_things_up_in(lake: Lake, change: Change, outcome: str) -> None:
    """Each batch reads the table as it is then, new rows with it; a column that is gone or of another type
    ends the query, read or not.
    """
    found = play(lake, looks_up, land_and_insert, change, "out")
    assert agrees(found, outcome), found
