"""Jobs in one application: what they write, what a change of one does to the others, how they fail."""

import shutil
from dataclasses import replace
from typing import Any, Literal

import pytest

from flareiac_spark.application import is_alive, run_operation
from flareiac_spark_runtime.control import JobStatus, Operation

pytestmark = pytest.mark.jvm

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

WATERMARK = {"column": "ts", "delay": "10 minutes"}
FLIGHTS = [("ts", "timestamptz"), ("carrier", "string"), ("delay", "long")]


def flight(minute: int, carrier: str = "AA", delay: int | None = 1, hour: int = 0) -> dict[str, Any]:
    return {"ts": f"2026-01-01T{hour:02d}:{minute:02d}:00Z", "carrier": carrier, "delay": delay}


@pytest.fixture(scope="module")
def running(lake: Lake) -> Lake:
    lake.start()
    return lake


def stream(
    lake: Lake, name: str, sql: str, columns: list[tuple[Any, ...]], uuid: str | None, **more: Any
) -> dict[str, Any]:
    spec = {
        "address": f"job.{name}",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 200},
        "inputs": [lake.flights_input(f"in_{name}")],
        "steps": [{"name": "clean", "sql": sql}],
        "outputs": [lake.output(name, "clean", uuid, columns)],
        "restart": {"max_failures": 1, "within_ms": 600000, "backoff_ms": 100},
    }
    return {**spec, **more}


def test_streams_and_a_batch_share_an_application_and_an_update_touches_one_job_alone(running: Lake) -> None:
    lake = running
    airlines = lake.table(
        "airlines", ("carrier", "string"), ("name", "string"), rows=[{"carrier": "AA", "name": "American"}]
    )
    named_columns = [("ts", "timestamptz"), ("name", "string"), ("delay", "long"), ("note", "string")]
    named, hourly, totals = (
        lake.table("named", *named_columns),
        lake.table("hourly", ("hour", "timestamptz"), ("flights", "long")),
        lake.table("totals", ("name", "string"), ("codes", "long")),
    )
    join = stream(
        lake,
        "named",
        "SELECT r.delay, r.ts, a.name FROM raw r LEFT JOIN airlines a USING (carrier)",
        named_columns,
        named,
    )
    join["inputs"].append(
        {"name": "airlines", "kind": "table", "identifier": ["lake", "demo", "airlines"], "uuid": airlines}
    )
    count = stream(
        lake,
        "hourly",
        "SELECT window.start AS hour, count(*) AS flights FROM raw GROUP BY window(ts, '1 hour')",
        [("hour", "timestamptz"), ("flights", "long")],
        hourly,
        inputs=[lake.flights_input("in_hourly", watermark=WATERMARK)],
    )
    batch = {
        "address": "job.totals",
        "mode": "batch",
        "run_id": "run-1",
        "inputs": [
            {
                "name": "airlines",
                "kind": "table",
                "identifier": ["lake", "demo", "airlines"],
                "uuid": airlines,
            }
        ],
        "steps": [{"name": "counted", "sql": "SELECT name, count(*) AS codes FROM airlines GROUP BY name"}],
        "outputs": [
            lake.output("totals", "counted", totals, [("name", "string"), ("codes", "long")], checkpoint=None)
        ],
    }
    lake.drop_file("in_named", "a", [flight(1), flight(2, "ZZ")])
    lake.drop_file("in_hourly", "a", [flight(1), flight(30), flight(5, hour=1)])
    lake.put(join, count, batch)

    done = lake.until_phase("job.totals", "completed")
    assert done.result is not None
    assert (done.result.run_id, done.result.rows, done.result.found) == ("run-1", 1, False)
    assert lake.rows("totals") == [{"name": "American", "codes": 1}]
    assert {(row["name"], row["delay"], row["note"]) for row in lake.until_rows("named", 2)} == {
        ("American", 1, None),
        (None, 1, None),
    }
    lake.drop_file("in_hourly", "b", [flight(30, hour=2)])
    lake.drop_file("in_hourly", "c", [flight(31, hour=2)])
    assert next(row["flights"] for row in lake.until_rows("hourly", 1)) == 2

    # A running stream sees what its looked-up table becomes.
    lake.catalog.load_table(("demo", "airlines")).append(_airline(lake, "ZZ", "Zed"))
    lake.drop_file("in_named", "b", [flight(3, "ZZ")])
    assert "Zed" in {row["name"] for row in lake.until_rows("named", 3)}

    before = lake.until("job.hourly", lambda job: bool(job.queries)).queries[0]
    first = lake.until("job.named", lambda job: bool(job.queries)).queries[0]
    changed = {
        **join,
        "steps": [{"name": "clean", "sql": "SELECT delay * 10 AS delay, ts, 'x' AS note FROM raw"}],
    }
    lake.put(changed)
    lake.until("job.named", lambda job: bool(job.queries))
    lake.drop_file("in_named", "c", [flight(4)])
    assert any(row["delay"] == 10 and row["note"] == "x" for row in lake.until_rows("named", 4))
    after = lake.until(
        "job.named", lambda job: bool(job.queries) and job.queries[0].batch is not None
    ).queries[0]
    assert after.id == first.id
    assert after.run_id != first.run_id
    assert lake.until("job.hourly", lambda job: bool(job.queries)).queries[0].run_id == before.run_id
    assert len(lake.rows("named")) == 4


