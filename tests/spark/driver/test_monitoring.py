"""The view of a driver for probes and for Prometheus, without Spark: the page as Prometheus' own parser reads
it, the verdicts of health, the endpoint and the liveness file.
"""

import json
import logging
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from flareiac.sdk.table_tasks import Work
from flareiac_spark.engine.monitoring_settings import is_absolute_path, is_listen_address
from flareiac_spark_runtime.control import (
    ApplicationSettings,
    ApplicationStatus,
    JobStatus,
    Maintain,
    QueryStatus,
    SourceLag,
    Status,
)
from flareiac_spark_runtime.driver import fence
from flareiac_spark_runtime.driver.counters import Counters
from flareiac_spark_runtime.driver.exposition import Family, Sample, exposition
from flareiac_spark_runtime.driver.health import (
    LONGEST_START,
    LONGEST_TURN,
    Vitals,
    why_not_alive,
    why_not_ready,
)
from flareiac_spark_runtime.driver.http_endpoint import _MOST, _MOST_THREADS, HttpEndpoint, Page
from flareiac_spark_runtime.driver.liveness_file import LivenessFile
from flareiac_spark_runtime.driver.log_lines import CAUSE, LogLines
from flareiac_spark_runtime.driver.metrics import METRICS, Readings, families
from flareiac_spark_runtime.driver.monitoring import Monitoring
from flareiac_spark_runtime.listen_address import ListenAddress, listen_address
from tests.support.ports import free_port

LOG = logging.getLogger("test.monitoring")
WELL = Vitals(begun=100.0, turned=0.1, renewed=1.0, term=30.0, runs=True, was_read=True)
ODD = 'job.odd["a\\b \n{}=,é\r"]'


def vitals(**changes: Any) -> Vitals:
    return Vitals(**{**{name: getattr(WELL, name) for name in Vitals.__slots__}, **changes})


def readings(*queries: QueryStatus, address: str = "job.a", phase: Any = "running") -> Readings:
    about = ApplicationStatus(id="1", name="flareiac local", host="h", pid=1, pid_started="", phase="running")
    job = JobStatus(phase=phase, digest="1", queries=queries, since=5.0)
    status = Status(application=about, heartbeat=1000.0, observed_revision=3, jobs={address: job})
    return Readings(now=1000.0, begun=1.0, status=status, vitals=WELL)


def parsed(text: str) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    """Values by name and labels, as Prometheus' own client reads them."""
    found: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = frozenset(sample.labels.items())
            assert labels not in found.setdefault(sample.name, {}), f"{sample.name} {labels} is there twice"
            found[sample.name][labels] = sample.value
    return found


def values(page: Readings) -> dict[str, float]:
    """The one value of each metric that has one."""
    found = parsed(exposition(families(page)))
    return {name: next(iter(samples.values())) for name, samples in found.items() if len(samples) == 1}


QUERY = QueryStatus(
    output="numbers",
    id="1",
    run_id="2",
    batch=7,
    last_commit=990.5,
    input_rows_per_second=12.5,
    processed_rows_per_second=25.0,
    lag={
        "0": SourceLag(source="KafkaV2[Subscribe[t]]", end={"t": {"0": 5}}, latest={"t": {"0": 9, "1": 2}}),
        "1": SourceLag(source="files", end={"logOffset": 1}),
        "2": SourceLag(source="table", end={"snapshot_id": 1}, latest={"snapshot_id": 1}),
    },
    watermark="2013-02-18T04:59:00.000Z",
    state_rows=11,
    state_bytes=4096,
    input_rows=300,
    bad_records={"raw": 2},
    batch_seconds=1.25,
    quiet_seconds=9.5,
    behind_seconds=33.0,
)


