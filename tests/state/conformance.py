"""What every state store promises; run by a test class per backend that says how to open one."""

import threading
from abc import ABC, abstractmethod

import pytest

from flareiac.sdk.state import Conflict, Journal, LockHeld, LockInfo, LockLost, StateStore


def ignore_wait(_holder: LockInfo) -> None:
    """For takers that do not tell anybody that they wait."""


class StateStoreConformance(ABC):
    @pytest.fixture
    @abstractmethod
    def store(self) -> StateStore:
        """A store of a workspace that holds nothing yet."""

    @abstractmethod
    def reopened(self, store: StateStore) -> StateStore:
        """The same place, as another process would open it."""

    @abstractmethod
    def let_expire(self, store: StateStore) -> None:
        """Makes the held lease look like one whose owner fell silent for too long."""

    def test_holds_nothing_at_first(self, store: StateStore) -> None:
        assert store.read_snapshot() is None
        assert store.read_journal() == Journal(records=())
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
            store.append_journal(record, lease)
        lease.release()
        again = self.reopened(store)
        assert again.read_journal() == Journal(records=records)
        lease = again.lock("apply", timeout=0, on_wait=ignore_wait)
        again.append_journal(b"later", lease)
        lease.release()
        assert store.read_journal() == Journal(records=(*records, b"later"))

    def test_a_snapshot_empties_the_journal(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        store.append_journal(b"one", lease)
        revision = store.write_snapshot(b"1", expect=None, lease=lease)
        assert store.read_journal().records == ()
        store.append_journal(b"two", lease)
        assert store.read_journal().records == (b"two",)
        store.write_snapshot(b"1", expect=revision, lease=lease)
        assert self.reopened(store).read_journal().records == ()
        lease.release()

    def test_a_refused_snapshot_leaves_the_journal(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        store.append_journal(b"one", lease)
        with pytest.raises(Conflict):
            store.write_snapshot(b"1", expect="no such revision", lease=lease)
        assert store.read_journal().records == (b"one",)
        lease.release()

    def test_keeps_earlier_snapshots_newest_first(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        revision: str | None = None
        lengths = []
        for number in range(25):
            revision = store.write_snapshot(b"%d" % number, expect=revision, lease=lease)
            lengths.append(len(store.history()))
        assert lengths[:4] == [0, 1, 2, 3]
        assert lengths[-1] == 20
        names = store.history()
        store.write_snapshot(b"last", expect=revision, lease=lease)
        assert list(store.history())[1:] == list(names)[:-1]
        lease.release()

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
        store.append_journal(b"one", first)
        self.let_expire(store)
        first.check()
        other = self.reopened(store)
        second = other.lock("apply", timeout=0, on_wait=ignore_wait)
        assert second.took_over is not None
        assert second.took_over.id == first.info.id
        assert second.info.epoch > first.info.epoch
        with pytest.raises(LockLost):
            first.check()
        with pytest.raises(LockLost):
            store.append_journal(b"late", first)
        with pytest.raises(LockLost):
            store.write_snapshot(b"late", expect=revision, lease=first)
        with pytest.raises(LockLost):
            store.check_writable(first)
        first.release()
        second.check()
        other.append_journal(b"two", second)
        assert other.read_journal().records == (b"one", b"two")
        second.release()

    def test_a_released_lease_writes_nothing(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        lease.check()
        lease.release()
        lease.release()
        with pytest.raises(LockLost):
            lease.check()
        with pytest.raises(LockLost):
            store.append_journal(b"late", lease)
        assert store.read_journal().records == ()

    def test_proving_that_it_can_write_changes_nothing(self, store: StateStore) -> None:
        lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
        store.check_writable(lease)
        assert store.read_snapshot() is None
        revision = store.write_snapshot(b"1", expect=None, lease=lease)
        store.append_journal(b"one", lease)
        store.check_writable(lease)
        stored = store.read_snapshot()
        assert stored is not None
        assert stored.revision == revision
        assert store.read_journal().records == (b"one",)
        assert list(store.history()) == []
        lease.release()
