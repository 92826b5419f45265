"""The treatment of records that cannot be read: a job of real files, by each action."""

from pathlib import Path
from typing import Any

import pytest

from flareiac_spark_runtime.control import JobStatus

pytestmark = pytest.mark.jvm

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

PLACES = [("id", "long"), ("name", "string")]
KNOWN = [("raw", "string"), ("error", "string"), ("file", "string"), ("input", "string"), ("offset", "long")]
GOOD = ['{"id": 1, "name": "a", "n": 1}', '{"id": 2, "name": "b"}']
BAD = [
    '{"id": "x", "name": "c"}',
    "garbage",
    '{"id": 3, "name": "d", "n": "a column that no step reads"}',
    '{"name": "e"}',
]


@pytest.fixture(scope="module")
def running(lake: Lake) -> Lake:
    lake.start()
    return lake


def lines(lake: Lake, folder: str, name: str, *texts: str) -> None:
    """A file of lines that appears at once and whole."""
    scratch: Path = lake.root / f".{name}"
    scratch.write_text("".join(text + "\n" for text in texts))
    (lake.root / folder).mkdir(exist_ok=True)
    scratch.rename(lake.root / folder / f"{name}.json")


def places(
    lake: Lake, name: str, action: str, sql: str = "SELECT id, name FROM raw", **more: Any
) -> dict[str, Any]:
    columns = [
        {"name": "id", "type": "long", "required": True},
        {"name": "name", "type": "string"},
        {"name": "n", "type": "int"},
    ]
    source = {"kind": "files", "path": str(lake.root / f"in_{name}"), "format": "json", "columns": columns}
    (lake.root / f"in_{name}").mkdir(exist_ok=True)
    spec = {
        "address": f"job.{name}",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 200},
        "inputs": [
            {
                "name": "raw",
                "kind": "stream",
                "source": {**source, **more.pop("source", {})},
                "bad_records": action,
            }
        ],
        "steps": [{"name": "clean", "sql": sql}],
        "outputs": [lake.output(name, "clean", lake.table(name, *PLACES), PLACES)],
        "restart": {"max_failures": 1, "within_ms": 600000, "backoff_ms": 100},
    }
    return {**spec, **more}


def quarantine(lake: Lake, name: str) -> dict[str, Any]:
    output: dict[str, Any] = lake.output(
        f"{name}_bad", "raw", lake.table(f"{name}_bad", *KNOWN), KNOWN, bad_records=True
    )
    return {**output, "name": "bad_records.raw", "checkpoint": str(lake.root / "checkpoints" / name / "bad")}


def met(count: int) -> Any:
    """The condition that the first query of a job has met that many bad records, and has nothing left to
    do.
    """

    def answer(job: JobStatus) -> bool:
        return job.phase == "idle" and job.queries[0].bad_records == {"raw": count}

    return answer


def ids(lake: Lake, table: str) -> list[Any]:
    return sorted((row["id"], row["name"]) for row in lake.rows(table))


def test_bad_records_are_left_out_and_counted(running: Lake) -> None:
    lake = running
    lines(lake, "in_dropped", "a", *GOOD, *BAD)
    lake.put(places(lake, "dropped", "drop"))
    lake.until("job.dropped", met(4))
    lines(lake, "in_dropped", "b", "more garbage")
    lake.until("job.dropped", met(5))
    assert ids(lake, "dropped") == [(1, "a"), (2, "b")]


def test_what_a_step_filters_and_reads_twice_does_not_hide_bad_records(running: Lake) -> None:
    lake = running
    lines(lake, "in_twice", "a", *GOOD, *BAD)
    sql = "SELECT id, name FROM raw WHERE id = 1 UNION ALL SELECT 9, 'counted' FROM raw WHERE name = 'b'"
    lake.put(places(lake, "twice", "drop", sql))
    lake.until("job.twice", met(4))
    assert ids(lake, "twice") == [(1, "a"), (9, "counted")]


def test_bad_records_are_kept_as_rows_of_nulls(running: Lake) -> None:
    lake = running
    lines(lake, "in_nulls", "a", *GOOD, *BAD)
    lake.put(places(lake, "nulls", "null", "SELECT id, coalesce(name, 'bad') AS name FROM raw"))
    lake.until("job.nulls", met(4))
    assert sorted((row["id"] or 0, row["name"]) for row in lake.rows("nulls")) == [
        *[(0, "bad")] * 4,
        (1, "a"),
        (2, "b"),
    ]


def test_bad_records_go_to_a_table_of_their_own(running: Lake) -> None:
    lake = running
    lines(lake, "in_kept", "a", *GOOD, *BAD)
    job = places(lake, "kept", "quarantine")
    job["outputs"].append(quarantine(lake, "kept"))
    lake.put(job)
    found = lake.until_rows("kept_bad", 4)
    assert {(row["raw"], row["error"]) for row in found} == {
        (BAD[0], "the field id does not fit the type long"),
        (BAD[1], "the value is not a JSON object"),
        (BAD[2], "the field n does not fit the type int"),
        ('{"name":"e"}', "there is no value for id, which is not null"),
    }
    assert {Path(row["file"]).name for row in found} == {"a.json"}
    assert {(row["input"], row["offset"]) for row in found} == {("raw", None)}
    lake.until("job.kept", met(4))
    assert ids(lake, "kept") == [(1, "a"), (2, "b")]


def test_one_query_for_all_outputs_leaves_the_quarantine_a_query_of_its_own(running: Lake) -> None:
    lake = running
    lines(lake, "in_merged", "a", *GOOD, *BAD)
    job = places(lake, "merged", "quarantine", foreach_batch=True)
    job["outputs"][0] |= {"mode": "merge", "merge": {"on": ["id"]}}
    job["outputs"].append(quarantine(lake, "merged"))
    lake.put(job)
    assert len(lake.until_rows("merged_bad", 4)) == 4
    status = lake.until("job.merged", met(4))
    assert [query.output for query in status.queries] == ["all", "bad_records.raw"]
    assert ids(lake, "merged") == [(1, "a"), (2, "b")]


def test_csv_is_judged_by_every_column(running: Lake) -> None:
    lake = running
    lines(lake, "in_csv", "a", "id;name;n", "1;a;1", "2;b;", "3;c;x", "4;d", "5;e;5;5", ";f;6")
    source = {"format": "csv", "options": {"sep": ";", "header": "true"}}
    lake.put(places(lake, "csv", "drop", source=source))
    lake.until("job.csv", met(4))
    assert ids(lake, "csv") == [(1, "a"), (2, "b")]


def test_a_job_that_fails_names_the_file_the_field_and_the_ways_on(running: Lake) -> None:
    lake = running
    lines(lake, "in_failing", "a", *GOOD, BAD[0])
    lake.put(places(lake, "failing", ""))
    failed = lake.until_phase("job.failing", "backoff", "failed")
    assert failed.last_error is not None
    for text in ("in_failing/a.json", "'id'", 'bad_records = { action = "drop" }', "quarantine = table."):
        assert text in failed.last_error.message
