"""The contract of a state backend: dumb bytes with revisions. What they mean is the model's business.

A backend keeps, per workspace, one snapshot (replaced as a whole by compare-and-swap), one journal (appended
records), earlier snapshots and one lock.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final, Protocol, runtime_checkable

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import UNSTORED

_WORKSPACE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,89}")
WORKSPACE_NAME_RULE: Final = "Use letters, digits, and the characters - _ . (at most 90, no leading dot)."


def is_workspace_name(text: str) -> bool:
    """Returns True if every backend can keep a workspace of this name: see ``WORKSPACE_NAME_RULE``."""
    return _WORKSPACE_NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A snapshot's bytes and the revision that the next write must name."""

    content: bytes
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The records since the last snapshot, oldest first. ``torn`` is set when the last one was cut by a crash
    (and left out).
    """

    records: tuple[bytes, ...]
    torn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Snapshot and journal that belong together. The snapshot is None where none was written yet."""

    snapshot: Stored | None
    journal: Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An earlier snapshot. ``written`` is in UTC seconds since 1970 by the clock of the place, ``size`` in
    bytes.
    """

    name: str
    written: float
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LockInfo:
    """The holder of the lock. Times are UTC seconds since 1970; ``epoch`` grows with every taking and fences
    journal writes.

    ``clock`` names whose clock the times are by, where it is not that of this machine. ``age`` is in seconds
    since the lock was taken; None where only the clocks of two machines could tell.
    """

    id: str
    owner: str
    host: str
    pid: int
    process_started: float
    job: str
    operation: str
    created: float
    expires: float
    epoch: int
    clock: str = field(default="", compare=False, metadata=UNSTORED)
    age: float | None = field(default=None, compare=False, metadata=UNSTORED)


class LockHeld(Exception):
    """Someone else holds the lock."""

    def __init__(self, info: LockInfo) -> None:
        super().__init__(f"the lock is held by {info.owner} on {info.host} ({info.operation})")
        self.info = info


class LockLost(Exception):
    """This process no longer holds the lock; nothing more may be written under it."""


class Conflict(Exception):
    """The stored revision is not the one that the write named."""


class StateUnreachable(OSError):
    """The place of a state does not answer, refuses, or cannot be written. The text says what failed, where,
    and what to do.
    """


WITHOUT_JOURNAL: Final = (
    "The journal holds what the last apply did after the snapshot beside it. Restore it from a backup; or "
    "record the snapshot again without it (flareiac state history, flareiac state rollback): plan then names "
    "what exists and is not recorded, and import blocks adopt it."
)
"""The way out where a snapshot is whole and the journal after it is not."""


class Damaged(Exception):
    """Raised if stored data cannot be understood: ``where`` and ``why`` are shown to the user, and
    ``way_out`` where there is a better one than to restore it.
    """

    def __init__(self, where: str, why: str, way_out: str = "") -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why, self.way_out = where, why, way_out


class WrittenByNewer(Damaged):
    """Raised if stored data are whole, but in a form of a later release that this one does not know."""

    def __init__(self, where: str, why: str, way_out: str = "") -> None:
        newer = "A newer FlareIaC wrote it: use that version, or a later one."
        super().__init__(where, why, way_out or newer)


class Lease(Protocol):
    """A held lock, renewed by a heartbeat until released."""

    info: LockInfo
    took_over: LockInfo | None

    def check(self) -> None:
        """Raises ``LockLost`` if the lease has been lost."""
        ...

    def release(self) -> None: ...


class StateStore(Protocol):
    """One workspace's state in one place. ``OSError`` (``StateUnreachable`` is one) means that the place
    cannot be reached or written.
    """

    def describe(self) -> str:
        """Returns where the state is, for people; never a secret."""
        ...

    def read(self) -> Moment:
        """Snapshot and journal of one moment, also while others write. Raises ``Damaged``."""
        ...

    def read_snapshot(self) -> Stored | None: ...

    def write_snapshot(self, content: bytes, *, expect: str | None, lease: Lease) -> str:
        """Replaces the snapshot atomically and empties the journal; returns the new revision. Raises
        ``Conflict`` or ``LockLost``.
        """
        ...

    def replace_damaged(self, content: bytes, lease: Lease) -> None:
        """Puts a snapshot in place of a state that cannot be read, and takes its journal away; what is there
        may be damaged in any part but its lock. After a crash the state is the new one, or it still cannot be
        read. Raises ``LockLost`` or ``OSError``.
        """
        ...

    def read_journal(self) -> Journal: ...

    def append_journal(self, records: Sequence[bytes], lease: Lease) -> None:
        """All durable when it returns, for the price of one; of no records, writes nothing. Raises
        ``LockLost``. After an ``OSError`` or a crash the first few of them may be there, never a later one
        without those before it.
        """
        ...

    def check_writable(self, lease: Lease) -> None:
        """Proves that a snapshot and a journal record could be written now. Raises ``OSError``."""
        ...

    def lock(self, operation: str, *, timeout: float, on_wait: Callable[[LockInfo], None]) -> Lease:
        """Takes the lock; waits up to ``timeout`` seconds. Raises ``LockHeld``, or ``Failure`` when the lock
        cannot be understood.
        """
        ...

    def lock_info(self) -> LockInfo | None:
        """Returns the process that may be at work under the lock; None where it is released or may be taken
        over.
        """
        ...

    def release_lock(self, lock_id: str) -> LockInfo:
        """Releases the lock by force and returns whose it was: the holder's next write is refused.

        Raises ``LockHeld`` when the lock that is held has another id, ``KeyError`` when none is held.
        """
        ...

    def history(self) -> Sequence[Kept]:
        """The kept earlier snapshots, newest first."""
        ...

    def read_history(self, name: str) -> bytes:
        """An earlier snapshot. Raises ``KeyError`` for a name that is not kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSetting:
    """A text or a boolean, never a secret: clients find credentials by themselves."""

    name: str
    description: str
    required: bool = False
    default: str | bool | None = None
    instead_of: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By a setting that readers look for and that there is not: a sentence that names what does its work."""


class StateBackend(Protocol):
    """A state backend: an entry point of the group ``flareiac.state_backends`` returns it when called without
    arguments.

    ``root`` is the folder of the root module. Every method raises ``Failure`` for settings that it does not
    take, and ``OSError`` where the place cannot be reached.
    """

    name: str
    settings: tuple[BackendSetting, ...]

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> StateStore:
        """The store of one workspace; touches nothing yet. Raises ``Failure`` for a name that is no workspace
        name, too.
        """
        ...

    def workspaces(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> Sequence[str]:
        """The names of the workspaces with a snapshot or a journal, sorted."""
        ...

    def delete_workspace(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> None:
        """Deletes all that is kept of one workspace, history included, under its lock (which it takes
        itself). Raises ``LockHeld``.
        """
        ...

    def prove(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> None:
        """Reaches the place, creates what is missing there, and proves that it keeps what a lock needs, by
        doing it. Raises ``Failure``.
        """
        ...


@runtime_checkable
class Locating(Protocol):
    """A backend that tells where the state is from how it is reached."""

    def location(self, settings: Attributes, *, environment: Mapping[str, str]) -> str:
        """Returns where the states of all workspaces are: the same text for every checkout and every person
        that reach it, whatever their profiles and user names; empty where each checkout has its own. Holds no
        secret. Raises ``Failure`` for settings that it does not take.
        """
        ...
