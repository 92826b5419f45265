"""An application's life: started once, killed at bad moments, started again, ended."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.application import Launch, ensure_running, is_alive, liveness, stop_application, wait_for
from flareiac_spark.application.launch import _spawn
from flareiac_spark.application.liveness import Liveness
from flareiac_spark_runtime.control import ControlDirectory, ProcessIdentity, Status, is_running, moment
from flareiac_spark_runtime.control.lease import LeaseState

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

COLUMNS = [("ts", "timestamptz"), ("carrier", "string"), ("delay", "long")]


def numbers(lake: Lake, **more: Any) -> dict[str, Any]:
    """A stream of one file per batch."""
    return {
        "address": "job.numbers",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 0},
        "inputs": [lake.flights_input("in", source={"max_files_per_trigger": 1})],
        "steps": [{"name": "clean", "sql": "SELECT * FROM raw"}],
        "outputs": [lake.output("numbers", "clean", None, COLUMNS)],
        **more,
    }


def identities(status: Status) -> tuple[ProcessIdentity, ProcessIdentity]:
    about = status.application
    assert about.jvm_pid is not None
    assert about.jvm_pid_started is not None
    return ProcessIdentity(pid=about.pid, started=about.pid_started), ProcessIdentity(
        pid=about.jvm_pid, started=about.jvm_pid_started
    )


def fill(lake: Lake, count: int) -> None:
    for number in range(count):
        lake.drop_file(
            "in", f"f{number:03d}", [{"ts": "2026-01-01T00:00:00Z", "carrier": "AA", "delay": number}]
        )


def check_exact(lake: Lake, count: int) -> None:
    rows = lake.until_rows("numbers", count)
    lake.put(numbers(lake), state="stopped")
    lake.until_phase("job.numbers", "stopped")
    assert sorted(row["delay"] for row in rows) == list(range(count))
    assert sorted(row["delay"] for row in lake.rows("numbers")) == list(range(count))


@pytest.mark.jvm
@pytest.mark.parametrize("point", ["driver.after-batch:2", "driver.after-start", "driver.lease-taken"])
def test_a_driver_killed_at_a_point_loses_and_repeats_nothing(
    own_lake: Lake, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = own_lake
    lake.table("numbers", *COLUMNS)
    fill(lake, 8)
    lake.put(numbers(lake))
    monkeypatch.setenv("FLAREIAC_KILL_AT", point)
    try:
        lake.start()
        lake.until_rows("numbers", 10_000)
    except Failure as failure:
        assert failure.diagnostics[0].code in {"FIK801", "FIK803"}  # noqa: PT017 - either may come first
    monkeypatch.delenv("FLAREIAC_KILL_AT")
    lake.start()
    check_exact(lake, 8)


@pytest.mark.jvm
def test_a_process_killed_while_it_wrote_its_first_offsets_does_not_keep_the_job_from_starting(
    own_lake: Lake,
) -> None:
    lake = own_lake
    lake.table("numbers", *COLUMNS)
    fill(lake, 4)
    offsets = lake.root / "checkpoints" / "numbers" / "g0001" / "offsets"
    offsets.mkdir(parents=True)
    name = ".0.1b0a4f1c-0b1d-4c5e-8f00-3a54058aea32.tmp"
    (offsets / name).write_text("v1\n")
    (offsets / f".{name}.crc").write_text("crc")
    lake.put(numbers(lake))
    lake.start()
    check_exact(lake, 4)


@pytest.mark.jvm
def test_driver_and_jvm_killed_amid_batches_lose_and_repeat_nothing(own_lake: Lake) -> None:
    lake = own_lake
    lake.table("numbers", *COLUMNS)
    fill(lake, 24)
    lake.put(numbers(lake))
    for least in (3, 9):
        status = lake.start()
        lake.until_rows("numbers", least)
        driver, jvm = identities(status)
        os.kill(jvm.pid, signal.SIGKILL)
        os.kill(driver.pid, signal.SIGKILL)
        assert lake.until_gone(driver)
    lake.start()
    check_exact(lake, 24)


@pytest.mark.jvm
def test_a_driver_paused_beyond_its_lease_gives_way_and_what_it_left_is_exact(own_lake: Lake) -> None:
    """The paused one's JVM goes on alone; its successor starts nothing until that is gone. Awake again, the
    old one leaves by itself.
    """
    lake = own_lake
    lake.table("numbers", *COLUMNS)
    fill(lake, 40)
    lake.put(numbers(lake))
    status = lake.start()
    first, (driver, jvm) = status.application.id, identities(status)
    lake.until_rows("numbers", 2)
    os.kill(driver.pid, signal.SIGSTOP)
    try:
        lake.wait(lambda _status: lake.control.read_lease().standing(moment()) is LeaseState.FREE)
        assert liveness(lake.control.read_status()) is Liveness.UNKNOWN
        _spawn(lake.control, lake.launch)
        lake.wait(lambda status: status.application.id != first and status.application.phase == "running")
        assert not is_running(jvm)
    finally:
        os.kill(driver.pid, signal.SIGCONT)
    assert lake.until_gone(driver)
    assert is_alive(lake.control.read_status())
    check_exact(lake, 40)


@pytest.mark.jvm
def test_a_second_driver_is_refused_and_the_end_leaves_nothing_behind(own_lake: Lake) -> None:
    lake = own_lake
    status = lake.start()
    again = lake.start()
    assert again.application.id == status.application.id
    second = subprocess.run(
        [sys.executable, "-m", "flareiac_spark_runtime.driver", str(lake.control.scratch)],
        capture_output=True,
        text=True,
    )
    assert second.returncode == 3
    assert "another driver runs this application" in second.stderr
    assert is_alive(lake.control.read_status())

    driver, jvm = identities(status)
    lake.stop()
    assert not is_running(driver)
    assert not is_running(jvm)
    last = lake.control.read_status()
    assert last is not None
    assert (last.application.phase, last.application.reason) == ("ended", "asked to stop")
    assert liveness(last) is Liveness.GONE
    with pytest.raises(Failure, match="ended before it answered"):
        wait_for(lake.control, lambda _status: None, timeout=60)


@pytest.mark.jvm
def test_an_idle_application_ends_and_a_completed_run_stays_completed(own_lake: Lake) -> None:
    lake = own_lake
    uuid = lake.table("once", ("n", "long"))
    spec = {
        "address": "job.once",
        "mode": "batch",
        "inputs": [],
        "steps": [{"name": "one", "sql": "SELECT 1 AS n"}],
        "outputs": [lake.output("once", "one", uuid, [("n", "long")], checkpoint=None)],
    }
    lake.settle(idle_shutdown_ms=500)
    lake.put(spec)
    for _ in range(2):
        lake.start()
        with pytest.raises(Failure, match="ended"):
            lake.wait(lambda _status: False)
        last = lake.control.read_status()
        assert (last.application.reason, last.jobs["job.once"].phase) == ("idle_shutdown", "completed")
        assert lake.rows("once") == [{"n": 1}]
        lake.stop()


def test_a_java_that_does_not_start_is_told_in_its_own_words(tmp_path: Path, java_home: Path) -> None:
    control = ControlDirectory(tmp_path / "runtime")
    with pytest.raises(Failure) as caught:
        ensure_running(control, Launch(java_home=java_home, memory="1k"), timeout=120)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == "FIK801"
    assert "Too small maximum heap" in diagnostic.detail.splitlines()[0]


def test_a_missing_python_is_told(tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        ensure_running(ControlDirectory(tmp_path / "runtime"), Launch(python="/nowhere/python"), timeout=60)
    assert "/nowhere/python" in caught.value.diagnostics[0].detail


def test_a_damaged_desired_file_ends_the_start_with_its_reason(tmp_path: Path, java_home: Path) -> None:
    control = ControlDirectory(tmp_path / "runtime")
    control.prepare()
    (control.scratch / "desired.json").write_text("{")
    with pytest.raises(Failure) as caught:
        ensure_running(control, Launch(java_home=java_home), timeout=60)
    assert "desired.json" in caught.value.diagnostics[0].detail


def test_a_damaged_status_is_a_complaint_that_names_the_file(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path / "runtime")
    control.prepare()
    (control.scratch / "status.json").write_text(json.dumps({"version": 1, "application": 7}))
    with pytest.raises(Failure) as caught:
        stop_application(control)
    assert caught.value.diagnostics[0].code == "FIK804"
    assert "status.json" in caught.value.diagnostics[0].detail


def test_what_was_never_started_is_stopped(tmp_path: Path) -> None:
    assert stop_application(ControlDirectory(tmp_path / "runtime"))
