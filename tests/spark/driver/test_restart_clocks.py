"""The messages about an application whose heartbeat is old, comes from the future, or was written before the
clock was set.
"""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.host import Host, booted_at
from flareiac_spark.application import Launch, ensure_running, liveness, why_unknown
from flareiac_spark.application.liveness import Liveness
from flareiac_spark_runtime.control import ControlDirectory, Moment, Restart, Status, moment, this_process
from flareiac_spark_runtime.control.status import ApplicationStatus
from flareiac_spark_runtime.driver import leadership, logs
from flareiac_spark_runtime.driver.log_lines import LogLines
from flareiac_spark_runtime.driver.restart_policy import RestartPolicy

NOW = Moment(wall=1_700_000_000.0, uptime=5_000.0)
HOUR = 3_600.0


def status(
    wall: float, uptime: float | None, *, host: str | None = None, pid_started: str | None = None
) -> Status:
    me = this_process()
    about = ApplicationStatus(
        id="a", name="n", host=host or socket.gethostname(), pid=me.pid, pid_started=pid_started or me.started
    )
    return Status(
        application=about,
        heartbeat=NOW.wall + wall,
        uptime=None if uptime is None else NOW.uptime + uptime,
        observed_revision=1,
    )


@pytest.mark.parametrize(
    ("said", "lives"),
    [
        (status(-1, -1), Liveness.ALIVE),
        (status(HOUR, -1), Liveness.ALIVE),  # the clock was set back after the heartbeat
        (status(-HOUR, -1), Liveness.ALIVE),  # and forward
        (status(-1, -60), Liveness.UNKNOWN),  # suspended, and the clock was set back
        (status(-60, None), Liveness.UNKNOWN),
        (status(HOUR, None), Liveness.UNKNOWN),
        (status(-1, -1, pid_started="before"), Liveness.GONE),
        (status(HOUR, 1, pid_started="before"), Liveness.GONE),
        (status(-1, -1, host="elsewhere"), Liveness.ALIVE),
        (status(2, -4_000, host="elsewhere"), Liveness.ALIVE),
        (status(-60, 0, host="elsewhere"), Liveness.UNKNOWN),
        (status(HOUR, 0, host="elsewhere"), Liveness.UNKNOWN),
        (None, Liveness.GONE),
    ],
)
def test_liveness(said: Status | None, lives: Liveness) -> None:
    assert liveness(said, now=NOW) is lives


def test_an_application_of_this_machine_before_its_boot_is_gone_and_one_of_a_container_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = Host(name=socket.gethostname(), machine="m", boot="b-2", namespace="pid:[4026531836]")
    monkeypatch.setattr("flareiac.kernel.host.this_host", lambda: here)
    before = replace(here, boot="b-1")
    said = status(booted_at() - 100 - NOW.wall, None)
    container = replace(
        said, application=replace(said.application, place=replace(before, namespace="pid:[1]"))
    )
    booted = replace(said, application=replace(said.application, place=before))
    assert liveness(booted, now=NOW) is Liveness.GONE
    assert liveness(container, now=NOW) is Liveness.UNKNOWN
    assert "another container, or another machine, has the name of this host" in why_unknown(
        container, now=NOW
    )


def test_a_status_from_the_future_is_said_to_be_one() -> None:
    assert "3600 s in the future" in why_unknown(status(HOUR, 0, host="elsewhere"), now=NOW)
    assert "60 s old" in why_unknown(status(0, -60), now=NOW)


def test_nothing_is_started_beside_a_process_that_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flareiac_spark.application.launch._NEXT_BEATS", 0.15)
    control = ControlDirectory(tmp_path / "runtime")
    control.prepare()
    now = moment()
    control.write_status(replace(status(0, 0), heartbeat=now.wall, uptime=now.uptime - 100))
    with pytest.raises(Failure) as caught:
        ensure_running(control, Launch(python="/nowhere"), timeout=30)
    assert caught.value.diagnostics[0].code == "FIK806"
    assert "100 s old" in caught.value.diagnostics[0].detail


def test_a_silent_one_that_speaks_again_is_alive(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path / "runtime")
    control.prepare()
    now = moment()
    control.write_status(replace(status(0, 0), heartbeat=now.wall, uptime=now.uptime - 100))

    def speak() -> None:
        now = moment()
        control.write_status(replace(status(0, 0), heartbeat=now.wall, uptime=now.uptime))

    voice = threading.Timer(0.5, speak)
    voice.start()
    found = ensure_running(control, Launch(python="/nowhere"), timeout=30)
    voice.join()
    assert found is not None


def take(control: ControlDirectory, owner: str) -> object:
    return leadership.take_lease(
        control,
        owner,
        threading.Event(),
        logs.logger(f"test.{owner}", control.scratch / "logs" / "test.log", LogLines()),
    )


def elsewhere(
    control: ControlDirectory, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Takes the lease as another host does; returns its heartbeat."""
    monkeypatch.setattr("flareiac_spark_runtime.control.lease_file.this_host", lambda: Host(name="elsewhere"))
    lease = control.take_lease("far", this_process(), now=moment(), seconds=seconds)
    monkeypatch.undo()
    assert lease is not None

    def beat() -> None:
        control.renew_lease(lease, now=moment(), seconds=seconds)

    return beat


def test_the_lease_of_a_silent_host_is_taken_after_its_term(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = ControlDirectory(tmp_path / "runtime")
    elsewhere(control, 1.0, monkeypatch)
    begun = time.monotonic()
    assert take(control, "near") is not None
    assert time.monotonic() - begun >= 1.0


def test_the_lease_of_a_host_that_speaks_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    control = ControlDirectory(tmp_path / "runtime")
    beat = elsewhere(control, 600.0, monkeypatch)
    heart = threading.Timer(0.4, beat)
    heart.start()
    assert take(control, "near") is None
    heart.join()


def test_a_driver_without_a_place_for_its_files_says_so(tmp_path: Path) -> None:
    place = tmp_path / "runtime"
    place.write_text("a file, not a folder")
    ended = subprocess.run(
        [sys.executable, "-m", "flareiac_spark_runtime.driver", str(place)], capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "refused to start" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_budget_takes_other_rules_while_it_counts() -> None:
    budget = RestartPolicy(Restart(max_failures=1, within_ms=60_000, backoff_ms=1_000))
    assert budget.after_failure(0) == 1
    budget.revise(Restart(max_failures=3, within_ms=60_000, backoff_ms=5_000))
    assert budget.after_failure(1) == 10
    budget.revise(Restart(max_failures=1, within_ms=60_000, backoff_ms=1_000))
    assert budget.after_failure(2) is None