def _airline(lake: Lake, carrier: str, name: str) -> Any:
    import pyarrow as pa

    schema = lake.catalog.load_table(("demo", "airlines")).schema().as_arrow()
    return pa.Table.from_pylist([{"carrier": carrier, "name": name}], schema=schema)


def test_a_stopped_job_resumes_where_it_was(running: Lake) -> None:
    lake = running
    uuid = lake.table("paused", *FLIGHTS)
    spec = stream(lake, "paused", "SELECT * FROM raw", FLIGHTS, uuid)
    lake.drop_file("in_paused", "a", [flight(1)])
    lake.put(spec)
    first = lake.until("job.paused", lambda job: bool(job.queries) and job.queries[0].batch is not None)
    lake.put(spec, state="stopped")
    lake.until_phase("job.paused", "stopped")
    lake.drop_file("in_paused", "b", [flight(2)])
    assert len(lake.rows("paused")) == 1
    lake.put(spec)
    assert len(lake.until_rows("paused", 2)) == 2
    again = lake.until("job.paused", lambda job: bool(job.queries) and job.queries[0].batch is not None)
    assert again.queries[0].id == first.queries[0].id
    assert lake.until_phase("job.paused", "idle").last_error is None


def test_a_raised_nonce_restarts(running: Lake) -> None:
    lake = running
    spec = stream(lake, "nonce", "SELECT * FROM raw", FLIGHTS, lake.table("nonce", *FLIGHTS))
    lake.put(spec)
    first = lake.until_phase("job.nonce", "idle").queries[0]
    lake.put(spec, nonce=1)
    assert lake.until_phase("job.nonce", "idle").queries[0].run_id != first.run_id


def test_available_now_completes(running: Lake) -> None:
    lake = running
    uuid = lake.table("finite", *FLIGHTS)
    lake.drop_file("in_finite", "a", [flight(1), flight(2)])
    lake.put(stream(lake, "finite", "SELECT * FROM raw", FLIGHTS, uuid, trigger={"kind": "available_now"}))
    done = lake.until_phase("job.finite", "completed")
    assert done.result is not None
    assert done.result.rows == 2
    assert len(lake.rows("finite")) == 2


def test_a_run_that_its_table_knows_is_not_run_again(running: Lake) -> None:
    lake = running
    uuid = lake.table("twice", ("n", "long"))
    spec: dict[str, Any] = {
        "address": "job.twice",
        "mode": "batch",
        "run_id": "run-7",
        "inputs": [],
        "steps": [{"name": "one", "sql": "SELECT 1 AS n"}],
        "outputs": [lake.output("twice", "one", uuid, [("n", "long")], checkpoint=None)],
    }
    lake.put(spec)
    first = lake.until_phase("job.twice", "completed")
    lake.put(spec, nonce=1)
    again = lake.until_phase("job.twice", "completed")
    assert first.result is not None
    assert again.result is not None
    assert (first.result.found, again.result.found) == (False, True)
    assert again.result.snapshot_id == first.result.snapshot_id
    lake.put({**spec, "run_id": "run-8", "outputs": [{**spec["outputs"][0], "mode": "overwrite"}]})
    lake.until_phase("job.twice", "completed")
    assert lake.rows("twice") == [{"n": 1}]