def test_the_figures_of_a_query_are_those_of_its_status() -> None:
    found = values(readings(QUERY))
    assert found["flareiac_query_batch_id"] == 7
    assert found["flareiac_query_last_commit_timestamp_seconds"] == 990.5
    assert found["flareiac_query_batch_duration_seconds"] == 1.25
    assert found["flareiac_query_watermark_timestamp_seconds"] == 1361163540.0
    assert (found["flareiac_query_state_rows"], found["flareiac_query_state_bytes"]) == (11, 4096)
    assert found["flareiac_query_input_rows_total"] == 300
    assert found["flareiac_query_behind_seconds"] == 33.0
    assert found["flareiac_source_lag_records"] == 6
    page = parsed(exposition(families(readings(QUERY))))
    level = {dict(labels)["source"]: value for labels, value in page["flareiac_source_caught_up"].items()}
    assert level == {"0": 0.0, "2": 1.0}
    phases = {dict(labels)["phase"]: value for labels, value in page["flareiac_job_phase"].items()}
    assert [phase for phase, value in phases.items() if value] == ["running"]
    assert len(phases) == 9


def test_what_is_not_known_is_absent() -> None:
    begun = QueryStatus(output="numbers", id="1", run_id="2", watermark="1970-01-01T00:00:00.000Z")
    page = values(readings(begun))
    unknown = ("batch", "commit", "rows_per_second", "watermark", "state", "late", "quiet", "behind")
    assert not [
        name
        for name in page
        if name.startswith("flareiac_query")
        and any(word in name for word in unknown)
        and not name.endswith("_total")  # what is counted from the start on is known from the start on
    ]
    assert not [name for name in page if name.startswith(("flareiac_source", "flareiac_maintenance"))]
    assert "flareiac_heartbeat_timestamp_seconds" not in page
    stopped = values(readings(QUERY, phase="backoff"))
    assert stopped["flareiac_query_batch_id"] == 7
    assert "flareiac_query_behind_seconds" not in stopped
    assert "flareiac_source_lag_records" not in stopped


def test_maintenance_is_counted_by_its_end() -> None:
    counters = Counters()
    work = Maintain(
        key="k",
        identifier=("lake", "demo", "flights"),
        uuid="u",
        task=Work(data={"kind": "rewrite_data_files"}),
    )
    with counters.maintains(work):
        pass
    with pytest.raises(RuntimeError), counters.maintains(work):
        raise RuntimeError
    with counters.maintains(None):
        pass
    counts = counters.counts
    page = parsed(
        exposition(
            families(Readings(now=1.0, begun=1.0, status=readings().status, vitals=WELL, counts=counts))
        )
    )
    labels = {("table", "lake.demo.flights"), ("kind", "rewrite_data_files")}
    assert page["flareiac_maintenance_last_success"] == {frozenset(labels): 0.0}
    assert page["flareiac_maintenance_runs_total"] == {
        frozenset({*labels, ("result", "done")}): 1.0,
        frozenset({*labels, ("result", "failed")}): 1.0,
    }


def test_odd_names_are_read_again_by_prometheus() -> None:
    page = parsed(exposition(families(readings(QUERY, address=ODD))))
    assert {dict(labels)["address"] for labels in page["flareiac_query_batch_id"]} == {
        ODD.replace("\r", "\N{REPLACEMENT CHARACTER}")
    }


@given(st.text(), st.floats(allow_nan=False) | st.integers(-(2**63), 2**63))
def test_any_label_and_value_survives(label: str, value: float) -> None:
    family = Family(
        name="flareiac_x",
        kind="gauge",
        help=label,
        samples=(Sample(value=value, labels={"a": label, "b": "c"}),),
    )
    whole = label.encode("utf-8", "replace").decode().replace("\r", "\N{REPLACEMENT CHARACTER}")
    assert parsed(exposition([family])) == {
        "flareiac_x": {frozenset({("a", whole), ("b", "c")}): float(value)}
    }


def test_names_follow_the_conventions() -> None:
    for name, metric in METRICS.items():
        assert name.startswith("flareiac_")
        assert name.endswith("_total") == (metric.kind == "counter"), name
        assert metric.help.endswith(".")


