"""The content of the lock file, with the rules for writing it and for its expiry."""

import fcntl
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from pathlib import Path

from flareiac.kernel.data import Attributes, digest, read_json, write_json
from flareiac.kernel.durable_files import FILE_MODE, replace_file
from flareiac.kernel.host import Host, has_clock_of_here, this_host
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Damaged, LockInfo
from flareiac_state.process_identity import ProcessIdentity, is_gone

GUARD_PATIENCE = 10.0
"""Seconds to wait for the guard, which others hold for one short write at a time."""


def _uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """``wall`` is UTC seconds and may jump; ``uptime`` is seconds since the boot, goes on while suspended and
    never jumps.
    """

    wall: Callable[[], float] = time.time
    uptime: Callable[[], float] = _uptime
    sleep: Callable[[float], None] = time.sleep


SYSTEM_CLOCK = Clock()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRecord:
    """The content of the lock file. ``held`` is False after a release: the file stays, for the epoch must
    only ever grow.

    ``expires_uptime`` is the end of the lease by the clock that processes of one boot share; ``info.expires``
    is for everybody else. ``machine``, ``boot`` and ``namespace`` tell where its owner runs (see
    ``flareiac.kernel.host``), ``renewed`` when it wrote this, in UTC seconds; early versions wrote neither
    ``machine`` nor ``renewed``.
    """

    info: LockInfo
    held: bool
    boot: str
    namespace: str
    expires_uptime: float
    machine: str = ""
    renewed: float = 0.0

    def is_over(self, clock: Clock) -> bool:
        """Returns True if the lock may be taken over: released, expired, or its owner's process is gone."""
        return not self.held or self._expired(clock) or is_gone(self._owner(), self.renewed)

    def seen(self, clock: Clock) -> LockInfo:
        """The holder of the lock, as it is seen from here."""
        if has_clock_of_here(self._owner().host):
            return replace(self.info, age=max(0.0, clock.wall() - self.info.created))
        return replace(self.info, clock=self.info.host)

    def _expired(self, clock: Clock) -> bool:
        here = this_host()
        if here.boot and here.boot == self.boot:
            return clock.uptime() >= self.expires_uptime
        return clock.wall() >= self.info.expires

    def _owner(self) -> ProcessIdentity:
        info = self.info
        place = Host(name=info.host, machine=self.machine, boot=self.boot, namespace=self.namespace)
        return ProcessIdentity(host=place, pid=info.pid, started=info.process_started)


@dataclass(frozen=True, slots=True)
class LockFile:
    """``lock.json``, replaced as a whole under ``lock.guard`` (an advisory lock that the system drops when
    its holder dies).
    """

    directory: Path
    guard_patience: float = field(default=GUARD_PATIENCE)

    @property
    def path(self) -> Path:
        return self.directory / "lock.json"

    @contextmanager
    def guarded(self, *, shared: bool = False) -> Iterator[None]:
        """Keeps every other process (and thread) out for the body. Raises ``TimeoutError`` when someone
        keeps us out for too long.
        """
        handle = os.open(self.directory / "lock.guard", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            _flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, self.guard_patience, self.path)
            yield
        finally:
            os.close(handle)

    def read(self) -> LockRecord | None:
        """The record in the lock file, or None when there is none. Raises ``Damaged``."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        return _decode(content, str(self.path))

    def write(self, record: LockRecord) -> None:
        """Only inside ``guarded``."""
        data = asdict(record)
        del data["info"]["clock"], data["info"]["age"]
        replace_file(self.path, (write_json({**data, "digest": digest(data)}, indent=2) + "\n").encode())


def _flock(handle: int, mode: int, patience: float, path: Path) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise TimeoutError(
                    None, "another process has kept the state's guard file for too long", str(path)
                ) from None
            time.sleep(0.002)


_NUMBERS = ("process_started", "created", "expires", "expires_uptime", "renewed")
_WHOLE = ("pid", "epoch")
_TEXTS = ("id", "owner", "host", "job", "operation", "boot", "namespace", "machine")


def _check_types(parts: Attributes) -> None:
    """Raises TypeError or OverflowError."""
    if not all(isinstance(parts[name], int | float) and math.isfinite(parts[name]) for name in _NUMBERS):
        raise TypeError("a number is missing")
    if not all(type(parts[name]) is int for name in _WHOLE) or not all(
        isinstance(parts[name], str) for name in _TEXTS
    ):
        raise TypeError("a part has the wrong type")


def _decode(content: bytes, where: str) -> LockRecord:
    try:
        data = read_json(content)
        if "digest" in data and data.pop("digest") != digest(data):  # early versions wrote none
            raise ValueError("it was edited, or damaged")
        info = LockInfo(**data["info"])
        record = LockRecord(**{**data, "info": info})
        _check_types({**asdict(record), **asdict(info)})
        return record
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        raise Damaged(where, "it is not a lock that FlareIaC wrote") from problem