def failed(lake: Lake, spec: dict[str, Any]) -> tuple[str, str, JobStatus]:
    lake.put(spec)
    job = lake.until_phase(spec["address"], "failed")
    assert job.last_error is not None
    return job.last_error.error_class, job.last_error.message, job


@pytest.mark.parametrize(
    ("name", "columns", "sql", "error", "says"),
    [
        ("extra", FLIGHTS, "SELECT *, 1 AS surplus FROM raw", "OUTPUT_EXTRA_COLUMN", "surplus"),
        (
            "missing",
            [("ts", "timestamptz"), ("id", "long", True)],
            "SELECT ts FROM raw",
            "OUTPUT_MISSING_COLUMN",
            "requires id",
        ),
        ("typo", FLIGHTS, "SELECT carier FROM raw", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "carrier"),
        (
            "assign",
            [("delay", "long")],
            "SELECT carrier AS delay FROM raw",
            "INVALID_COLUMN_OR_FIELD_DATA_TYPE",
            "delay",
        ),
        ("update", [("n", "long")], "SELECT count(*) AS n FROM raw", "", "watermark"),
    ],
)
def test_what_can_never_run_fails_at_once(
    running: Lake, name: str, columns: list[Any], sql: str, error: str, says: str
) -> None:
    error_class, message, job = failed(
        running, stream(running, name, sql, columns, running.table(name, *columns))
    )
    assert (job.failures, job.last_error is not None and job.last_error.permanent) == (1, True)
    assert error_class.startswith(error)
    assert says in message
    assert "\tat " not in message


def test_a_table_that_is_missing_or_another_one_is_refused(running: Lake) -> None:
    lake = running
    error_class, message, _ = failed(lake, stream(lake, "nowhere", "SELECT * FROM raw", FLIGHTS, None))
    assert (error_class, "lake.demo.nowhere" in message) == ("TABLE_NOT_FOUND", True)
    lake.table("replaced", *FLIGHTS)
    error_class, message, _ = failed(
        lake, stream(lake, "replaced", "SELECT * FROM raw", FLIGHTS, "00000000-0000-0000-0000-000000000000")
    )
    assert (error_class, "another one than planned" in message) == ("TABLE_REPLACED", True)


def test_a_null_in_a_required_column_fails_the_batch_and_the_budget_ends_it(running: Lake) -> None:
    lake = running
    columns = [("carrier", "string"), ("delay", "long", True)]
    uuid = lake.table("strict", ("carrier", "string"), ("delay", "long", True))
    lake.drop_file("in_strict", "a", [flight(1)])
    spec = stream(lake, "strict", "SELECT carrier, delay FROM raw", columns, uuid)
    lake.put(spec)
    lake.until_rows("strict", 1)
    lake.drop_file("in_strict", "b", [flight(2, delay=None)])
    job = lake.until_phase("job.strict", "failed")
    assert job.failures == 2
    assert job.last_error is not None
    assert job.last_error.error_class == "NULL_IN_REQUIRED_COLUMN"
    assert job.last_error.message.startswith("Null in the required column delay of lake.demo.strict. ")
    assert "WHERE delay IS NOT NULL" in job.last_error.message
    assert len(lake.rows("strict")) == 1
    assert is_alive(lake.control.read_status())


def test_a_checkpoint_that_is_lost_while_its_query_runs_is_not_begun_again(running: Lake) -> None:
    lake = running
    uuid = lake.table("robbed", *FLIGHTS)
    spec = stream(
        lake,
        "robbed",
        "SELECT * FROM raw",
        FLIGHTS,
        uuid,
        restart={"max_failures": 5, "within_ms": 600000, "backoff_ms": 100},
    )
    lake.drop_file("in_robbed", "a", [flight(1)])
    lake.put(spec)
    lake.until("job.robbed", lambda job: bool(job.queries) and job.queries[0].batch is not None)
    shutil.rmtree(lake.root / "checkpoints" / "robbed")
    lake.drop_file("in_robbed", "b", [flight(2)])
    failed = lake.until_phase("job.robbed", "failed")
    assert failed.last_error is not None
    assert (failed.last_error.error_class, failed.last_error.permanent) == ("CHECKPOINT_LOST", True)
    assert [row["ts"].minute for row in lake.rows("robbed")] in ([1], [1, 2])


