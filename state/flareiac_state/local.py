"""The local backend: one directory per workspace, ``.flareiac/state/WORKSPACE``, readable by its owner only.

``snapshot.json`` and ``journal.jsonl`` are the state, ``history/`` the snapshots before, ``lock.json`` and
``lock.guard`` the lock. The journal names the snapshot that its records come after, so that a crash between
putting a snapshot in place and emptying the journal is recognised.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
from flareiac.sdk.state import Conflict, Damaged, Journal, Lease, LockInfo, LockLost, Stored
from flareiac_state.journal_frames import Frame, FrameKind, Frames, decode_frames, encode_frame
from flareiac_state.lease import LeaseTaker, LocalLease, Terms
from flareiac_state.lock_file import SYSTEM_CLOCK, Clock, LockFile

HISTORY_KEPT = 20
_WORKSPACE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,89}")
_PROBE_SIZE = 256 * 1024


class LocalBackend:
    """Keeps each workspace's state in a directory of the project."""

    name = "local"

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> "LocalStore":
        """The store of one workspace; touches nothing yet. Raises ``Failure`` for settings it does not take
        and names it cannot keep.
        """
        unknown = sorted(name for name, value in settings.items() if value is not None)
        if unknown:
            detail = (
                f'The state backend "local" takes no settings; remove "{unknown[0]}". The state is '
                "kept in .flareiac/state."
            )
            raise Failure(error(codes.UNKNOWN_BACKEND_SETTING, detail))
        if not _WORKSPACE.fullmatch(workspace):
            detail = (
                f"{workspace!r} cannot be kept as a directory. Use letters, digits, and the "
                "characters - _ . (at most 90, no leading dot)."
            )
            raise Failure(error(codes.INVALID_WORKSPACE, detail))
        return LocalStore(Path(root) / ".flareiac" / "state" / workspace, environment=environment)


@dataclass(slots=True)
class _JournalEnd:
    """Where the journal ends, and for whom: kept between appends of one lease, so that appending costs the
    same at any length.
    """

    epoch: int
    lock_id: str
    offset: int


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

    def read_snapshot(self) -> Stored | None:
        content = _read(self._snapshot)
        return None if content is None else Stored(content=content, revision=_revision(content))

    def write_snapshot(self, content: bytes, *, expect: str | None, lease: Lease) -> str:
        held = _own(lease)
        with held.fenced():
            current = self.read_snapshot()
            if (current.revision if current else None) != expect:
                raise Conflict(f"{self._snapshot} was written by someone else since it was read")
            self._put(content, current, held)
        return _revision(content)

    def read_journal(self) -> Journal:
        with self._undisturbed():
            frames = self._valid_frames()
        records = tuple(frame.payload for frame in frames.items if frame.kind is FrameKind.RECORD)
        return Journal(records=records, torn=frames.torn)

    def append_journal(self, record: bytes, lease: Lease) -> None:
        held = _own(lease)
        with held.fenced():
            self._append(FrameKind.RECORD, record, held.info)

    def check_writable(self, lease: Lease) -> None:
        held = _own(lease)
        with held.fenced():
            current = self.read_snapshot()
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
        return record.info if record is not None and not record.is_over(self._clock) else None

    def history(self) -> Sequence[str]:
        return tuple(path.name for path in reversed(self._kept()))

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
                self._append(FrameKind.SEALED, revision.encode(), lease.info)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        move_into_place(temporary, self._snapshot)
        self._end = None
        remove_file(self._journal)

    def _append(self, kind: FrameKind, payload: bytes, holder: LockInfo) -> None:
        end = self._journal_end(holder)
        content = encode_frame(Frame(kind=kind, payload=payload, epoch=holder.epoch))
        if end.offset == 0:
            current = self.read_snapshot()
            base = Frame(
                kind=FrameKind.BASE,
                payload=(current.revision if current else "").encode(),
                epoch=holder.epoch,
            )
            content = encode_frame(base) + content
        append_at(self._journal, end.offset, content)
        end.offset += len(content)

    def _journal_end(self, holder: LockInfo) -> _JournalEnd:
        if self._end is None or (self._end.epoch, self._end.lock_id) != (holder.epoch, holder.id):
            self._end = _JournalEnd(epoch=holder.epoch, lock_id=holder.id, offset=self._valid_frames().end)
        return self._end

    def _valid_frames(self) -> Frames:
        """The frames that come after the snapshot in place; none when that snapshot already holds them.
        Raises ``Damaged``.
        """
        where = str(self._journal)
        frames = decode_frames(_read(self._journal) or b"", where)
        if not frames.items:
            return frames
        first, last = frames.items[0], frames.items[-1]
        if first.kind is not FrameKind.BASE:
            raise Damaged(where, "its beginning is missing")
        current = self.read_snapshot()
        revision = (current.revision if current else "").encode()
        if first.payload == revision:
            return frames
        if last.kind is FrameKind.SEALED and last.payload == revision:
            return Frames(items=(), end=0, torn=False)
        raise Damaged(
            where,
            f"its records do not come after the content of {self._snapshot.name}: one of the two files was "
            "changed or replaced",
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
        return sorted(self._history.glob("????????-*.json"))

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
