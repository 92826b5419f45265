"""The contract of a state backend: dumb bytes with revisions. What they mean is the model's business.

A backend keeps, per workspace, one snapshot (replaced as a whole by compare-and-swap), one journal (appended
records) and one lock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from flareiac.kernel.data import Attributes


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
class LockInfo:
    """Who holds the lock. Times are UTC seconds since 1970; ``epoch`` grows with every taking and fences
    journal writes.
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


class LockHeld(Exception):
    """Someone else holds the lock."""

    def __init__(self, info: LockInfo) -> None:
        super().__init__(f"the lock is held by {info.owner} on {info.host} ({info.operation})")
        self.info = info


class LockLost(Exception):
    """This process no longer holds the lock; nothing more may be written under it."""


class Conflict(Exception):
    """The stored revision is not the one that the write named."""


class Damaged(Exception):
    """What is stored cannot be understood: ``where`` and ``why`` are shown to the user, and ``way_out`` where
    there is a better one than to restore it.
    """

    def __init__(self, where: str, why: str, way_out: str = "") -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why, self.way_out = where, why, way_out


class Lease(Protocol):
    """A held lock, renewed by a heartbeat until released."""

    info: LockInfo
    took_over: LockInfo | None

    def check(self) -> None:
        """Raises ``LockLost`` if the lease has been lost."""
        ...

    def release(self) -> None: ...


class StateStore(Protocol):
    """One workspace's state in one place. ``OSError`` and its kin mean that the place cannot be reached or
    written.
    """

    def describe(self) -> str:
        """Where the state is, for people; never a secret."""
        ...

    def read_snapshot(self) -> Stored | None: ...

    def write_snapshot(self, content: bytes, *, expect: str | None, lease: Lease) -> str:
        """Replaces the snapshot atomically and empties the journal; returns the new revision. Raises
        ``Conflict`` or ``LockLost``.
        """
        ...

    def read_journal(self) -> Journal: ...

    def append_journal(self, record: bytes, lease: Lease) -> None:
        """Durable when it returns. Raises ``LockLost``."""
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
        """Who may be at work under the lock: None where it is released or may be taken over."""
        ...

    def history(self) -> Sequence[str]:
        """Names of kept earlier snapshots, newest first."""
        ...


class StateBackend(Protocol):
    """What an entry point of the group ``flareiac.state_backends`` returns when called without arguments."""

    name: str

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> StateStore: ...
