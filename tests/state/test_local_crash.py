"""The local store after kills and on a full disk: what was acknowledged is there, and nothing is half
there.
"""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.state import Damaged
from flareiac_state.local import LocalStore
from tests.state.conformance import ignore_wait

APPENDER = """
import sys
from pathlib import Path
from flareiac_state.local import LocalStore

store = LocalStore(Path(sys.argv[1]), environment={})
lease = store.lock("apply", timeout=60, on_wait=lambda _: None)
number = len(store.read_journal().records)
while True:
    together = range(number, number + 1 + number % 3)
    store.append_journal([b"record %d " % number + b"x" * (number * 37 % 3000) for number in together], lease)
    number = together.stop
    print(number, flush=True)
"""

WRITER = """
import sys
from pathlib import Path
from flareiac_state.local import LocalStore

store = LocalStore(Path(sys.argv[1]), environment={})
lease = store.lock("apply", timeout=60, on_wait=lambda _: None)
current = store.read_snapshot()
number = int(current.content.split()[0]) if current else 0
revision = current.revision if current else None
# One record stands for one step on top of the snapshot; the snapshot then counts it in.
number += len(store.read_journal().records)
while True:
    if len(store.read_journal().records) == 0:
        store.append_journal([b"step"], lease)
        number += 1
    revision = store.write_snapshot(b"%d " % number + b"y" * 20000, expect=revision, lease=lease)
    print(number, flush=True)
"""


def _killed_after(script: str, directory: Path, lines: int) -> int:
    """Runs the script until it acknowledged some lines, kills it, and returns the last acknowledged
    number.
    """
    with subprocess.Popen(
        [sys.executable, "-c", script, str(directory)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        acknowledged = [next(process.stdout) for _ in range(lines)]
        process.send_signal(signal.SIGKILL)
        acknowledged += [line for line in process.stdout if line.endswith("\n")]
    return int(acknowledged[-1])


def _store(directory: Path) -> LocalStore:
    return LocalStore(directory, environment={})


def test_every_acknowledged_record_outlives_a_kill(tmp_path: Path) -> None:
    for lines in (1, 17, 40):
        acknowledged = _killed_after(APPENDER, tmp_path, lines)
        records = _store(tmp_path).read_journal().records
        assert [int(record.split()[1]) for record in records] == list(range(len(records)))
        assert acknowledged <= len(records) <= acknowledged + 3


def test_a_step_counts_once_however_the_snapshot_was_interrupted(tmp_path: Path) -> None:
    for lines in (1, 8, 15, 23):
        acknowledged = _killed_after(WRITER, tmp_path, lines)
        store = _store(tmp_path)
        stored = store.read_snapshot()
        counted = int(stored.content.split()[0]) if stored else 0
        assert acknowledged <= counted + len(store.read_journal().records) <= acknowledged + 1
    lease = _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait)
    assert not list(tmp_path.rglob("*.tmp"))
    lease.release()


@pytest.mark.parametrize("leave", ["at the seal", "after the move"])
def test_a_snapshot_interrupted_around_its_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leave: str
) -> None:
    store = _store(tmp_path)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    first = store.write_snapshot(b"0", expect=None, lease=lease)
    store.append_journal([b"one"], lease)

    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "flareiac_state.local." + ("move_into_place" if leave == "at the seal" else "remove_file"), stop
    )
    with pytest.raises(KeyboardInterrupt):
        store.write_snapshot(b"1", expect=first, lease=lease)
    monkeypatch.undo()
    lease.release()

    again = _store(tmp_path)
    stored = again.read_snapshot()
    assert stored is not None
    expected = (b"0", (b"one",)) if leave == "at the seal" else (b"1", ())
    assert (stored.content, again.read_journal().records) == expected
    lease = again.lock("apply", timeout=0, on_wait=ignore_wait)
    again.append_journal([b"two"], lease)
    assert again.read_journal().records == (*expected[1], b"two")
    lease.release()


