"""The promises of every state store; run by a test class per backend that says how to open one."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.state import (
    Conflict,
    Journal,
    LockHeld,
    LockInfo,
    LockLost,
    Moment,
    StateBackend,
    StateStore,
)


def ignore_wait(_holder: LockInfo) -> None:
    """For takers that do not tell anybody that they wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """A backend and what it is opened with: a place that holds nothing yet."""

    backend: StateBackend
    settings: Attributes = field(default_factory=dict)
    root: str = "."
    environment: Mapping[str, str] = field(default_factory=lambda: {"USER": "tester"})

    def open(self, workspace: str = "default") -> StateStore:
        return self.backend.open(
            self.settings, root=self.root, workspace=workspace, environment=self.environment
        )

    def workspaces(self) -> list[str]:
        return list(self.backend.workspaces(self.settings, root=self.root, environment=self.environment))

    def delete(self, workspace: str) -> None:
        self.backend.delete_workspace(
            self.settings, root=self.root, workspace=workspace, environment=self.environment
        )

    def prove(self) -> None:
        self.backend.prove(self.settings, root=self.root, environment=self.environment)


class StateStoreConformance(ABC):
    @pytest.fixture
    @abstractmethod
    def place(self, tmp_path: Path) -> Opener:
        """A place that holds nothing yet."""

    @pytest.fixture
    def store(self, place: Opener) -> StateStore:
        place.prove()
        self.place_of_store = place
        return place.open()

    def reopened(self, store: StateStore) -> StateStore:
        """The same place, as another process would open it."""
        return self.place_of_store.open()

    @abstractmethod
    def let_expire(self, store: StateStore) -> None:
        """Makes the held lease look like one whose owner fell silent for too long."""

    def let_time_pass(self) -> None:  # noqa: B027 - most stores ask each time
        """Makes a holder ask whether it still holds the lock."""

    def test_holds_nothing_at_first(self, store: StateStore) -> None:
        assert store.read_snapshot() is None
        assert store.read_journal() == Journal(records=())
        assert store.read() == Moment(snapshot=None, journal=Journal(records=()))
        assert store.lock_info() is None
        assert list(store.history()) == []
        assert store.describe()

    def test_reads_back_the_bytes_it_was_given(self, store: StateStore) -> None:
        content = bytes(range(256)) * 3
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        revision = store.write_snapshot(content, expect=None, lease=lease)
        lease.release()
        stored = self.reopened(store).read_snapshot()
        assert stored is not None
        assert (stored.content, stored.revision) == (content, revision)
        assert self.reopened(store).read() == Moment(snapshot=stored, journal=Journal(records=()))

    def test_refuses_a_write_that_names_another_revision(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        first = store.write_snapshot(b"1", expect=None, lease=lease)
        second = store.write_snapshot(b"2", expect=first, lease=lease)
        for stale in (None, first, "no such revision"):
            with pytest.raises(Conflict):
                store.write_snapshot(b"3", expect=stale, lease=lease)
        stored = store.read_snapshot()
        assert stored is not None
        assert (stored.content, stored.revision) == (b"2", second)
        lease.release()

    def test_appends_records_in_order(self, store: StateStore) -> None:
        records = (b"one", b"", b"with\nbreaks\n", bytes(range(256)))
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        for record in records:
            store.append_journal([record], lease)
        store.append_journal(records, lease)
        lease.release()
        again = self.reopened(store)
        assert again.read_journal() == Journal(records=records * 2)
        lease = again.lock("apply", timeout=0, on_wait=ignore_wait)
        again.append_journal([], lease)
        assert again.read_journal() == Journal(records=records * 2)
        again.append_journal([b"later", *records], lease)
        lease.release()
        assert store.read_journal() == Journal(records=(*records, *records, b"later", *records))

    def test_a_snapshot_empties_the_journal(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        store.append_journal([b"one"], lease)
        revision = store.write_snapshot(b"1", expect=None, lease=lease)
        assert store.read_journal().records == ()
        store.append_journal([b"two"], lease)
        assert store.read_journal().records == (b"two",)
        store.write_snapshot(b"1", expect=revision, lease=lease)
        assert self.reopened(store).read_journal().records == ()
        lease.release()

    def test_a_refused_snapshot_leaves_the_journal(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        store.append_journal([b"one"], lease)
        with pytest.raises(Conflict):
            store.write_snapshot(b"1", expect="no such revision", lease=lease)
        assert store.read_journal().records == (b"one",)
        lease.release()

    def test_replaces_whatever_is_there(self, store: StateStore) -> None:
        lease = store.lock("state rollback", timeout=0, on_wait=ignore_wait)
        store.replace_damaged(b"1", lease)
        store.append_journal([b"one"], lease)
        store.replace_damaged(b"2", lease)
        moment = self.reopened(store).read()
        assert moment.snapshot is not None
        assert (moment.snapshot.content, moment.journal.records) == (b"2", ())
        assert [store.read_history(item.name) for item in store.history()] == [b"1"]
        store.append_journal([b"two"], lease)
        assert store.read_journal().records == (b"two",)
        lease.release()
        with pytest.raises(LockLost):
            store.replace_damaged(b"3", lease)

    def test_keeps_earlier_snapshots_newest_first(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        revision: str | None = None
        lengths = []
        for number in range(25):
            revision = store.write_snapshot(b"%d" % number, expect=revision, lease=lease)
            lengths.append(len(store.history()))
        assert lengths[:4] == [0, 1, 2, 3]
        assert lengths[-1] == 20
        kept = store.history()
        assert [store.read_history(item.name) for item in kept] == [
            b"%d" % number for number in range(23, 3, -1)
        ]
        # An encrypted one takes more room than what is read of it.
        assert all(item.size >= len(store.read_history(item.name)) for item in kept)
        assert [item.written for item in kept] == sorted((item.written for item in kept), reverse=True)
        store.write_snapshot(b"last", expect=revision, lease=lease)
        lease.release()
        again = self.reopened(store)
        assert [item.name for item in again.history()][1:] == [item.name for item in kept][:-1]
        assert again.read_history(again.history()[0].name) == b"24"
        for gone in (kept[-1].name, "", "..", "no such name"):
            with pytest.raises(KeyError):
                again.read_history(gone)

    def test_a_second_taker_is_told_who_holds_the_lock(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        info = store.lock_info()
        assert info is not None
        assert (info.id, info.operation) == (lease.info.id, "apply")
        with pytest.raises(LockHeld) as held:
            self.reopened(store).lock("destroy", timeout=0, on_wait=ignore_wait)
        assert held.value.info.id == lease.info.id
        lease.release()
        assert store.lock_info() is None

    def test_waits_for_the_lock_and_says_so_once(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        waited: list[str] = []

        def on_wait(holder: LockInfo) -> None:
            waited.append(holder.id)
            threading.Thread(target=lease.release).start()

        second = self.reopened(store).lock("destroy", timeout=60, on_wait=on_wait)
        assert waited == [lease.info.id]
        assert second.took_over is None
        assert second.info.epoch > lease.info.epoch
        second.release()

    def test_an_expired_lease_is_taken_over_and_fenced_out(self, store: StateStore) -> None:
        first = store.lock("apply", timeout=0, on_wait=ignore_wait)
        revision = store.write_snapshot(b"1", expect=None, lease=first)
        store.append_journal([b"one"], first)
        self.let_expire(store)
        first.check()
        other = self.reopened(store)
        second = other.lock("apply", timeout=0, on_wait=ignore_wait)
        assert second.took_over is not None
        assert second.took_over.id == first.info.id
        assert second.info.epoch > first.info.epoch
        self.let_time_pass()
        with pytest.raises(LockLost):
            first.check()
        with pytest.raises(LockLost):
            store.append_journal([b"late"], first)
        with pytest.raises(LockLost):
            store.write_snapshot(b"late", expect=revision, lease=first)
        with pytest.raises(LockLost):
            store.check_writable(first)
        first.release()
        second.check()
        other.append_journal([b"two"], second)
        assert other.read_journal().records == (b"one", b"two")
        second.release()

    def test_a_released_lease_writes_nothing(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        lease.check()
        lease.release()
        lease.release()
        with pytest.raises(LockLost):
            lease.check()
        for late in ([b"late"], [b"late", b"later"], []):
            with pytest.raises(LockLost):
                store.append_journal(late, lease)
        assert store.read_journal().records == ()

    def test_proving_that_it_can_write_changes_nothing(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        store.check_writable(lease)
        assert store.read_snapshot() is None
        revision = store.write_snapshot(b"1", expect=None, lease=lease)
        store.append_journal([b"one"], lease)
        store.check_writable(lease)
        stored = store.read_snapshot()
        assert stored is not None
        assert stored.revision == revision
        assert store.read_journal().records == (b"one",)
        assert list(store.history()) == []
        lease.release()

    def test_a_lock_is_released_by_force_and_its_holder_writes_no_more(self, store: StateStore) -> None:
        other = self.reopened(store)
        with pytest.raises(KeyError):
            other.release_lock("none is held")
        first = store.lock("apply", timeout=0, on_wait=ignore_wait)
        store.append_journal([b"one"], first)
        with pytest.raises(LockHeld) as held:
            other.release_lock("another id")
        assert held.value.info.id == first.info.id
        assert other.release_lock(first.info.id).id == first.info.id
        assert other.lock_info() is None
        with pytest.raises(KeyError):
            other.release_lock(first.info.id)
        with pytest.raises(LockLost):
            store.append_journal([b"late"], first)
        with pytest.raises(LockLost):
            store.write_snapshot(b"late", expect=None, lease=first)
        with pytest.raises(LockLost):
            first.check()
        first.release()
        second = other.lock("apply", timeout=0, on_wait=ignore_wait)
        assert second.took_over is None
        assert second.info.epoch > first.info.epoch
        other.append_journal([b"two"], second)
        second.release()
        assert store.read_journal().records == (b"one", b"two")

    def test_readers_see_one_moment_while_snapshots_are_written(self, store: StateStore) -> None:
        """Each journal names the snapshot that it comes after."""
        reader = self.reopened(store)
        is_over = threading.Event()
        problems: list[BaseException] = []

        def write() -> None:
            try:
                lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
                revision = store.write_snapshot(b"0", expect=None, lease=lease)
                for number in range(12):
                    for count in (1, 3):
                        store.append_journal([b"%d" % number] * count, lease)
                    revision = store.write_snapshot(b"%d" % (number + 1), expect=revision, lease=lease)
                lease.release()
            except BaseException as problem:
                problems.append(problem)
                raise
            finally:
                is_over.set()

        writer = threading.Thread(target=write)
        writer.start()
        while not is_over.is_set():
            moment = reader.read()
            if moment.snapshot is not None:
                assert {moment.snapshot.content} >= set(moment.journal.records)
        writer.join()
        assert problems == []
        last = reader.read()
        assert last.snapshot is not None
        assert (last.snapshot.content, last.journal.records) == (b"12", ())

    def test_workspaces_are_separate_and_those_with_a_state_are_listed(self, place: Opener) -> None:
        place.prove()
        assert place.workspaces() == []
        for name in ("prod", "dev", "a.b-c_D", "only-locked"):
            lease = place.open(name).lock("apply", timeout=0, on_wait=ignore_wait)
            if name != "only-locked":
                place.open(name).write_snapshot(name.encode(), expect=None, lease=lease)
            lease.release()
        lease = place.open("journal").lock("apply", timeout=0, on_wait=ignore_wait)
        place.open("journal").append_journal([b"one"], lease)
        assert place.workspaces() == ["a.b-c_D", "dev", "journal", "prod"]
        lease.release()
        stored = place.open("dev").read_snapshot()
        assert stored is not None
        assert stored.content == b"dev"
        for invalid in ("", ".", "..", ".hidden", "a/b", "a" * 91, "ä", "a b"):
            with pytest.raises(Failure):
                place.open(invalid)

    def test_a_deleted_workspace_holds_nothing_and_may_be_used_again(self, place: Opener) -> None:
        place.prove()
        place.delete("never-was")
        store = place.open("dev")
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        revision = store.write_snapshot(b"1", expect=None, lease=lease)
        store.write_snapshot(b"2", expect=revision, lease=lease)
        store.append_journal([b"one"], lease)
        with pytest.raises(LockHeld):
            place.delete("dev")
        lease.release()
        place.open("kept").lock("apply", timeout=0, on_wait=ignore_wait).release()
        place.delete("dev")
        assert place.workspaces() == []
        again = place.open("dev")
        assert again.read() == Moment(snapshot=None, journal=Journal(records=()))
        assert list(again.history()) == []
        assert again.lock_info() is None
        lease = again.lock("apply", timeout=0, on_wait=ignore_wait)
        again.write_snapshot(b"new", expect=None, lease=lease)
        lease.release()
        assert list(place.open("dev").history()) == []
        assert place.workspaces() == ["dev"]

    def test_proving_the_place_again_changes_nothing(self, place: Opener) -> None:
        place.prove()
        lease = place.open().lock("apply", timeout=0, on_wait=ignore_wait)
        place.open().append_journal([b"one"], lease)
        place.prove()
        place.open().append_journal([b"two"], lease)
        lease.release()
        assert place.open().read_journal().records == (b"one", b"two")
        assert place.workspaces() == ["default"]
