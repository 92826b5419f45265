"""A real driver tells OpenLineage what it runs: a file, and a server that hangs, refuses or is away."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk import secrets
from flareiac_spark_runtime.control import OpenLineageTarget, ProcessIdentity
from tests.support.lineage_server import lineage_server
from tests.support.openlineage import judged
from tests.support.ports import free_port

pytestmark = pytest.mark.jvm

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

COLUMNS = [("ts", "timestamptz"), ("carrier", "string"), ("delay", "long")]
NAMESPACE = "flareiac-default"
PLANTED = "planted-in-an-option"
Event = dict[str, Any]


def numbers(lake: Lake, sql: str = "SELECT * FROM raw", **more: Any) -> dict[str, Any]:
    """A stream of one file per batch."""
    return {
        "address": "job.numbers",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 0},
        "inputs": [lake.flights_input("in", source={"max_files_per_trigger": 1})],
        "steps": [{"name": "clean", "sql": sql}],
        "outputs": [lake.output("numbers", "clean", None, COLUMNS)],
        **more,
    }


def drop(lake: Lake, *delays: int) -> None:
    for delay in delays:
        row = {"ts": "2026-01-01T00:00:00Z", "carrier": "AA", "delay": delay}
        lake.drop_file("in", f"f{delay:03d}", [row])


def events_in(path: Path) -> list[Event]:
    return [dict(judged(json.loads(line))) for line in path.read_text().splitlines()]


def of_job(events: list[Event], kind: str = "", address: str = "job.numbers") -> list[Event]:
    own = [event for event in events if event["job"]["name"] == address]
    return [event for event in own if kind in ("", event["eventType"])]


def snapshot_ids(events: list[Event]) -> list[str]:
    return [
        output["facets"]["version"]["datasetVersion"]
        for event in events
        for output in event["outputs"]
        if "version" in output["facets"]
    ]


def history(lake: Lake, table: str = "numbers") -> list[str]:
    return [str(entry.snapshot_id) for entry in lake.catalog.load_table(("demo", table)).history()]


def kill(lake: Lake) -> None:
    about = lake.control.read_status().application
    driver = ProcessIdentity(pid=about.pid, started=about.pid_started)
    os.kill(about.jvm_pid, signal.SIGKILL)
    os.kill(about.pid, signal.SIGKILL)
    assert lake.until_gone(driver)


def test_a_file_tells_the_whole_life_of_a_job(own_lake: Lake, tmp_path: Path) -> None:
    lake, path = own_lake, tmp_path / "lineage.jsonl"
    lake.table("numbers", *COLUMNS)
    drop(lake, 0, 1, 2)
    lake.settle(openlineage=OpenLineageTarget(namespace=NAMESPACE, file=str(path)))
    lake.put(numbers(lake))
    first_driver = lake.start().application
    lake.until_rows("numbers", 3)
    lake.until("job.numbers", lambda job: job.phase == "idle" and job.queries[0].batch == 2)
    assert lake.control.read_status().jobs["job.numbers"].lineage_run
    lake.put(numbers(lake), state="stopped")
    lake.until_phase("job.numbers", "stopped")
    lake.put(numbers(lake))
    drop(lake, 3)
    lake.until_rows("numbers", 4)
    lake.until("job.numbers", lambda job: bool(job.queries) and job.queries[0].batch == 3)
    kill(lake)
    lake.start()
    drop(lake, 4)
    lake.until_rows("numbers", 5)
    lake.until("job.numbers", lambda job: bool(job.queries) and job.queries[0].batch == 4)
    lake.stop()

    events = events_in(path)
    runs = list(dict.fromkeys(event["run"]["runId"] for event in of_job(events)))
    kinds = [[event["eventType"] for event in events if event["run"]["runId"] == run] for run in runs]
    assert kinds == [
        ["START", "RUNNING", "RUNNING", "RUNNING", "COMPLETE"],
        ["START", "RUNNING", "ABORT"],
        ["START", "RUNNING", "COMPLETE"],
    ]
    commits = of_job(events, "RUNNING")
    assert snapshot_ids(commits) == history(lake)
    assert [event["run"]["facets"]["flareiac_batch"]["batchId"] for event in commits] == [0, 1, 2, 3, 4]
    for event in commits:
        [read], [written] = event["inputs"], event["outputs"]
        assert (read["namespace"], read["name"]) == ("file", str(lake.root / "in"))
        assert read["inputFacets"]["inputStatistics"]["rowCount"] == 1
        assert (written["namespace"], written["name"]) == ("file", f"{lake.root}/warehouse/demo/numbers")
        statistics = written["outputFacets"]["outputStatistics"]
        assert (statistics["rowCount"], statistics["fileCount"]) == (1, 1)
        assert statistics["size"] > 0
        [known_as] = written["facets"]["symlinks"]["identifiers"]
        assert (known_as["namespace"], known_as["name"]) == (f"sqlite:{lake.root}/catalog.db", "demo.numbers")
    aborted = of_job(events, "ABORT")
    for event in events:
        is_told_late = event in aborted or event["job"]["name"] == "test"
        assert is_told_late or (event["inputs"] and event["outputs"])
    drivers = [event for event in events if event["job"]["name"] == "test"]
    assert [event["eventType"] for event in drivers] == ["START", "START", "ABORT", "COMPLETE"]
    assert drivers[0]["run"]["runId"].replace("-", "") == first_driver.id
    parents = {event["run"]["facets"]["parent"]["run"]["runId"] for event in of_job(events, "START")}
    assert parents == {event["run"]["runId"] for event in drivers}


def test_a_failure_is_told_without_a_secret(
    own_lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, path = own_lake, tmp_path / "lineage.jsonl"
    monkeypatch.setenv("PLANTED", PLANTED)
    lake.table("numbers", *COLUMNS)
    drop(lake, 0)
    lake.settle(openlineage=OpenLineageTarget(namespace=NAMESPACE, file=str(path)))
    failing = f"SELECT ts, raise_error('it is {PLANTED}') AS carrier, delay FROM raw"
    conf = {"spark.sql.some.password": secrets.reference("env", "PLANTED")}
    restart = {"max_failures": 0, "within_ms": 60_000, "backoff_ms": 10}
    lake.put(numbers(lake, failing, conf=conf, restart=restart))
    unknown = numbers(lake, "SELECT nothing FROM raw", address="job.unknown")
    lake.put(
        unknown | {"outputs": [lake.output("numbers", "clean", None, COLUMNS, checkpoint=f"{tmp_path}/c")]}
    )
    lake.start()
    lake.until_phase("job.numbers", "failed")
    lake.until_phase("job.unknown", "failed")
    lake.stop()
    events = events_in(path)
    assert PLANTED not in path.read_text()
    for address in ("job.numbers", "job.unknown"):
        assert [event["eventType"] for event in of_job(events, "", address)] == ["START", "FAIL"]
    [failed] = of_job(events, "FAIL")
    message = failed["run"]["facets"]["errorMessage"]["message"]
    assert "it is " in message
    assert not lake.control.read_status().jobs["job.numbers"].lineage_run


def test_a_server_that_hangs_refuses_or_is_away_costs_no_batch(
    own_lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = own_lake
    monkeypatch.setenv("LINEAGE_KEY", PLANTED)
    lake.table("numbers", *COLUMNS)
    key = secrets.reference("env", "LINEAGE_KEY")

    def batches(count: int) -> None:
        drop(lake, *range(done[0], done[0] + count))
        done[0] += count
        lake.until_rows("numbers", done[0])

    done = [0]
    with lineage_server() as server:
        server.status = 0
        target = OpenLineageTarget(
            namespace=NAMESPACE, url=f"{server.url}/api/v1/lineage", api_key=key, timeout_ms=500
        )
        lake.settle(openlineage=target)
        lake.put(numbers(lake))
        lake.start()
        batches(3)
        lake.wait(lambda status: server.url in status.application.lineage_trouble)
        server.status = 500
        batches(3)
        lake.settle(
            openlineage=OpenLineageTarget(namespace=NAMESPACE, url=f"http://127.0.0.1:{free_port()}/x")
        )
        batches(3)
        lake.put(numbers(lake), state="stopped")
        lake.until_phase("job.numbers", "stopped")
        server.status = 201
        lake.settle(openlineage=target)
        lake.wait(lambda status: not status.application.lineage_trouble)
        lake.wait(lambda _status: len(of_job(server.events, "COMPLETE")) == 1)
        events = [dict(judged(event)) for event in server.events]
        # An answer that came too late makes an event come twice
        taken = list({json.dumps(event): event for event in events}.values())
        kinds = [event["eventType"] for event in of_job(taken)]
        assert kinds == ["START", *["RUNNING"] * done[0], "COMPLETE"]
        assert snapshot_ids(of_job(taken, "RUNNING")) == history(lake)
        assert {each["Authorization"] for each in server.headers} == {f"Bearer {PLANTED}"}
        server.status = 422
        lake.put(numbers(lake))
        drop(lake, done[0])
        lake.until_rows("numbers", done[0] + 1)
        lake.wait(lambda status: status.jobs["job.numbers"].lineage_dropped > 1)
        server.status = 0
        lake.stop()
    kept = [each for each in (lake.root / "runtime").rglob("*") if each.is_file()]
    assert [each for each in kept if PLANTED in each.read_text(errors="replace")] == []
    log = lake.control.application_log.read_text()
    assert 3 <= log.count("OpenLineage: ") <= 8  # once for each reason, not for each event
