"""The local backend: one directory per workspace, ``.flareiac/state/WORKSPACE``, readable by its owner only.

``snapshot.json`` and ``journal.jsonl`` are the state, ``history/`` the snapshots before, ``lock.json`` and
``lock.guard`` the lock. The journal names the snapshot that its records come after, so that a crash between
putting a snapshot in place and emptying the journal is recognised.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.durable_files import (
    append_at,
    make_directory,
    move_into_place,
    remove_file,
    replace_file,
    sync_directory,
    write_beside,
)
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import (
    WITHOUT_JOURNAL,
    BackendSetting,
    Conflict,
    Damaged,
    Journal,
    Kept,
    Lease,
    LockHeld,
    LockInfo,
    LockLost,
    Moment,
    Stored,
)
from flareiac_state.journal_frames import Frame, FrameKind, Frames, decode_frames, encode_frames
from flareiac_state.lease import LeaseTaker, LocalLease, Terms
from flareiac_state.lock_file import SYSTEM_CLOCK, Clock, LockFile
from flareiac_state.settings import checked_workspace

HISTORY_KEPT = 20
_KEPT = "????????-*.json"
_PROBE_SIZE = 256 * 1024
_READS = 10


class LocalBackend:
    """Keeps each workspace's state in a directory of the project."""

    name = "local"
    settings: tuple[BackendSetting, ...] = ()

    def location(self, settings: Attributes, *, environment: Mapping[str, str]) -> str:
        """Each checkout has its own."""
        del settings, environment
        return ""

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> "LocalStore":
        """The store of one workspace; touches nothing yet. Raises ``Failure`` for settings it does not take
        and names it cannot keep.
        """
        directory = _states(settings, root) / checked_workspace(workspace)
        return LocalStore(directory, environment=environment)

    def workspaces(
        self,
        settings: Attributes,
        *,
        root: str,
        environment: Mapping[str, str],  # noqa: ARG002 - of the protocol
    ) -> Sequence[str]:
        return tuple(sorted(path.name for path in _visible(_states(settings, root)) if _holds_state(path)))

    def delete_workspace(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> None:
        """One rename makes it gone; what a kill leaves of it afterwards is removed by the next deletion."""
        states = _states(settings, root)
        directory = states / checked_workspace(workspace)
        for left_over in states.glob(".*.deleted"):
            shutil.rmtree(left_over)
        if not directory.is_dir():
            return
        lease = LocalStore(directory, environment=environment).lock(
            "workspace delete", timeout=0, on_wait=lambda _holder: None
        )
        gone = states / f".{workspace}.deleted"
        try:
            with lease.fenced():
                directory.rename(gone)
                sync_directory(states)
        finally:
            lease.release()
        shutil.rmtree(gone)

    def prove(
        self,
        settings: Attributes,
        *,
        root: str,
        environment: Mapping[str, str],  # noqa: ARG002 - of the protocol
    ) -> None:
        states = _states(settings, root)
        make_directory(states)
        write_beside(states / "probe", b"\0").unlink()


def _states(settings: Attributes, root: str) -> Path:
    """The directory that holds those of the workspaces. Raises ``Failure`` for any setting."""
    unknown = sorted(name for name, value in settings.items() if value is not None)
    if unknown:
        detail = (
            f'The state backend "local" takes no settings; remove "{unknown[0]}". The state is '
            "kept in .flareiac/state."
        )
        raise Failure(error(codes.UNKNOWN_BACKEND_SETTING, detail))
    return Path(root) / ".flareiac" / "state"


def _visible(states: Path) -> Iterator[Path]:
    return (path for path in states.glob("*") if not path.name.startswith("."))


def _holds_state(directory: Path) -> bool:
    kept = (directory / "snapshot.json", directory / "journal.jsonl", *(directory / "history").glob(_KEPT))
    return any(path.exists() for path in kept)


@dataclass(slots=True)
class _JournalEnd:
    """The end of the journal, and the lease for which it is known: kept between appends of one lease, so that
    appending costs the same at any length.
    """

    epoch: int
    lock_id: str
    offset: int
    chain: int


class LocalStore:
    """One workspace's state in one directory (see ``flareiac.sdk.state.StateStore``)."""

    def __init__(
        self,
        directory: Path,
        *,
        environment: Mapping[str, str],
        clock: Clock = SYSTEM_CLOCK,
        terms: Terms | None = None,
    ) -> None:
        self._directory = directory
        self._snapshot = directory / "snapshot.json"
        self._journal = directory / "journal.jsonl"
        self._history = directory / "history"
        self._lock_file = LockFile(directory)
        self._clock = clock
        self._taker = LeaseTaker(
            file=self._lock_file, clock=clock, terms=terms or Terms(), environment=environment
        )
        self._end: _JournalEnd | None = None

    def describe(self) -> str:
        return f"local directory {self._directory}"

    def read(self) -> Moment:
        """An apply that ends between the reads replaces the snapshot and empties the journal."""
        snapshot = self.read_snapshot()
        for _ in range(_READS):
            journal, again = self.read_journal(), self.read_snapshot()
            if (again.revision if again else None) == (snapshot.revision if snapshot else None):
                break
            snapshot = again
        return Moment(snapshot=snapshot, journal=journal)

    def read_snapshot(self) -> Stored | None:
        """Raises ``Damaged`` where it is gone: earlier ones are kept beside one alone."""
        current = self._current()
        if current is None and self._kept():
            raise Damaged(str(self._snapshot), "it is gone, and the states before it are here")
        return current

    def _current(self) -> Stored | None:
        content = _read(self._snapshot)
        return None if content is None else Stored(content=content, revision=_revision(content))

    def write_snapshot(self, content: bytes, *, expect: str | None, lease: Lease) -> str:
        held = _own(lease)
        with held.fenced():
            current = self._current()
            if (current.revision if current else None) != expect:
                raise Conflict(f"{self._snapshot} was written by someone else since it was read")
            self._put(content, current, held)
        return _revision(content)

    def replace_damaged(self, content: bytes, lease: Lease) -> None:
        held = _own(lease)
        with held.fenced():
            temporary = write_beside(self._snapshot, content)
            current = self._current()
            if current is not None:
                self._keep(current)
            self._end = None
            # A journal that a crash leaves does not come after this snapshot, so that readers refuse both.
            move_into_place(temporary, self._snapshot)
            reach("state.replaced-damaged")
            with suppress(FileNotFoundError):
                move_into_place(self._journal, self._directory / "journal.damaged")

    def read_journal(self) -> Journal:
        with self._undisturbed():
            frames = self._valid_frames()
        records = tuple(frame.payload for frame in frames.items if frame.kind is FrameKind.RECORD)
        return Journal(records=records, torn=frames.torn)

    def append_journal(self, records: Sequence[bytes], lease: Lease) -> None:
        held = _own(lease)
        with held.fenced():
            if records:
                self._append(FrameKind.RECORD, records, held.info)

    def check_writable(self, lease: Lease) -> None:
        held = _own(lease)
        with held.fenced():
            current = self._current()
            size = _PROBE_SIZE + (2 * len(current.content) if current else 0)
            write_beside(self._directory / "probe", bytes(size)).unlink()
            if self._journal.exists():
                os.close(os.open(self._journal, os.O_WRONLY | os.O_CLOEXEC))
            make_directory(self._history)
            write_beside(self._history / "probe", b"\0").unlink()

    def lock(self, operation: str, *, timeout: float, on_wait: Callable[[LockInfo], None]) -> LocalLease:
        make_directory(self._directory)
        with _damaged_lock_told():
            lease = self._taker.take(operation, timeout=timeout, on_wait=on_wait)
        with suppress(OSError), lease.fenced():
            self._sweep()
        return lease

    def lock_info(self) -> LockInfo | None:
        with _damaged_lock_told():
            record = self._lock_file.read()
        if record is None or record.is_over(self._clock):
            return None
        return record.seen(self._clock)

    def release_lock(self, lock_id: str) -> LockInfo:
        if not self._directory.is_dir():
            raise KeyError(lock_id)
        with _damaged_lock_told(), self._lock_file.guarded():
            record = self._lock_file.read()
            if record is None or not record.held:
                raise KeyError(lock_id)
            if record.info.id != lock_id:
                raise LockHeld(record.info)
            self._lock_file.write(replace(record, held=False))
        return record.info

    def history(self) -> Sequence[Kept]:
        return tuple(_kept(path) for path in reversed(self._kept()))

    def read_history(self, name: str) -> bytes:
        if name not in {path.name for path in self._kept()}:
            raise KeyError(name)
        return (self._history / name).read_bytes()

    def _sweep(self) -> None:
        """Removes unfinished files of writers that were killed (inside the fence no one is writing)."""
        for folder in (self._directory, self._history):
            for path in folder.glob("*.tmp"):
                path.unlink(missing_ok=True)

    def _put(self, content: bytes, current: Stored | None, lease: LocalLease) -> None:
        revision = _revision(content)
        temporary = write_beside(self._snapshot, content)
        try:
            if current is not None:
                self._keep(current)
            if self._journal.exists():
                self._append(FrameKind.SEALED, [revision.encode()], lease.info)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        move_into_place(temporary, self._snapshot)
        self._end = None
        remove_file(self._journal)

    def _append(self, kind: FrameKind, payloads: Sequence[bytes], holder: LockInfo) -> None:
        end = self._journal_end(holder)
        frames = [Frame(kind=kind, payload=payload, epoch=holder.epoch) for payload in payloads]
        if end.offset == 0:
            current = self._current()
            revision = current.revision if current else ""
            frames.insert(0, Frame(kind=FrameKind.BASE, payload=revision.encode(), epoch=holder.epoch))
        content, chain = encode_frames(frames, end.chain)
        append_at(self._journal, end.offset, content)
        end.offset, end.chain = end.offset + len(content), chain

    def _journal_end(self, holder: LockInfo) -> _JournalEnd:
        if self._end is None or (self._end.epoch, self._end.lock_id) != (holder.epoch, holder.id):
            frames = self._valid_frames()
            self._end = _JournalEnd(
                epoch=holder.epoch, lock_id=holder.id, offset=frames.end, chain=frames.chain
            )
        return self._end

    def _valid_frames(self) -> Frames:
        """The frames that come after the snapshot in place; none when that snapshot already holds them.
        Raises ``Damaged``.
        """
        where = str(self._journal)
        try:
            frames = decode_frames(_read(self._journal) or b"", where)
        except Damaged as problem:
            raise Damaged(where, problem.why, WITHOUT_JOURNAL) from problem
        if not frames.items:
            return frames
        first, last = frames.items[0], frames.items[-1]
        if first.kind is not FrameKind.BASE:
            raise Damaged(where, "its beginning is missing", WITHOUT_JOURNAL)
        current = self._current()
        revision = (current.revision if current else "").encode()
        if first.payload == revision:
            return frames
        if last.kind is FrameKind.SEALED and last.payload == revision:
            return Frames(items=(), end=0, torn=False)
        if current is None:
            raise Damaged(
                str(self._snapshot), "it is gone, and the journal of what was done after it is here"
            )
        raise Damaged(
            where,
            f"its records do not come after the content of {self._snapshot.name}: one of the two files was "
            "changed or replaced",
            WITHOUT_JOURNAL,
        )

    def _keep(self, current: Stored) -> None:
        make_directory(self._history)
        kept = self._kept()
        short = current.revision[:12]
        if not kept or not kept[-1].name.endswith(f"-{short}.json"):
            number = 1 + (int(kept[-1].name.split("-")[0]) if kept else 0)
            _link(self._snapshot, self._history / f"{number:08d}-{short}.json")
            sync_directory(self._history)
        for path in self._kept()[:-HISTORY_KEPT]:
            path.unlink()

    def _kept(self) -> list[Path]:
        """History files, oldest first."""
        return sorted(self._history.glob(_KEPT))

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Keeps writers out while the body reads, where there can be any."""
        if not self._directory.is_dir() or not os.access(self._directory, os.W_OK):
            yield
            return
        with self._lock_file.guarded(shared=True):
            yield


@contextmanager
def _damaged_lock_told() -> Iterator[None]:
    """Raises ``Failure``: the lock is the backend's own, so no one above can say what to do about it."""
    try:
        yield
    except Damaged as problem:
        detail = (
            f"{problem.where}: {problem.why}. Nothing was changed. When no other command is running, "
            "delete this file."
        )
        raise Failure(error(codes.STATE_LOCK_UNREADABLE, detail)) from problem


def _kept(path: Path) -> Kept:
    status = path.stat()
    return Kept(name=path.name, written=status.st_mtime, size=status.st_size)


def _own(lease: Lease) -> LocalLease:
    if not isinstance(lease, LocalLease):
        raise LockLost("the lease was not taken from this store")
    return lease


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _revision(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _link(source: Path, target: Path) -> None:
    """The same bytes under a second name; a copy where the file system has no such names."""
    try:
        target.hardlink_to(source)
    except FileExistsError:
        return
    except OSError:
        replace_file(target, source.read_bytes())