@pytest.mark.parametrize(
    ("changes", "alive", "ready"),
    [
        ({}, None, None),
        ({"turned": None, "runs": False}, None, "Spark is starting"),
        ({"turned": None, "begun": LONGEST_START + 1}, "starting for 601 s", "starting for 601 s"),
        ({"turned": LONGEST_TURN + 5}, "the main loop has stood still for 65 s", "stood still"),
        ({"renewed": 31.0}, "last renewed 31 s ago; it lasts 30 s", "last renewed"),
        ({"lost": "another driver took the lease"}, "the lease is lost: another driver", "is lost"),
        ({"ending": True}, None, "it is ending"),
        ({"problem": "it is damaged"}, None, "what should run cannot be read: it is damaged"),
        ({"was_read": False}, None, "not read yet"),
    ],
)
def test_health(changes: dict[str, Any], alive: str | None, ready: str | None) -> None:
    for found, expected in (
        (why_not_alive(vitals(**changes)), alive),
        (why_not_ready(vitals(**changes)), ready),
    ):
        assert (found is None) == (expected is None)
        assert (expected or "") in (found or "")


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def endpoint() -> Iterator[HttpEndpoint]:
    def page(path: str) -> Page | None:
        if path == "/broken":
            raise ValueError("no page")
        return Page(text=f"{path}\n") if path == "/there" else None

    made = HttpEndpoint(page, LOG)
    yield made
    made.end()


