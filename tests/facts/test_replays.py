"""The rows that are written twice, or not at all, when a batch is replayed, and the marks by which a batch is
known.

Exactly once rests on these rows.
"""

import shutil
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.lake import SECONDS, Lake, batches, forget

pytestmark = pytest.mark.jvm

COLUMNS = {"k": "string", "n": "long"}
MARK = "spark.sql.iceberg.snapshot-property.flareiac.batch-id"
WRITES = [
    pytest.param("writeTo", id="append"),
    pytest.param("INSERT INTO {out} SELECT * FROM batch", id="insert"),
    pytest.param("INSERT INTO {out}.branch_b SELECT * FROM batch", id="branch"),
    pytest.param("INSERT OVERWRITE {out} SELECT * FROM batch", id="overwrite"),
    pytest.param("MERGE INTO {out} t USING batch s ON t.n = s.n WHEN NOT MATCHED THEN INSERT *", id="merge"),
]


def land(lake: Lake, n: int) -> None:
    lake.land("events", [{"k": "a", "n": n}])


def events(lake: Lake) -> Any:
    return lake.files("events").select("k", "n")


def each_batch(lake: Lake, write: Any, *, checkpoint: str = "checkpoint") -> None:
    """A query that hands each batch to a function."""
    writer = events(lake).writeStream.option("checkpointLocation", str(lake.checkpoint(checkpoint)))
    query = writer.foreachBatch(write).trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(SECONDS), "the query did not end"
    finally:
        query.stop()


def marks(lake: Lake) -> list[str | None]:
    return [item.get("flareiac.batch-id") for item in lake.summaries("out")]


@fact("marks.each-batch")
@pytest.mark.parametrize("statement", WRITES)
def test_a_conf_of_the_batch_session_marks_every_kind_of_write(lake: Lake, statement: str) -> None:
    """``driver.marks``: the mark goes on the session of the batch, and is taken off it again."""
    lake.create("out", COLUMNS)
    lake.spark.sql(f"ALTER TABLE {lake.name('out')} CREATE BRANCH b")

    def write(frame: Any, number: int) -> None:
        spark = frame.sparkSession
        spark.conf.set(MARK, str(number))
        if statement == "writeTo":
            frame.writeTo(lake.name("out")).append()
        else:
            frame.createOrReplaceTempView("batch")
            spark.sql(statement.format(out=lake.name("out")))
        spark.conf.unset(MARK)

    for n in (1, 2):
        land(lake, n)
        each_batch(lake, write)
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('by hand', 9)")
    assert marks(lake)[-3:] == ["0", "1", None]


@fact("marks.batch-session")
def test_a_mark_that_is_left_on_the_batch_session_is_there_in_the_next_batch(lake: Lake) -> None:
    """All batches of a run share a session, which is not the one that started the query."""
    lake.create("out", COLUMNS)
    seen = []

    def write(frame: Any, number: int) -> None:
        seen.append(frame.sparkSession.conf.get(MARK, "-"))
        frame.sparkSession.conf.set(MARK, str(number))

    for n in (1, 2):
        land(lake, n)
    writer = lake.files("events", maxFilesPerTrigger=1).writeStream.option(
        "checkpointLocation", str(lake.checkpoint())
    )
    query = writer.foreachBatch(write).trigger(availableNow=True).start()
    assert query.awaitTermination(SECONDS)
    assert seen == ["-", "0"]
    assert lake.spark.conf.get(MARK, "-") == "-"


@fact("marks.replay")
def test_a_replayed_batch_has_its_number_and_rows_and_is_written_again(lake: Lake) -> None:
    """Each commit of ``foreach_batch`` is marked for this reason, and the mark is looked for before the
    commit is made.
    """
    lake.create("out", COLUMNS)
    seen = []

    def write(frame: Any, number: int) -> None:
        seen.append((number, frame.count()))
        frame.writeTo(lake.name("out")).append()

    land(lake, 1)
    each_batch(lake, write)
    forget(lake.checkpoint(), "commits", 0)
    land(lake, 2)
    each_batch(lake, write)
    assert seen == [(0, 1), (0, 1), (1, 1)]
    assert lake.rows("out") == [("a", 1), ("a", 1), ("a", 2)]


@fact("marks.batch-number-of-a-new-checkpoint")
def test_a_new_checkpoint_counts_its_batches_from_zero(lake: Lake) -> None:
    """A mark holds the query id beside the number."""
    seen: list[int] = []
    for checkpoint in ("g0001", "g0002"):
        land(lake, 1)
        each_batch(lake, lambda _, number: seen.append(number), checkpoint=checkpoint)
    assert seen == [0, 0]


@fact("marks.epoch")
def test_a_batch_whose_commit_entry_was_lost_is_not_written_twice(lake: Lake) -> None:
    """Append to the main branch is exactly once by Iceberg's own check of query and epoch."""
    lake.create("out", COLUMNS)
    land(lake, 1)
    lake.run(events(lake), "out")
    land(lake, 2)
    lake.run(events(lake), "out")
    assert batches(lake.checkpoint(), "commits") == [0, 1]
    forget(lake.checkpoint(), "commits", 1)
    lake.run(events(lake), "out")
    assert batches(lake.checkpoint(), "commits") == [0, 1]
    assert len(lake.rows("out")) == 2
    assert len(lake.summaries("out")) == 2


