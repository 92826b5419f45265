"""A real driver as probes and Prometheus see it, and its settings while it runs."""

import json
import socket
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from flareiac_spark_runtime.driver.metrics import METRICS
from tests.support.ports import free_port

pytestmark = pytest.mark.jvm

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

COLUMNS = [("ts", "timestamptz"), ("carrier", "string"), ("delay", "long")]


def get(port: int, path: str) -> str:
    """Raises ``OSError`` where no server listens, and where the answer is no."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return str(answer.read().decode())


def metrics(port: int) -> dict[str, dict[str, float]]:
    """Values by name and label ``phase`` (empty without one)."""
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(get(port, "/metrics")):
        for sample in family.samples:
            assert sample.name in METRICS
            found.setdefault(sample.name, {})[sample.labels.get("phase", "")] = sample.value
    return found


def is_answered(port: int) -> bool:
    try:
        return get(port, "/readyz") == "ok\n"
    except OSError:
        return False


def test_a_driver_is_watched_and_takes_other_settings_while_it_runs(own_lake: Lake, tmp_path: Path) -> None:
    lake, port, alive = own_lake, free_port(), tmp_path / "run" / "alive"
    lake.table("numbers", *COLUMNS)
    for number in range(3):
        lake.drop_file("in", f"f{number}", [{"ts": "2026-01-01T00:00:00Z", "carrier": "AA", "delay": number}])
    spec = {
        "address": "job.numbers",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 0},
        "inputs": [lake.flights_input("in", source={"max_files_per_trigger": 1})],
        "steps": [{"name": "clean", "sql": "SELECT * FROM raw"}],
        "outputs": [lake.output("numbers", "clean", None, COLUMNS)],
    }
    lake.settle(listen=f"127.0.0.1:{port}", liveness_file=str(alive), log_format="json")
    lake.put(spec)
    first = lake.start().application
    lake.until_rows("numbers", 3)
    lake.until("job.numbers", lambda job: job.phase == "idle" and job.queries[0].batch == 2)

    assert get(port, "/healthz") == get(port, "/readyz") == "ok\n"
    found, now = metrics(port), time.time()
    assert found["flareiac_application_alive"] == found["flareiac_application_ready"] == {"": 1.0}
    assert found["flareiac_job_phase"]["idle"] == 1.0
    assert found["flareiac_job_starts_total"] == {"": 1.0}
    assert found["flareiac_job_failures_total"] == {"": 0.0}
    assert found["flareiac_query_batch_id"] == {"": 2.0}
    assert found["flareiac_query_input_rows_total"] == {"": 3.0}
    for name in (
        "flareiac_query_last_commit_timestamp_seconds",
        "flareiac_heartbeat_timestamp_seconds",
        "flareiac_lease_renewed_timestamp_seconds",
        "flareiac_main_loop_timestamp_seconds",
        "flareiac_application_start_timestamp_seconds",
    ):
        assert 0 <= now - found[name][""] < 600, name
    assert "flareiac_query_watermark_timestamp_seconds" not in found
    assert "flareiac_source_caught_up" not in found  # a stream of files does not say how much there is
    assert alive.read_text() == f"flareiac driver {first.pid}\n"
    log = lake.control.job_log("job.numbers")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {line["job"] for line in lines} == {"job.numbers"}
    assert any("batch 2 committed" in line["message"] for line in lines)

    with socket.create_server(("127.0.0.1", 0)) as taken:
        other = taken.getsockname()[1]
        lake.settle(listen=f"127.0.0.1:{other}")
        lake.wait(lambda status: "already in use" in status.application.monitoring_trouble)
        lake.drop_file("in", "f3", [{"ts": "2026-01-01T00:00:00Z", "carrier": "AA", "delay": 3}])
        lake.until_rows("numbers", 4)
    lake.wait(lambda _status: is_answered(other))
    lake.wait(lambda status: not status.application.monitoring_trouble)
    assert not alive.exists()
    assert not is_answered(port)
    lake.until("job.numbers", lambda job: job.queries[0].batch == 3)
    assert log.read_text().splitlines()[-1][:1].isdigit()  # plain text begins with the time
    assert lake.control.read_status().application.id == first.id
    lake.settle(liveness_file=str(alive))
    lake.wait(lambda _status: alive.exists())
    lake.stop()
    assert not alive.exists()
