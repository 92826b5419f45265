"""Inputs and outputs of a job in events, and Spark's report on each source matched with the input that it is
of.
"""

from typing import Any

from flareiac.sdk.dataset_names import DatasetName, TableNames
from flareiac_spark_runtime.control import job_spec_from_json
from flareiac_spark_runtime.driver.progress import SourceReport
from flareiac_spark_runtime.driver.run_datasets import BatchFacts, Written, inputs_of, outputs_of

BROKERS = "b1:9092,b2:9092"
KAFKA = "kafka://b1:9092"


def names_of(identifier: tuple[str, ...]) -> TableNames:
    return TableNames(name=DatasetName(namespace="s3://b", name="/".join(identifier)))


def topics(name: str, *topics: str, pattern: str | None = None) -> dict[str, Any]:
    source = {"kind": "kafka", "client": {"bootstrap.servers": BROKERS}, "format": "json"}
    return {"name": name, "source": {**source, "topics": list(topics), "topic_pattern": pattern}}


def files(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "source": {"kind": "files", "path": path, "format": "json"}}


def streamed(name: str, table: str) -> dict[str, Any]:
    return {"name": name, "source": {"kind": "table", "identifier": ["lake", "demo", table]}}


def output(name: str, **more: Any) -> dict[str, Any]:
    place = {"identifier": ["lake", "demo", name], "mode": "append", "columns": []}
    return {"name": name, "from": "s", **place, **more}


def spec(*inputs: dict[str, Any], outputs: tuple[dict[str, Any], ...] = ()) -> Any:
    return job_spec_from_json(
        {
            "address": "job.a",
            "mode": "stream",
            "inputs": [{"kind": "stream", **each} for each in inputs],
            "steps": [],
            "outputs": list(outputs),
        }
    )


def rows(job: Any, *reports: SourceReport, scans: int | None = 1) -> dict[str, int | None]:
    shown = inputs_of(job, names_of, BatchFacts(sources=reports, scans=scans))
    return {
        each["name"]: each.get("inputFacets", {}).get("inputStatistics", {}).get("rowCount") for each in shown
    }


def of_topic(count: int, *names: str) -> SourceReport:
    text = f"KafkaV2[Subscribe[{', '.join(names)}]]"
    return SourceReport(description=text, rows=count, end={name: {"0": count} for name in names})


def of_folder(count: int, path: str) -> SourceReport:
    return SourceReport(description=f"FileStreamSource[file:{path}]", rows=count, end={"logOffset": 0})


def of_table(count: int, snapshot: int) -> SourceReport:
    return SourceReport(description="Iceberg", rows=count, end={"version": 1, "snapshot_id": snapshot})


def test_each_source_is_matched_with_its_input() -> None:
    job = spec(topics("a", "orders"), files("b", "/in"), streamed("c", "t"))
    reports = (of_table(3, 7), of_folder(2, "/in"), of_topic(1, "orders"))
    assert rows(job, *reports) == {"orders": 1, "/in": 2, "lake/demo/t": 3}
    shown = inputs_of(job, names_of, BatchFacts(sources=reports, scans=1))
    assert {each["namespace"] for each in shown} == {KAFKA, "file", "s3://b"}
    assert shown[2]["facets"]["version"]["datasetVersion"] == "7"


def test_two_sources_of_a_kind_are_told_apart_by_what_they_read() -> None:
    job = spec(topics("a", "orders"), topics("b", "late"), files("c", "/in"), files("d", "/in two"))
    reports = (of_topic(1, "late"), of_topic(2, "orders"), of_folder(3, "/in%20two"), of_folder(4, "/in"))
    assert rows(job, *reports) == {"orders": 2, "late": 1, "/in": 4, "/in two": 3}


def test_two_streamed_tables_are_not_guessed_at() -> None:
    job = spec(streamed("a", "t"), streamed("b", "u"))
    assert rows(job, of_table(1, 7), of_table(2, 8)) == {"lake/demo/t": None, "lake/demo/u": None}


def test_rows_that_spark_read_twice_are_counted_once_or_not_at_all() -> None:
    job = spec(topics("a", "orders"))
    assert rows(job, of_topic(4, "orders"), scans=2) == {"orders": 2}
    assert rows(job, of_topic(4, "orders"), scans=None) == {"orders": None}


def test_a_pattern_is_one_dataset_and_rows_of_several_topics_are_of_none() -> None:
    assert rows(spec(topics("a", pattern="orders.*")), of_topic(3, "orders.eu")) == {"orders.*": 3}
    assert rows(spec(topics("a", "x", "y")), of_topic(3, "x", "y")) == {"x": None, "y": None}


def test_every_output_is_there_also_one_that_a_batch_did_not_change() -> None:
    topic = {"kind": "kafka", "name": "t", "from": "s", "topic": "alerts", "mode": "append", "format": "json"}
    job = spec(outputs=(output("a"), output("b"), {**topic, "client": {"bootstrap.servers": BROKERS}}))
    written = {"b": Written(snapshot_id=9, rows=3, bytes=10, files=1)}
    shown = outputs_of(job, names_of, BatchFacts(written=written))
    assert [(each["namespace"], each["name"]) for each in shown] == [
        ("s3://b", "lake/demo/a"),
        ("s3://b", "lake/demo/b"),
        (KAFKA, "alerts"),
    ]
    assert "version" not in shown[0]["facets"]
    assert shown[1]["facets"]["version"]["datasetVersion"] == "9"
    statistics = shown[1]["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["size"], statistics["fileCount"]) == (3, 10, 1)


def test_two_outputs_into_one_table_are_one_dataset() -> None:
    job = spec(outputs=(output("a"), output("b", identifier=["lake", "demo", "a"], branch="x")))
    written = {"b": Written(snapshot_id=9, rows=3)}
    [shown] = outputs_of(job, names_of, BatchFacts(written=written))
    assert shown["facets"]["version"]["datasetVersion"] == "9"
