"""The local lock between real processes, and against clocks that jump."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flareiac.kernel.host import Host, booted_at
from flareiac.render.lock_text import lock_text
from flareiac.sdk.state import LockHeld, LockInfo, LockLost
from flareiac_state.lease import Terms
from flareiac_state.local import LocalStore
from flareiac_state.lock_file import Clock
from tests.state.conformance import ignore_wait

HOLDER = """
import sys
from pathlib import Path
from flareiac_state.local import LocalStore

store = LocalStore(Path(sys.argv[1]), environment={"USER": "holder"})
lease = store.lock("apply", timeout=60, on_wait=lambda _: None)
print(lease.info.id, flush=True)
sys.stdin.read()
"""

INCREMENTER = """
import sys
from pathlib import Path
from flareiac_state.local import LocalStore

directory = Path(sys.argv[1])
for _ in range(int(sys.argv[2])):
    store = LocalStore(directory, environment={})
    lease = store.lock("apply", timeout=300, on_wait=lambda _: None)
    current = store.read_snapshot()
    number = int(current.content) if current else 0
    store.append_journal([b"to %d" % (number + 1)], lease)
    store.write_snapshot(b"%d" % (number + 1), expect=current.revision if current else None, lease=lease)
    lease.release()
"""


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _store(directory: Path, *, clock: Clock | None = None, terms: Terms | None = None) -> LocalStore:
    return LocalStore(directory, environment={}, clock=clock or Clock(), terms=terms)


def test_one_holder_at_a_time_between_processes(tmp_path: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", INCREMENTER, str(tmp_path), "10"]) for _ in range(4)]
    assert [worker.wait(timeout=300) for worker in workers] == [0, 0, 0, 0]
    stored = _store(tmp_path).read_snapshot()
    assert stored is not None
    assert stored.content == b"40"
    assert json.loads((tmp_path / "lock.json").read_text())["info"]["epoch"] == 40


def test_a_killed_owner_is_taken_over_at_once_a_living_one_is_not(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        lock_id = holder.stdout.readline().strip()
        with pytest.raises(LockHeld) as held:
            _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
        assert (held.value.info.id, held.value.info.owner, held.value.info.pid) == (
            lock_id,
            "holder",
            holder.pid,
        )
        holder.send_signal(signal.SIGKILL)
    lease = _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
    assert lease.took_over is not None
    assert lease.took_over.id == lock_id
    lease.release()


def test_another_process_with_the_same_number_is_not_the_owner(tmp_path: Path) -> None:
    _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait).release()
    lock = json.loads((tmp_path / "lock.json").read_text())
    del lock["digest"]
    lock["held"] = True
    lock["info"]["process_started"] -= 0.5
    (tmp_path / "lock.json").write_text(json.dumps(lock))
    lease = _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
    assert lease.took_over is not None
    lease.release()


def test_the_heartbeat_keeps_the_lease_alive(tmp_path: Path) -> None:
    lease = _store(tmp_path, terms=Terms(length=60, heartbeat=0.01)).lock(
        "apply", timeout=0, on_wait=ignore_wait
    )
    first = lease.info.expires
    _wait_until(lambda: lease.info.expires > first)
    assert _store(tmp_path).lock_info() == lease.info
    lease.release()


def test_a_lock_file_overwritten_by_something_else_is_a_loss(tmp_path: Path) -> None:
    store = _store(tmp_path)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    (tmp_path / "lock.json").write_text("{")
    with pytest.raises(LockLost, match="overwritten"):
        store.append_journal([b"late"], lease)
    lease.release()
    assert (tmp_path / "lock.json").read_text() == "{"


def test_the_heartbeat_notices_the_loss(tmp_path: Path) -> None:
    lease = _store(tmp_path, terms=Terms(length=0, heartbeat=3600)).lock(
        "apply", timeout=0, on_wait=ignore_wait
    )
    other = _store(tmp_path).lock("destroy", timeout=0, on_wait=ignore_wait)
    with pytest.raises(LockLost, match=r"taken over by .*destroy"):
        lease.renew()
    lease.release()
    other.check()
    other.release()


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_jumping_clock_neither_frees_nor_keeps_the_lock(tmp_path: Path, jump: float) -> None:
    lease = _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
    jumped = Clock(wall=lambda: time.time() + jump)
    with pytest.raises(LockHeld):
        _store(tmp_path, clock=jumped).lock("apply", timeout=0, on_wait=ignore_wait)
    later = Clock(wall=lambda: time.time() + jump, uptime=lambda: Clock().uptime() + 61)
    other = _store(tmp_path, clock=later).lock("apply", timeout=0, on_wait=ignore_wait)
    assert other.took_over == lease.info
    lease.release()
    other.release()


def _written_elsewhere(directory: Path, *, expires_in: float) -> None:
    _store(directory).lock("apply", timeout=0, on_wait=ignore_wait).release()
    lock = json.loads((directory / "lock.json").read_text())
    del lock["digest"]
    lock.update(held=True, boot="another machine")
    lock["info"].update(host="elsewhere", expires=time.time() + expires_in)
    (directory / "lock.json").write_text(json.dumps(lock))


def test_a_lease_of_another_machine_ends_by_its_own_clock(tmp_path: Path) -> None:
    _written_elsewhere(tmp_path, expires_in=60)
    with pytest.raises(LockHeld) as held:
        _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
    assert held.value.info.host == "elsewhere"
    (tmp_path / "lock.json").unlink()
    _written_elsewhere(tmp_path, expires_in=-1)
    lease = _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
    assert lease.took_over is not None
    lease.release()


@pytest.mark.parametrize(
    ("differs", "is_taken"),
    [
        ({}, True),
        ({"machine": "another"}, False),
        ({"namespace": "pid:[1]"}, False),
        ({"renewed": time.time()}, False),
    ],
    ids=["before the boot", "another machine", "a container", "a copy that lives"],
)
def test_what_this_machine_locked_before_its_boot_is_taken_over_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, differs: dict[str, object], is_taken: bool
) -> None:
    place = Host(name="a", machine="m", boot="b-2", namespace="pid:[4026531836]")
    for module in ("host", "lock_file", "process_identity"):
        package = "flareiac.kernel" if module == "host" else "flareiac_state"
        monkeypatch.setattr(f"{package}.{module}.this_host", lambda: place)
    _written_elsewhere(tmp_path, expires_in=1000)
    lock = json.loads((tmp_path / "lock.json").read_text())
    lock.update({"boot": "b-1", "renewed": booted_at() - 10, **differs})
    lock["info"]["host"] = "a"
    (tmp_path / "lock.json").write_text(json.dumps(lock))
    if is_taken:
        lease = _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
        assert lease.took_over is not None
        lease.release()
    else:
        with pytest.raises(LockHeld):
            _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)


def test_a_silent_lease_from_a_clock_far_ahead_ends_while_we_watch(tmp_path: Path) -> None:
    _written_elsewhere(tmp_path, expires_in=1_000_000)
    waited: list[LockInfo] = []
    lease = _store(tmp_path, terms=Terms(length=0.2, heartbeat=3600)).lock(
        "apply", timeout=60, on_wait=waited.append
    )
    assert [holder.host for holder in waited] == ["elsewhere"]
    assert lease.took_over is not None
    lease.release()


def test_the_holder_is_described(tmp_path: Path) -> None:
    environment = {
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_RUN_ID": "7",
        "USER": "ann",
    }
    lease = LocalStore(tmp_path, environment=environment).lock("apply", timeout=0, on_wait=ignore_wait)
    assert (lease.info.owner, lease.info.operation) == ("ann", "apply")
    assert lease.info.job == "https://github.example/a/b/actions/runs/7"
    lease.release()


def test_a_lock_has_an_age_on_its_own_host_alone(tmp_path: Path) -> None:
    now = time.time()
    lease = _store(tmp_path, clock=Clock(wall=lambda: now)).lock("apply", timeout=0, on_wait=ignore_wait)
    looking = _store(tmp_path, clock=Clock(wall=lambda: now + 30.0))
    found = looking.lock_info()
    assert found is not None
    assert (found.age, found.clock) == (30.0, "")
    assert "(30s ago)" in lock_text(found)

    lock = json.loads((tmp_path / "lock.json").read_text())
    del lock["digest"]
    assert {"age", "clock"}.isdisjoint(lock["info"])
    lock["boot"], lock["machine"], lock["info"]["host"] = "another boot", "another machine", "worker-7"
    (tmp_path / "lock.json").write_text(json.dumps(lock))
    with pytest.raises(LockHeld) as held:
        looking.lock("apply", timeout=0, on_wait=ignore_wait)
    for info in (looking.lock_info(), held.value.info):
        assert info is not None
        assert (info.age, info.clock) == (None, "worker-7")
        shown = lock_text(info)
        assert " ago" not in shown
        assert "by the clock of worker-7" in shown
    lease.release()
