"""The marks of a commit of Spark's in its snapshot's summary: by them others recognise a query's batches and
a batch job's run.
"""

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake

pytestmark = pytest.mark.jvm

COLUMNS = {"k": "string", "n": "long"}


@fact("marks.query-and-epoch")
def test_a_streaming_commit_carries_query_and_epoch(lake: Lake) -> None:
    """The writer of a table and its progress are read without a JVM; Iceberg's own check of replayed batches
    rests on the same.
    """
    lake.create("out", COLUMNS)
    for at in range(2):
        lake.land("events", [{"k": "a", "n": at}])
        query = lake.run(lake.files("events").select("k", "n"), "out")
    summaries = lake.summaries("out")
    assert [item["spark.sql.streaming.queryId"] for item in summaries] == [query.id, query.id]
    assert [item["spark.sql.streaming.epochId"] for item in summaries] == ["0", "1"]
    assert {item["spark.app.id"] for item in summaries} == {lake.spark.sparkContext.applicationId}
    assert [item["added-records"] for item in summaries] == ["1", "1"]


def test_an_option_marks_a_batch_write(lake: Lake) -> None:
    """``batch_run`` finds by this mark what a run wrote already."""
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it

    lake.create("out", COLUMNS)
    rows = lake.spark.sql("SELECT 'a' AS k, 1L AS n")
    rows.writeTo(lake.name("out")).option("snapshot-property.flareiac.run-id", "one").append()
    rows.writeTo(lake.name("out")).option("snapshot-property.flareiac.run-id", "two").overwrite(F.lit(True))
    assert [item["flareiac.run-id"] for item in lake.summaries("out")] == ["one", "two"]
    assert lake.rows("out") == [("a", 1)]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO {out} SELECT * FROM s",
        "INSERT OVERWRITE {out} SELECT * FROM s",
        (
            "MERGE INTO {out} USING s ON {out}.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN "
            "INSERT *"
        ),
        "UPDATE {out} SET n = 7 WHERE k = 'old'",
    ],
    ids=lambda statement: statement.split(" INTO")[0].split(" {")[0].lower(),
)
def test_a_conf_of_the_session_marks_every_kind_of_write(lake: Lake, statement: str) -> None:
    """MERGE takes no options; the conf reaches it."""
    lake.create("out", COLUMNS)
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('old', 1)")
    lake.spark.sql("SELECT 'a' AS k, 2L AS n").createOrReplaceTempView("s")
    lake.spark.conf.set("spark.sql.iceberg.snapshot-property.flareiac.mark", "here")
    lake.spark.sql(statement.format(out=lake.name("out")))
    first, *later = lake.summaries("out")
    assert "flareiac.mark" not in first
    assert [item["flareiac.mark"] for item in later] == ["here"] * len(later)
    assert later


@fact("marks.other-session")
def test_a_conf_of_another_session_marks_nothing(lake: Lake) -> None:
    """One job's marks stay its own."""
    lake.create("out", COLUMNS)
    lake.spark.newSession().conf.set("spark.sql.iceberg.snapshot-property.flareiac.mark", "elsewhere")
    lake.spark.sql(f"INSERT INTO {lake.name('out')} VALUES ('a', 1)")
    assert "flareiac.mark" not in lake.summaries("out")[0]


@fact("marks.streaming-append")
def test_a_conf_marks_a_streaming_append_too(lake: Lake) -> None:
    """Beside Iceberg's own marks."""
    lake.create("out", COLUMNS)
    lake.land("events", [{"k": "a", "n": 1}])
    lake.spark.conf.set("spark.sql.iceberg.snapshot-property.flareiac.mark", "here")
    lake.run(lake.files("events").select("k", "n"), "out")
    assert lake.summaries("out")[0]["flareiac.mark"] == "here"
