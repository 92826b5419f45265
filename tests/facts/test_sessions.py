"""The settings and objects that jobs in one Spark application share, and those that they do not."""

import time

import pytest

from tests.facts.ids import fact
from tests.facts.lake import CATALOG, SECONDS, Home, Lake, drain, make_active, schema_of

pytestmark = pytest.mark.jvm


@fact("driver.session")
def test_a_new_session_has_views_and_conf_of_its_own(lake: Lake) -> None:
    """Each job gets one: its conf and views cannot meet another's."""
    other = lake.spark.newSession()
    lake.spark.conf.set("spark.sql.shuffle.partitions", "7")
    lake.spark.range(1).createOrReplaceTempView("mine")
    assert other.conf.get("spark.sql.shuffle.partitions") == "2"
    assert not other.catalog.tableExists("mine")
    assert lake.spark.catalog.tableExists("mine")


def test_a_catalog_is_loaded_with_the_conf_of_the_active_session(lake: Lake) -> None:
    """A job's session is made the active one of its thread: for calls into the JVM the session that they are
    given is not enough.
    """
    from pyspark.errors import AnalysisException

    second = Home(root=lake.folder)
    there = second.catalog()
    there.create_namespace("demo")
    made = there.create_table("demo.events", schema_of({"k": "string"}))
    there.close()
    other = lake.spark.newSession()
    for key, value in second.spark_conf().items():
        if key.startswith("spark.sql.catalog."):
            other.conf.set(key, value)
    load = other._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        load(other._jsparkSession, f"{CATALOG}.demo.events")
    third = other.newSession()
    for key, value in second.spark_conf().items():
        if key.startswith("spark.sql.catalog."):
            third.conf.set(key, value)
    make_active(third)
    assert load(third._jsparkSession, f"{CATALOG}.demo.events").uuid().toString() == str(
        made.metadata.table_uuid
    )


def test_a_query_is_listed_in_its_own_session_alone(lake: Lake) -> None:
    """Stopping what one session lists touches no other job."""
    lake.create("out", {"value": "long"})
    other = lake.spark.newSession()
    query = lake.start(lake.spark.readStream.format("rate").load().select("value"), "out")
    assert [item.id for item in lake.spark.streams.active] == [query.id]
    assert other.streams.active == []


@pytest.mark.parametrize("same_session", [True, False])
def test_a_second_start_on_a_checkpoint_is_refused(lake: Lake, same_session: bool) -> None:
    """With ``stopActiveRunOnRestart`` off; the first query runs on. The refusal has no error condition of
    Spark's.
    """
    from py4j.protocol import Py4JJavaError

    lake.create("out", {"value": "long"})
    first = lake.start(lake.spark.readStream.format("rate").load().select("value"), "out")
    spark = lake.spark if same_session else lake.spark.newSession()
    frame = spark.readStream.format("rate").load().select("value")
    with pytest.raises(Py4JJavaError, match="another query with same id is already active"):
        lake.start(frame, "out")
    assert first.isActive


@fact("driver.second-start")
def test_with_the_default_a_second_start_ends_the_first_query_silently(lake: Lake) -> None:
    """The driver turns the setting off for this reason."""
    lake.create("out", {"value": "long"})
    lake.spark.conf.set("spark.sql.streaming.stopActiveRunOnRestart", "true")
    first = lake.start(lake.spark.readStream.format("rate").load().select("value"), "out")
    second = lake.start(lake.spark.readStream.format("rate").load().select("value"), "out")
    assert (first.isActive, first.exception()) == (False, None)
    assert second.isActive
    assert first.id == second.id
    assert first.runId != second.runId


def test_a_watermark_lives_on_in_a_view(lake: Lake) -> None:
    """``driver.views`` declares watermarks before the steps in SQL see their input."""
    from pyspark.errors import AnalysisException

    lake.create("out", {"n": "long"})
    lake.land("events", [{"k": "a", "n": 1, "at": "2026-01-01T00:00:00Z"}])
    sql = "SELECT sum(n) AS n FROM events GROUP BY window(at, '1 minute')"
    lake.files("events").createOrReplaceTempView("events")
    with pytest.raises(AnalysisException, match="watermark"):
        lake.run(lake.spark.sql(sql), "out", checkpoint="without")
    lake.files("events").withWatermark("at", "1 minute").createOrReplaceTempView("events")
    lake.run(lake.spark.sql(sql), "out", checkpoint="with")


def test_reports_of_empty_triggers_have_no_add_batch(lake: Lake) -> None:
    """``driver.query_watch`` counts batches by the reports that have one."""
    lake.create("out", {"k": "string"})
    lake.land("events", [{"k": "a"}])
    lake.spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "100")  # 10 seconds if not set
    query = lake.start(lake.files("events").select("k"), "out")
    drain(query)
    deadline = time.monotonic() + SECONDS
    while len(query.recentProgress) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    reports = [
        ("addBatch" in report.durationMs, report.batchId, report.numInputRows)
        for report in query.recentProgress
    ]
    assert reports[0] == (True, 0, 1)
    assert {worked for worked, _, _ in reports[1:]} == {False}


def test_a_name_with_dots_and_slashes_is_fine(lake: Lake) -> None:
    """Queries are named ``ADDRESS/OUTPUT``."""
    lake.create("out", {"value": "long"})
    writer = (
        lake.spark.readStream.format("rate")
        .load()
        .select("value")
        .writeStream.queryName('job.flights["a"]/main')
    )
    query = writer.option("checkpointLocation", str(lake.checkpoint())).toTable(lake.name("out"))
    assert query.name == 'job.flights["a"]/main'


def test_an_empty_stream_of_declared_columns_can_be_analysed(lake: Lake) -> None:
    """SQL is checked against planned columns before a table or file exists."""
    from pyspark.errors import AnalysisException

    empty = (
        lake.spark.readStream.format("rate")
        .load()
        .selectExpr("CAST(NULL AS STRING) AS k", "CAST(NULL AS BIGINT) AS n")
    )
    empty.createOrReplaceTempView("events")
    assert lake.spark.sql("SELECT k, sum(n) AS total FROM events GROUP BY k").isStreaming
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        lake.spark.sql("SELECT nobody FROM events")
