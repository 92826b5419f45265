"""Events of OpenLineage leave a driver without anyone waiting for them."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flareiac.sdk import secrets
from flareiac_spark_runtime.control import OpenLineageTarget
from flareiac_spark_runtime.driver import event_queue, event_transport
from flareiac_spark_runtime.driver.event_queue import EventQueue, Pending
from tests.support.lineage_server import LineageServer, lineage_server
from tests.support.ports import free_port

LOG = logging.getLogger("test.openlineage")
KEY = "key-that-is-planted"


@pytest.fixture
def server() -> Iterator[LineageServer]:
    with lineage_server() as server:
        yield server


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[EventQueue]:
    monkeypatch.setattr(event_queue, "_FIRST_PAUSE", 0.05)
    monkeypatch.setenv("LINEAGE_KEY", KEY)
    queue = EventQueue(LOG)
    yield queue
    queue.end(0)


def to(url: str, **more: str | int) -> OpenLineageTarget:
    return OpenLineageTarget(namespace="n", url=f"{url}/api/v1/lineage", **{"timeout_ms": 300, **more})  # type: ignore[arg-type]


def number(value: int, *, is_commit: bool = True, job: str = "job.a") -> Pending:
    return Pending(job=job, make=lambda: {"number": value}, is_commit=is_commit)


def until(answer: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not answer():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def numbers(server: LineageServer) -> list[int]:
    return [event["number"] for event in server.events]


def test_nothing_is_kept_and_no_thread_runs_without_a_target(queue: EventQueue) -> None:
    queue.put(number(1))
    queue.aim(None)
    assert not queue.is_on
    assert queue._thread is None
    assert queue.dropped == {}


def test_events_arrive_in_their_order_with_the_key(queue: EventQueue, server: LineageServer) -> None:
    queue.aim(to(server.url, api_key=secrets.reference("env", "LINEAGE_KEY")))
    for each in range(20):
        queue.put(number(each))
    until(lambda: len(server.events) == 20)
    assert numbers(server) == list(range(20))
    assert {each["Authorization"] for each in server.headers} == {f"Bearer {KEY}"}
    assert {each["path"] for each in server.headers} == {"/api/v1/lineage"}


@pytest.mark.parametrize("status", [0, 500, 503, 429])
def test_a_server_that_hangs_or_is_busy_gets_every_event_later(
    queue: EventQueue, server: LineageServer, status: int
) -> None:
    server.status = status
    queue.aim(to(server.url))
    for each in range(5):
        queue.put(number(each))
    until(lambda: queue.problem is not None and server.asked > 1)
    assert server.url in str(queue.problem)
    server.status = 200
    until(lambda: len(server.events) >= 5)
    assert sorted(set(numbers(server))) == list(range(5))
    until(lambda: queue.problem is None)
    assert queue.dropped == {}


def test_an_event_that_is_refused_is_dropped_and_counted(queue: EventQueue, server: LineageServer) -> None:
    server.status = 422
    queue.aim(to(server.url))
    queue.put(number(1))
    queue.put(number(2, job="job.b"))
    until(lambda: queue.dropped == {"job.a": 1, "job.b": 1})
    assert "HTTP 422" in str(queue.problem)
    server.status = 200
    queue.put(number(3))
    until(lambda: numbers(server) == [3])


def test_so_many_events_wait_and_a_beginning_or_an_end_is_dropped_last(
    queue: EventQueue,
    server: LineageServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(event_queue, "MOST", 10)
    queue.aim(to(f"http://127.0.0.1:{free_port()}"))
    begun = time.monotonic()
    queue.put(number(0, is_commit=False))
    for each in range(1, 500):
        queue.put(number(each))
    assert time.monotonic() - begun < 5
    assert queue.dropped == {"job.a": 490}
    until(lambda: queue.problem is not None)
    queue.aim(to(server.url))
    until(lambda: len(server.events) == 10)
    assert numbers(server) == [0, *range(491, 500)]
    assert len([record for record in caplog.records if "OpenLineage" in record.message]) <= 2


def test_the_end_waits_for_a_moment_alone(queue: EventQueue, server: LineageServer) -> None:
    server.status = 0
    queue.aim(to(server.url, timeout_ms=30_000))
    queue.put(number(1))
    until(lambda: server.asked == 1)
    begun = time.monotonic()
    queue.end(0.3)
    assert time.monotonic() - begun < 10
    assert queue.dropped == {"job.a": 1}


def test_the_end_sends_what_waits(queue: EventQueue, server: LineageServer) -> None:
    queue.aim(to(server.url))
    for each in range(50):
        queue.put(number(each))
    queue.end(30)
    assert numbers(server) == list(range(50))


def test_an_event_that_cannot_be_made_is_dropped(queue: EventQueue, server: LineageServer) -> None:
    def fail() -> dict[str, int]:
        raise ValueError(f"with {KEY}")

    secrets.remember(KEY)
    queue.aim(to(server.url))
    queue.put(Pending(job="job.a", make=fail))
    queue.put(number(2))
    until(lambda: numbers(server) == [2])
    assert queue.dropped == {"job.a": 1}
    assert KEY not in str(queue.problem)


def test_a_secret_that_is_missing_is_named_and_not_shown(queue: EventQueue, server: LineageServer) -> None:
    queue.aim(to(server.url, api_key=secrets.reference("env", "NO_SUCH_KEY")))
    queue.put(number(1))
    until(lambda: "NO_SUCH_KEY" in str(queue.problem))
    assert server.asked == 0


def test_no_event_shows_a_secret(queue: EventQueue, server: LineageServer) -> None:
    secrets.remember('pla"nted\\secret')
    event = {"sql": 'SELECT "pla"nted\\secret"', "deep": [{'pla"nted\\secret': ('pla"nted\\secret',)}]}
    queue.aim(to(server.url))
    queue.put(Pending(job="job.a", make=lambda: event))
    until(lambda: len(server.events) == 1)
    assert "nted" not in json.dumps(server.events)


def test_a_file_has_a_line_for_each_event_and_does_not_grow_without_bound(
    queue: EventQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_transport, "FILE_BYTES", 200)
    path = tmp_path / "new" / "lineage.jsonl"
    queue.aim(OpenLineageTarget(namespace="n", file=str(path)))
    for each in range(200):
        queue.put(number(each))
    queue.end(30)
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == [path.name, *(f"{path.name}.{at}" for at in (1, 2, 3))]
    assert all(file.stat().st_size <= 200 for file in files)
    assert path.stat().st_mode & 0o777 == 0o600
    kept = [json.loads(line)["number"] for file in reversed(files) for line in file.read_text().splitlines()]
    first = [json.loads(line)["number"] for line in path.read_text().splitlines()]
    assert sorted(kept) == list(range(min(kept), 200))
    assert first[-1] == 199


def test_a_file_that_cannot_be_written_is_a_problem_and_no_more(queue: EventQueue, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    queue.aim(OpenLineageTarget(namespace="n", file=str(tmp_path / "file" / "lineage.jsonl")))
    queue.put(number(1))
    until(lambda: "cannot write" in str(queue.problem))
    queue.aim(OpenLineageTarget(namespace="n", file=str(tmp_path / "lineage.jsonl")))
    until((tmp_path / "lineage.jsonl").exists)