def get(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as failure:
        with failure:
            return failure.code, failure.read().decode()


def answers(port: int, path: str) -> Callable[[], bool]:
    def look() -> bool:
        try:
            return get(port, path)[0] == 200
        except OSError:
            return False

    return look


def test_pages_are_answered_and_the_address_changes_while_it_runs(endpoint: HttpEndpoint) -> None:
    first, second = free_port(), free_port()
    endpoint.listen_on(f"127.0.0.1:{first}")
    until(answers(first, "/there?x=1"))
    assert get(first, "/there") == (200, "/there\n")
    assert get(first, "/there", "HEAD") == (200, "")
    assert get(first, "/elsewhere")[0] == 404
    assert get(first, "/broken") == (500, "ValueError: no page\n")
    endpoint.listen_on(f"localhost:{second}")
    until(answers(second, "/there"))
    with pytest.raises(urllib.error.URLError, match="refused"):
        get(first, "/there")


def test_an_address_that_is_taken_is_told_and_tried_again(
    endpoint: HttpEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flareiac_spark_runtime.driver.http_endpoint._RETRY_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        endpoint.listen_on(f"127.0.0.1:{port}")
        until(lambda: endpoint.problem is not None)
        assert endpoint.problem == f"cannot listen on 127.0.0.1:{port}: Address already in use"
    until(answers(port, "/there"))
    assert endpoint.problem is None


def is_closed(client: socket.socket) -> Callable[[], bool]:
    """Returns a test of whether the other side has ended the connection; nothing is waited for."""

    def look() -> bool:
        try:
            return client.recv(1, socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    return look


def test_slow_clients_take_neither_threads_nor_answers_from_others(
    endpoint: HttpEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flareiac_spark_runtime.driver.http_endpoint._CLIENT_SECONDS", 10_000.0)
    port = free_port()
    endpoint.listen_on(f"127.0.0.1:{port}")
    until(answers(port, "/there"))
    with ExitStack() as stack:
        slow: list[socket.socket] = []
        for _ in range(300):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            with suppress(OSError):
                client.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
            slow.append(client)
            serving = [item for item in threading.enumerate() if "process_request" in item.name]
            assert len(serving) <= _MOST_THREADS
        until(lambda: sum(is_closed(client)() for client in slow) >= len(slow) - _MOST)
        for _ in range(50):
            assert get(port, "/there") == (200, "/there\n")


def test_a_client_that_sends_a_byte_now_and_then_is_sent_away(
    endpoint: HttpEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flareiac_spark_runtime.driver.http_endpoint._CLIENT_SECONDS", 1.0)
    port = free_port()
    endpoint.listen_on(f"127.0.0.1:{port}")
    until(answers(port, "/there"))
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(b"GET /there HTTP/1.1\r\nX: ")

        def sent_away() -> bool:
            with suppress(OSError):
                client.send(b"y")
            return is_closed(client)()

        until(sent_away)
    assert get(port, "/there") == (200, "/there\n")


class Leader:
    """The part of the leadership that ``Monitoring`` reads."""

    term, why_lost, written = 30.0, "", 990.0

    @property
    def renewed(self) -> float:
        return fence.now()


def test_a_main_loop_that_hangs_is_told_by_who_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flareiac_spark_runtime.driver.health.LONGEST_TURN", 0.5)
    port, path = free_port(), tmp_path / "alive"
    leader: Any = Leader()
    monitoring = Monitoring(leader, lambda: readings(QUERY).status, Counters(), LOG)
    monitoring.adopt(ApplicationSettings(listen=f"127.0.0.1:{port}", liveness_file=str(path)))
    try:
        until(answers(port, "/healthz"))
        assert get(port, "/readyz") == (503, "Spark is starting\n")
        assert not path.exists()
        monitoring.turn()
        assert path.exists()
        # No turn follows: this thread is the main loop.
        until(lambda: get(port, "/healthz")[0] == 503)
        assert get(port, "/healthz")[1].startswith("the main loop has stood still for ")
        page = parsed(get(port, "/metrics")[1])
        assert page["flareiac_application_alive"] == {frozenset(): 0.0}
        assert page["flareiac_heartbeat_timestamp_seconds"] == {frozenset(): 990.0}
        assert "flareiac_query_batch_id" in page
    finally:
        monitoring.end()
    assert not path.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:9188", ("127.0.0.1", 9188)),
        ("[::1]:1", ("::1", 1)),
        ("metrics.internal:65535", ("metrics.internal", 65535)),
        (":9188", None),
        ("9188", None),
        ("127.0.0.1", None),
        ("127.0.0.1:0", None),
        ("127.0.0.1:65536", None),
        ("http://127.0.0.1:9188", None),
        ("::1:9188", None),
    ],
)
def test_addresses(text: str, expected: tuple[str, int] | None) -> None:
    wanted = ListenAddress(host=expected[0], port=expected[1]) if expected else None
    assert listen_address(text) == wanted
    assert (is_listen_address(text) is None) == (wanted is not None)


def test_paths_of_liveness_files() -> None:
    assert is_absolute_path("/run/flareiac/alive") is None
    assert all(is_absolute_path(text) is not None for text in ("run/alive", "", "/", "~/alive", "/run/.."))


def test_the_liveness_file_appears_whole_is_touched_and_removed(tmp_path: Path) -> None:
    file, path = LivenessFile(), tmp_path / "run" / "alive"
    file.touch()
    file.move_to(str(path))
    assert not path.exists()
    file.touch()
    assert path.read_text() == f"flareiac driver {os.getpid()}\n"
    os.utime(path, (1, 1))
    file.touch()
    assert path.stat().st_mtime > 1
    path.unlink()
    file.touch()
    assert path.exists()
    other = tmp_path / "other"
    file.move_to(str(other))
    assert not path.exists()
    file.touch()
    file.remove()
    assert list(tmp_path.rglob("*alive*")) == []
    assert not other.exists()


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("keep me")
    file = LivenessFile()
    file.move_to(str(path))
    file.touch()
    assert (
        file.problem
        == f"the liveness file {path} cannot be written: there is another file, which is left alone"
    )
    file.remove()
    assert path.read_text() == "keep me"
    path.unlink()
    os.mkfifo(path)
    file.touch()
    assert "it is no file" in (file.problem or "")
    path.unlink()
    file.touch()
    assert file.problem is None


def record(name: str, message: str, *given: Any, **more: Any) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.ERROR, __file__, 1, message, given, None)
    made.created = 1_700_000_000.25
    made.__dict__.update(more)
    return made


def test_a_line_of_json_is_one_object_and_a_line_of_text_stays_as_it_was() -> None:
    lines = LogLines()
    failed = record("flareiac.job.job.a", "failed: %s", "two\nlines", **{CAUSE: "java.lang.X\n\tat Y"})
    assert lines.format(failed).endswith(" ERROR failed: two\nlines\njava.lang.X\n\tat Y")
    lines.as_json = True
    text = lines.format(failed)
    assert "\n" not in text
    assert json.loads(text) == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "ERROR",
        "logger": "flareiac.job.job.a",
        "job": "job.a",
        "message": "failed: two\nlines",
        "error": "java.lang.X\n\tat Y",
    }
    try:
        raise ValueError("odd \udc80")
    except ValueError:
        broken = record("flareiac.application", "the application failed", exc_info=sys.exc_info())
    found = json.loads(lines.format(broken).encode())
    assert "job" not in found
    assert "ValueError: odd" in found["error"]