@fact("marks.epoch-behind")
def test_a_checkpoint_moved_back_loses_rows_in_silence(lake: Lake) -> None:
    """Iceberg skips an epoch that this query has committed, whatever the batch holds now. A checkpoint behind
    its table is drift.
    """
    lake.create("out", COLUMNS)
    land(lake, 1)
    lake.run(events(lake), "out")
    shutil.copytree(lake.checkpoint(), lake.checkpoint("backup"))
    land(lake, 2)
    lake.run(events(lake), "out")
    shutil.rmtree(lake.checkpoint())
    shutil.copytree(lake.checkpoint("backup"), lake.checkpoint())
    land(lake, 3)
    lake.run(events(lake), "out")
    assert lake.rows("out") == [("a", 1), ("a", 2)]
    land(lake, 4)
    lake.run(events(lake), "out")
    assert lake.rows("out") == [("a", 1), ("a", 2), ("a", 4)]
    assert batches(lake.checkpoint(), "commits") == [0, 1, 2]


@fact("marks.expired")
def test_a_replayed_batch_is_doubled_once_its_snapshot_is_expired(lake: Lake) -> None:
    """Snapshots of batches that could be replayed are protected from expiry: Iceberg looks for them in the
    table's history.
    """
    lake.create("out", COLUMNS)
    land(lake, 1)
    lake.run(events(lake), "out")
    forget(lake.checkpoint(), "commits", 0)
    lake.spark.sql(
        f"CALL lake.system.rewrite_data_files(table => '{lake.namespace}.out', options => "
        "map('rewrite-all', 'true'))"
    )
    lake.load("out").maintenance.expire_snapshots().by_id(
        lake.load("out").snapshots()[0].snapshot_id
    ).commit()
    lake.run(events(lake), "out")
    assert lake.rows("out") == [("a", 1), ("a", 1)]


@fact("marks.compacted")
def test_a_replayed_batch_is_recognised_behind_a_compaction(lake: Lake) -> None:
    """The search goes through all ancestors."""
    lake.create("out", COLUMNS)
    land(lake, 1)
    lake.run(events(lake), "out")
    forget(lake.checkpoint(), "commits", 0)
    lake.spark.sql(
        f"CALL lake.system.rewrite_data_files(table => '{lake.namespace}.out', options => "
        "map('rewrite-all', 'true'))"
    )
    lake.run(events(lake), "out")
    assert lake.rows("out") == [("a", 1)]


def truncate(lake: Lake, branch: str | None = None) -> None:
    """Empties a table through Iceberg's own API, with a mark."""
    jvm = lake.spark._jvm
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        lake.spark._jsparkSession, lake.name("out")
    )
    delete = table.newDelete().set("flareiac.rebuild", "here")
    if branch:
        delete = delete.toBranch(branch)
    delete.deleteFromRowFilter(jvm.org.apache.iceberg.expressions.Expressions.alwaysTrue()).commit()


@fact("marks.truncate")
def test_a_table_is_emptied_in_one_marked_commit(lake: Lake) -> None:
    """``rebuild = "truncate"``: a resumed apply finds the mark."""
    lake.create("out", COLUMNS)
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('a', 1)")
    truncate(lake)
    assert lake.rows("out") == []
    last = lake.summaries("out")[-1]
    assert (last["flareiac.rebuild"], last["deleted-records"], len(lake.summaries("out"))) == ("here", "1", 2)


@fact("marks.truncate-branch")
def test_a_branch_is_emptied_by_itself(lake: Lake) -> None:
    """The rows of the main branch stay."""
    lake.create("out", COLUMNS)
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('a', 1)")
    lake.spark.sql(f"ALTER TABLE {lake.name('out')} CREATE BRANCH b")
    truncate(lake, "b")
    assert lake.rows("out") == [("a", 1)]
    assert lake.spark.table(f"{lake.name('out')}.branch_b").count() == 0


@fact("marks.truncate-empty")
def test_an_empty_table_can_be_emptied(lake: Lake) -> None:
    """There is a marked commit even so."""
    lake.create("out", COLUMNS)
    truncate(lake)
    assert [item["flareiac.rebuild"] for item in lake.summaries("out")] == ["here"]


@fact("marks.truncate-running-writer")
def test_a_query_that_writes_the_table_does_not_notice(lake: Lake) -> None:
    """It has to be stopped before: afterwards it goes on into the emptied table."""
    lake.create("out", COLUMNS)
    land(lake, 1)
    lake.run(events(lake), "out")
    truncate(lake)
    land(lake, 2)
    lake.run(events(lake), "out")
    assert lake.rows("out") == [("a", 2)]


@pytest.mark.parametrize(
    ("option", "runs"),
    [
        pytest.param(None, False, id="nothing", marks=fact("marks.truncate-reader")),
        pytest.param(
            "streaming-skip-delete-snapshots",
            True,
            id="deletes",
            marks=fact("marks.truncate-reader-skips-deletes"),
        ),
        pytest.param(
            "streaming-skip-overwrite-snapshots",
            False,
            id="overwrites",
            marks=fact("marks.truncate-reader-skips-overwrites"),
        ),
    ],
)
def test_a_stream_of_an_emptied_table_goes_on_only_if_it_skips(
    lake: Lake, option: str | None, runs: bool
) -> None:
    """Truncation is blocked while a stream reads the table without that flag."""
    from pyspark.errors import StreamingQueryException

    for table in ("out", "copy"):
        lake.create(table, COLUMNS)
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('a', 1)")
    options = {option: "true"} if option else {}
    reader = lake.spark.readStream.options(**options)
    lake.run(reader.table(lake.name("out")), "copy")
    truncate(lake)
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('a', 2)")
    if runs:
        lake.run(reader.table(lake.name("out")), "copy")
        assert lake.rows("copy") == [("a", 1), ("a", 2)]
    else:
        with pytest.raises(StreamingQueryException, match=r"Cannot process (delete|overwrite) snapshot"):
            lake.run(reader.table(lake.name("out")), "copy")