def test_a_checkpoint_has_one_user(running: Lake) -> None:
    lake = running
    first = stream(lake, "owner", "SELECT * FROM raw", FLIGHTS, lake.table("owner", *FLIGHTS))
    lake.put(first)
    lake.until_phase("job.owner", "idle")
    second = {**first, "address": "job.intruder"}
    error_class, message, _ = failed(lake, second)
    assert error_class == "CHECKPOINT_IN_USE"
    assert "job.owner" in message


def test_analysis_finds_what_spark_would_refuse_and_touches_nothing(running: Lake) -> None:
    lake = running
    fine = stream(lake, "fine", "SELECT ts, carrier, delay FROM raw", FLIGHTS, None)
    broken = stream(lake, "broken", "SELECT carier FROM raw", FLIGHTS, None)
    broken["steps"].append({"name": "after", "sql": "SELECT * FROM clean"})
    broken["steps"].append({"name": "other", "sql": "SELECT nosuch(delay) AS delay FROM raw"})
    unbounded = stream(
        lake, "unbounded", "SELECT carrier, count(*) AS delay FROM raw GROUP BY carrier", FLIGHTS, None
    )
    nonsense = {"address": "job.nonsense", "mode": "sideways"}
    operation = Operation(id="analyse-1", jobs=(fine, broken, unbounded, nonsense))
    result = run_operation(lake.control, operation, timeout=180)
    assert result is not None
    assert result.status == "done"
    found = {
        (finding.address, finding.step, finding.error_class.partition(".")[0]) for finding in result.findings
    }
    assert found >= {
        ("job.broken", "clean", "UNRESOLVED_COLUMN"),
        ("job.broken", "other", "UNRESOLVED_ROUTINE"),
    }
    assert {(finding.address, finding.step) for finding in result.findings} == {
        ("job.broken", "clean"),
        ("job.broken", "other"),
        ("job.unbounded", "outputs.unbounded"),
        ("job.nonsense", ""),
    }
    unbounded_finding = next(finding for finding in result.findings if finding.address == "job.unbounded")
    assert (
        "without watermark" in unbounded_finding.message
        or "watermark" in unbounded_finding.error_class.lower()
    )
    assert dict(result.analysed["job.fine"].output_columns["fine"]) == {
        "ts": "timestamp",
        "carrier": "string",
        "delay": "bigint",
    }
    assert not lake.catalog.table_exists(("demo", "fine"))


