"""A state store in memory: small enough to be believed, and held to the same suite as the real ones."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flareiac.kernel.data import Attributes
from flareiac.sdk.state import (
    BackendSetting,
    Conflict,
    Journal,
    Kept,
    Lease,
    LockHeld,
    LockInfo,
    LockLost,
    Moment,
    Stored,
)
from flareiac_state.settings import checked_workspace


@dataclass(slots=True)
class Place:
    """The place that several stores share when they stand for several processes."""

    snapshots: list[bytes] = field(default_factory=list)
    journal: list[bytes] = field(default_factory=list)
    holder: LockInfo | None = None
    epoch: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)


class MemoryLease:
    def __init__(self, place: Place, info: LockInfo, took_over: LockInfo | None) -> None:
        self.info, self.took_over, self._place = info, took_over, place

    def check(self) -> None:
        holder = self._place.holder
        if holder is None or holder.epoch != self.info.epoch:
            raise LockLost(f"epoch {self.info.epoch} is over")

    def release(self) -> None:
        with self._place.changed:
            if self._place.holder is not None and self._place.holder.epoch == self.info.epoch:
                self._place.holder = None
                self._place.changed.notify_all()


class MemoryStore:
    def __init__(self, place: Place | None = None) -> None:
        self.place = place or Place()

    def describe(self) -> str:
        return "memory"

    def read(self) -> Moment:
        with self.place.changed:
            return Moment(snapshot=self.read_snapshot(), journal=self.read_journal())

    def read_snapshot(self) -> Stored | None:
        kept = self.place.snapshots
        return Stored(content=kept[-1], revision=str(len(kept))) if kept else None

    def write_snapshot(self, content: bytes, *, expect: str | None, lease: Lease) -> str:
        lease.check()
        current = self.read_snapshot()
        if (current.revision if current else None) != expect:
            raise Conflict("written by someone else")
        with self.place.changed:
            self.place.snapshots.append(content)
            self.place.journal.clear()
        return str(len(self.place.snapshots))

    def replace_damaged(self, content: bytes, lease: Lease) -> None:
        current = self.read_snapshot()
        self.write_snapshot(content, expect=current.revision if current else None, lease=lease)

    def read_journal(self) -> Journal:
        return Journal(records=tuple(self.place.journal))

    def append_journal(self, records: Sequence[bytes], lease: Lease) -> None:
        lease.check()
        self.place.journal += records

    def check_writable(self, lease: Lease) -> None:
        lease.check()

    def lock(self, operation: str, *, timeout: float, on_wait: Callable[[LockInfo], None]) -> MemoryLease:
        deadline, told = time.monotonic() + timeout, False
        while True:
            with self.place.changed:
                holder = self.place.holder
                if holder is None or holder.expires <= time.time():
                    return self._take(operation, holder)
            if time.monotonic() >= deadline:
                raise LockHeld(holder)
            if not told:
                on_wait(holder)
                told = True
            with self.place.changed:
                self.place.changed.wait_for(lambda: self.place.holder is None, timeout=1)

    def lock_info(self) -> LockInfo | None:
        return self.place.holder

    def release_lock(self, lock_id: str) -> LockInfo:
        with self.place.changed:
            holder = self.place.holder
            if holder is None:
                raise KeyError(lock_id)
            if holder.id != lock_id:
                raise LockHeld(holder)
            self.place.holder = None
            self.place.changed.notify_all()
        return holder

    def history(self) -> Sequence[Kept]:
        earlier = list(enumerate(self.place.snapshots[:-1]))[-20:]
        return [Kept(name=str(number), written=0.0, size=len(kept)) for number, kept in reversed(earlier)]

    def read_history(self, name: str) -> bytes:
        if name not in {kept.name for kept in self.history()}:
            raise KeyError(name)
        return self.place.snapshots[int(name)]

    def expire(self) -> None:
        assert self.place.holder is not None
        self.place.holder = replace(self.place.holder, expires=0.0)

    def _take(self, operation: str, holder: LockInfo | None) -> MemoryLease:
        self.place.epoch += 1
        now = time.time()
        self.place.holder = LockInfo(
            id=f"lock-{self.place.epoch}",
            owner="tester",
            host="memory",
            pid=0,
            process_started=0.0,
            job="",
            operation=operation,
            created=now,
            expires=now + 3600,
            epoch=self.place.epoch,
        )
        return MemoryLease(self.place, self.place.holder, holder)


class MemoryBackend:
    """Workspaces in the memory of this process."""

    name = "memory"
    settings: tuple[BackendSetting, ...] = ()

    def __init__(self) -> None:
        self.places: defaultdict[str, Place] = defaultdict(Place)

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> MemoryStore:
        return MemoryStore(self.places[checked_workspace(workspace)])

    def workspaces(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> Sequence[str]:
        return sorted(name for name, place in self.places.items() if place.snapshots or place.journal)

    def delete_workspace(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> None:
        store = MemoryStore(self.places[workspace])
        lease = store.lock("workspace delete", timeout=0, on_wait=lambda _holder: None)
        store.place.snapshots.clear()
        store.place.journal.clear()
        lease.release()

    def prove(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> None:
        return
