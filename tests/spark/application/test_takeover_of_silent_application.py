"""An application on another host that fell silent is gone exactly when its lease stays unchanged for its
whole term.
"""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from flareiac_spark.application import Liveness, end_if_gone, is_elsewhere_and_silent, liveness
from flareiac_spark_runtime.control import ControlDirectory, Lease, Status, moment
from flareiac_spark_runtime.control.status import ApplicationStatus

TERM = 0.3


def status(heartbeat: float = 0.0, *, host: str = "other0") -> Status:
    about = ApplicationStatus(id="a", name="n", host=host, pid=12407, pid_started="boot.1")
    return Status(application=about, heartbeat=heartbeat, observed_revision=1)


def lease(renewed: float = 0.0, *, epoch: int = 3) -> Lease:
    return Lease(
        owner="a",
        host="other0",
        pid=12407,
        pid_started="boot.1",
        epoch=epoch,
        seconds=TERM,
        uptime=5.0,
        renewed=renewed,
    )


@pytest.fixture
def control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ControlDirectory:
    made = ControlDirectory(tmp_path / "runtime")
    made.prepare()
    made.write_status(status())
    put_lease(made, lease())
    return made


def put_lease(control: ControlDirectory, found: Lease) -> None:
    from flareiac.kernel.records import encode
    from flareiac_spark_runtime.control.atomic_files import write_json

    write_json(control.scratch / "lease.json", encode(found))


def watched(
    control: ControlDirectory, meanwhile: Callable[[], object] = lambda: None
) -> tuple[bool, list[str]]:
    """``meanwhile`` happens once the watch has begun."""
    said: list[str] = []

    def progress(text: str) -> None:
        said.append(text)
        meanwhile()

    return end_if_gone(control, status(), cancel=threading.Event(), progress=progress), said


def test_a_lease_that_stays_unchanged_is_taken_over_and_released(control: ControlDirectory) -> None:
    before = control.read_status()
    assert is_elsewhere_and_silent(before)
    ended, said = watched(control)
    assert ended
    assert said == [
        "watching the lease of process 12407 on other0 for 0 s: it is taken over if it stays unchanged"
    ]
    after, left = control.read_status(), control.read_lease()
    assert after is not None
    assert left is not None
    assert liveness(after) is Liveness.GONE
    assert "process 12407 on other0 is gone: its lease stayed unchanged" in after.application.reason
    assert (left.epoch, left.seconds) == (4, 0.0)
    assert control.renew_lease(lease(), now=moment(), seconds=TERM) is None, (
        "a driver that comes back finds its lease lost"
    )


@pytest.mark.parametrize(
    "sign",
    [
        lambda control: put_lease(control, lease(1.0)),
        lambda control: put_lease(control, lease(epoch=4)),
        lambda control: control.write_status(status(2.0)),
    ],
    ids=["renewed", "taken by another driver", "a heartbeat"],
)
def test_any_sign_of_life_ends_the_watch(
    control: ControlDirectory, sign: Callable[[ControlDirectory], None]
) -> None:
    ended, _said = watched(control, lambda: sign(control))
    assert not ended
    after = control.read_status()
    assert after is not None
    assert after.application.phase == "running"


def test_without_a_lease_the_heartbeat_is_watched(control: ControlDirectory) -> None:
    (control.scratch / "lease.json").unlink()
    assert watched(control)[0]


def test_a_cancelled_watch_takes_nothing(control: ControlDirectory) -> None:
    cancel = threading.Event()
    cancel.set()
    assert not end_if_gone(control, status(), cancel=cancel, progress=lambda _text: None)
    assert control.read_lease() == lease()


def test_a_silent_process_on_this_host_is_never_taken_for_gone_by_its_lease() -> None:
    import socket

    assert not is_elsewhere_and_silent(status(host=socket.gethostname()))
