"""The status of a job that Spark's report of a batch becomes."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac_spark_runtime.control import QueryStatus, SourceLag
from flareiac_spark_runtime.driver.progress import Activity, BatchReport, activity_of, finite
from flareiac_spark_runtime.driver.running_totals import RunningTotals
from flareiac_spark_runtime.utc import utc_ms, utc_text

REPORT: dict[str, Any] = {
    "id": "q",
    "batchId": 7,
    "timestamp": "2026-01-01T00:00:00.000Z",
    "inputRowsPerSecond": 2.5,
    "durationMs": {"addBatch": 900, "triggerExecution": 1500},
    "eventTime": {"max": "2026-01-01T00:00:00.000Z", "watermark": "2025-12-31T23:00:00.000Z"},
    "stateOperators": [
        {"operatorName": "dedupe", "numRowsTotal": 4, "numRowsDroppedByWatermark": 1},
        {"operatorName": "stateStoreSave", "numRowsTotal": 2, "numRowsDroppedByWatermark": 0},
    ],
    "sources": [
        {"description": "FileStreamSource[file:/in]", "endOffset": {"logOffset": 3}, "latestOffset": None},
        {"description": "Iceberg", "endOffset": {"v": 1}, "latestOffset": {"v": 1}, "metrics": {"a": "1"}},
    ],
    "sink": {"description": "Iceberg"},
}


def report(**changed: Any) -> BatchReport:
    return BatchReport.of(SimpleNamespace(json=lambda: json.dumps({**REPORT, **changed})))


def test_what_a_report_says() -> None:
    found = report()
    assert (found.batch, found.seconds, found.ended) == (7, 1.5, 1767225601.5)
    assert (found.times.watermark, found.state_rows, found.dropped_rows) == ("2025-12-31T23:00:00.000Z", 6, 1)
    assert (finite(found.input_rate), finite(found.processed_rate)) == (2.5, None)
    assert found.lag == {
        "0": SourceLag(source="FileStreamSource[file:/in]", end={"logOffset": 3}),
        "1": SourceLag(source="Iceberg", end={"v": 1}, latest={"v": 1}, metrics={"a": "1"}),
    }


def test_a_query_without_state_and_watermark_has_none() -> None:
    found = report(stateOperators=[], eventTime={}, sources=[])
    assert (found.state_rows, found.dropped_rows, found.times.watermark) == (None, None, None)
    assert not found.is_level


@pytest.mark.parametrize(("at", "level"), [(1, True), (0, False)])
def test_a_batch_is_level_that_read_all_there_is(at: int, level: bool) -> None:
    assert report(sources=[REPORT["sources"][1] | {"endOffset": {"v": at}}]).is_level is level
    assert not report().is_level


@pytest.mark.parametrize("rate", [None, "NaN", float("inf"), "many"])
def test_a_rate_of_no_time_is_no_number(rate: Any) -> None:
    assert finite(rate) is None


def test_a_trigger_that_only_asks_its_sources_is_no_batch() -> None:
    status = {"message": "Waiting for data to arrive", "isDataAvailable": False, "isTriggerActive": True}
    asking = activity_of(SimpleNamespace(status=status))
    assert (asking.is_waiting, asking.is_at_work, asking.in_trigger) == (True, False, True)
    assert Activity(message="Processing new data", has_data=True, in_trigger=True).is_at_work


@given(st.integers(min_value=-(2**63) // 1000, max_value=2**63 // 1000))
def test_every_time_of_spark_has_a_text_and_is_read_back(ms: int) -> None:
    assert utc_ms(utc_text(ms)) == ms
    assert utc_ms(utc_text(ms, timespec="seconds")) == ms // 1000 * 1000


def test_times_are_written_as_java_writes_them() -> None:
    texts = {
        0: "1970-01-01T00:00:00.000Z",
        253402300799999: "9999-12-31T23:59:59.999Z",
        253402300800000: "+10000-01-01T00:00:00.000Z",
        1767225600000000: "+57971-02-25T00:00:00.000Z",
        -62135596800001: "0000-12-31T23:59:59.999Z",
        -62167219200001: "-0001-12-31T23:59:59.999Z",
    }
    assert {ms: utc_text(ms) for ms in texts} == texts
    assert [utc_ms(text) for text in ("", "2026", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00")] == [
        None
    ] * 4


def test_late_rows_of_all_runs_of_a_query_are_counted() -> None:
    totals = RunningTotals({"q": 5, "gone": 1})
    runs = [("r1", 0), ("r1", 2), ("r1", 3), ("r2", 0), ("r2", 4), ("r3", 0)]
    found = [totals.added(QueryStatus(output="o", id="q", run_id=run, late_rows=late)) for run, late in runs]
    assert [item.late_rows for item in found] == [5, 7, 8, 8, 12, 12]
    assert totals.counts == {"q": 12, "gone": 1}