def test_appending_after_a_cut_record_goes_on_where_the_whole_ones_end(tmp_path: Path) -> None:
    store = _store(tmp_path)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    records = (b"one", b"two", b"three")
    store.append_journal(records[:1], lease)
    store.append_journal(records[1:], lease)
    lease.release()
    journal = tmp_path / "journal.jsonl"
    whole = journal.read_bytes()
    kept = set()
    for cut in range(1, len(whole)):
        journal.write_bytes(whole[:cut])
        again = _store(tmp_path)
        before = again.read_journal()
        assert before.records == records[: len(before.records)]
        kept.add(len(before.records))
        lease = again.lock("apply", timeout=0, on_wait=ignore_wait)
        again.append_journal([b"new", b"newer"], lease)
        assert again.read_journal().records == (*before.records, b"new", b"newer")
        assert not again.read_journal().torn
        lease.release()
    assert kept == {0, 1, 2}


def test_a_journal_of_another_snapshot_is_damage(tmp_path: Path) -> None:
    store = _store(tmp_path)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.write_snapshot(b"1", expect=None, lease=lease)
    store.append_journal([b"one"], lease)
    (tmp_path / "snapshot.json").write_bytes(b"edited by hand")
    with pytest.raises(Damaged, match=r"journal\.jsonl: its records do not come after"):
        store.read_journal()
    lease.release()


def test_a_lock_file_of_something_else_is_told_with_a_way_out(tmp_path: Path) -> None:
    for content in (b"", b"{", b"[]", b'{"info": 3}', b'{"info": {"id": "x"}}'):
        (tmp_path / "lock.json").write_bytes(content)
        for ask in (
            lambda: _store(tmp_path).lock("apply", timeout=0, on_wait=ignore_wait),
            lambda: _store(tmp_path).lock_info(),
        ):
            with pytest.raises(Failure) as told:
                ask()
            [found] = told.value.diagnostics
            assert "lock.json" in found.detail
            assert "delete this file" in found.detail


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "state"
    store = _store(directory)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    revision = store.write_snapshot(b"1", expect=None, lease=lease)
    store.write_snapshot(b"2", expect=revision, lease=lease)
    store.append_journal([b"one"], lease)
    lease.release()
    paths = [directory.parent, directory, *directory.rglob("*")]
    assert {path.name for path in paths} >= {
        "snapshot.json",
        "journal.jsonl",
        "lock.json",
        "lock.guard",
        "history",
    }
    for path in paths:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


class _FullDisk:
    """``os.write`` on a disk with room for so many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._write = os.write

    def __call__(self, handle: int, content: memoryview | bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._write(handle, content[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", [0, 1, 35, 40, 99])
def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    store = _store(tmp_path)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    revision = store.write_snapshot(b"1" * 100, expect=None, lease=lease)
    store.append_journal([b"one"], lease)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: store.append_journal([b"two" * 40], lease),
        lambda: store.append_journal([b"2", b"3" * 100], lease),
        lambda: store.write_snapshot(b"2" * 100, expect=revision, lease=lease),
        lambda: store.check_writable(lease),
    )
    for attempt in attempts:
        monkeypatch.setattr(os, "write", _FullDisk(room))
        with pytest.raises(OSError, match="No space"):
            attempt()
        monkeypatch.undo()
        stored = store.read_snapshot()
        assert stored is not None
        assert stored.content == b"1" * 100
        journal = store.read_journal()
        assert (journal.records, journal.torn) == ((b"one",), False)
        assert not list(tmp_path.rglob("*.tmp"))
    store.append_journal([b"three"], lease)
    assert store.read_journal().records == (b"one", b"three")
    store.write_snapshot(b"3", expect=revision, lease=lease)
    lease.release()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 256 KiB, where the tests may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    if (
        os.getuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "none", place], capture_output=True
        ).returncode
    ):
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_on_a_disk_that_is_really_full(tiny_disk: Path) -> None:
    store = _store(tiny_disk / "state")
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    revision = store.write_snapshot(b"1" * 1000, expect=None, lease=lease)
    acknowledged: list[int] = []

    def fill() -> None:
        for number in range(1000):
            store.append_journal([b"z" * 5000], lease)
            acknowledged.append(number)

    with pytest.raises(OSError, match="No space"):
        fill()
    assert len(acknowledged) > 3
    with pytest.raises(OSError, match="No space"):
        store.check_writable(lease)
    with pytest.raises(OSError, match="No space"):
        store.write_snapshot(b"2" * 50_000, expect=revision, lease=lease)
    journal = _store(tiny_disk / "state").read_journal()
    assert (len(journal.records), journal.torn) == (len(acknowledged), False)
    lease.release()