def test_a_damaged_desired_file_stops_nothing_and_is_told(running: Lake) -> None:
    lake = running
    spec = stream(lake, "steady", "SELECT * FROM raw", FLIGHTS, lake.table("steady", *FLIGHTS))
    lake.put(spec)
    before = lake.until_phase("job.steady", "idle").queries[0]
    path = lake.control.scratch / "desired.json"
    good = path.read_text()
    damaged = lake.root / "damaged.json"
    damaged.write_text(good[: len(good) // 2])
    damaged.replace(path)
    lake.wait(lambda status: status.application.trouble is not None)
    lake.drop_file("in_steady", "a", [flight(1)])
    lake.until_rows("steady", 1)
    damaged.write_text(good)
    damaged.replace(path)
    lake.wait(lambda status: status.application.trouble is None)
    assert lake.until("job.steady", lambda job: bool(job.queries)).queries[0].run_id == before.run_id


def test_a_removed_job_is_stopped_and_forgotten(running: Lake) -> None:
    lake = running
    spec = stream(lake, "removed", "SELECT * FROM raw", FLIGHTS, lake.table("removed", *FLIGHTS))
    lake.put(spec)
    lake.until_phase("job.removed", "idle")
    lake.change(
        lambda desired: replace(
            desired, jobs={name: job for name, job in desired.jobs.items() if name != "job.removed"}
        )
    )
    lake.wait(lambda status: "job.removed" not in status.jobs)


@pytest.mark.parametrize(
    ("start_from", "expected"), [("earliest", [1, 2]), ("latest", [2]), ("2999-01-01T00:00:00Z", [])]
)
def test_a_table_is_streamed_from_where_it_was_asked(
    running: Lake, start_from: str, expected: list[int]
) -> None:
    lake, name = running, f"copy_{start_from[:4]}"
    origin = lake.table(f"from_{name}", ("n", "long"), rows=[{"n": 1}])
    columns = [("n", "long")]
    source = {
        "kind": "table",
        "identifier": ["lake", "demo", f"from_{name}"],
        "uuid": origin,
        "start_from": start_from,
    }
    inputs = [{"name": "raw", "kind": "stream", "source": source}]
    lake.put(stream(lake, name, "SELECT n FROM raw", columns, lake.table(name, ("n", "long")), inputs=inputs))
    lake.until_phase(f"job.{name}", "idle")
    table = lake.catalog.load_table(("demo", f"from_{name}"))
    table.append(
        table.scan().to_arrow().slice(0, 0).from_pylist([{"n": 2}], schema=table.schema().as_arrow())
    )
    if expected:
        lake.until_rows(name, len(expected))
    lake.until_phase(f"job.{name}", "idle")
    assert sorted(row["n"] for row in lake.rows(name)) == expected


def test_latest_means_one_moment_for_a_whole_generation(running: Lake) -> None:
    lake, columns = running, [("n", "long")]
    origin = lake.table("from_pausing", ("n", "long"), rows=[{"n": 1}])
    source = {
        "kind": "table",
        "identifier": ["lake", "demo", "from_pausing"],
        "uuid": origin,
        "start_from": "latest",
    }
    inputs = [{"name": "raw", "kind": "stream", "source": source}]
    lake.put(
        stream(
            lake, "pausing", "SELECT n FROM raw", columns, lake.table("pausing", ("n", "long")), inputs=inputs
        )
    )
    lake.until_phase("job.pausing", "idle")

    def to(state: Literal["running", "stopped"]) -> None:
        lake.change(
            lambda now: replace(
                now, jobs={**now.jobs, "job.pausing": replace(now.jobs["job.pausing"], state=state)}
            )
        )

    to("stopped")
    lake.until_phase("job.pausing", "stopped")
    table = lake.catalog.load_table(("demo", "from_pausing"))
    table.append(
        table.scan().to_arrow().slice(0, 0).from_pylist([{"n": 2}], schema=table.schema().as_arrow())
    )
    to("running")
    lake.until_rows("pausing", 1)
    lake.until_phase("job.pausing", "idle")
    assert sorted(row["n"] for row in lake.rows("pausing")) == [2]


@pytest.mark.parametrize("left", ["", '{"version":1,"snap'])
def test_a_process_killed_while_it_noted_where_a_stream_begins_does_not_keep_the_job_from_starting(
    running: Lake, left: str
) -> None:
    lake, columns, name = running, [("n", "long")], f"torn_{len(left)}"
    origin = lake.table(f"from_{name}", ("n", "long"), rows=[{"n": 1}])
    source = {
        "kind": "table",
        "identifier": ["lake", "demo", f"from_{name}"],
        "uuid": origin,
        "start_from": "earliest",
    }
    place = lake.root / "checkpoints" / name / "g0001" / "sources" / "0" / "offsets" / "0"
    place.parent.mkdir(parents=True)
    place.write_text(left)
    inputs = [{"name": "raw", "kind": "stream", "source": source}]
    lake.put(stream(lake, name, "SELECT n FROM raw", columns, lake.table(name, ("n", "long")), inputs=inputs))
    assert lake.until_rows(name, 1) == [{"n": 1}]


def test_rates_run(running: Lake) -> None:
    lake = running
    columns = [("timestamp", "timestamptz"), ("value", "long", True)]
    uuid = lake.table("rated", ("timestamp", "timestamptz"), ("value", "long", True))
    inputs = [
        {"name": "raw", "kind": "stream", "source": {"kind": "rate", "rows_per_second": 50, "partitions": 1}}
    ]
    lake.put(stream(lake, "rated", "SELECT * FROM raw", columns, uuid, inputs=inputs))
    values = sorted(row["value"] for row in lake.until_rows("rated", 20))
    assert values == list(range(len(values)))
