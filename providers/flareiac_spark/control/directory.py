"""Reads and writes the files of a control directory. Every failure is a ``ControlError``."""

import contextlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from flareiac.kernel.host import this_host
from flareiac.kernel.records import Mismatch, decode, encode
from flareiac_spark.control.atomic_files import locked, read_json, write_json
from flareiac_spark.control.desired import Desired
from flareiac_spark.control.errors import ControlError, Trouble
from flareiac_spark.control.lease import Lease, LeaseState
from flareiac_spark.control.operations import Operation, Result
from flareiac_spark.control.processes import Moment, ProcessIdentity
from flareiac_spark.control.status import Status

R = TypeVar("R")

_OPERATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class ControlDirectory:
    """A local control directory. Creating one touches nothing; the first write makes the folders."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()

    def __repr__(self) -> str:
        return f"ControlDirectory({str(self.path)!r})"

    def prepare(self) -> None:
        """Makes the folders. Raises ``ControlError`` (unreachable)."""
        try:
            for folder in ("operations", "results", "logs", "code"):
                (self.path / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as failure:
            raise ControlError(
                Trouble.UNREACHABLE, str(self.path), f"it cannot be made: {failure.strerror or failure}"
            ) from failure

    # What should run

    def read_desired(self) -> Desired | None:
        """What should run, or None if no one has said anything yet."""
        return self._read("desired.json", Desired)

    def desired_stamp(self) -> tuple[int, int, int] | None:
        """Changes whenever ``desired.json`` is replaced; a cheap way to watch it."""
        return self.stamp("desired.json")

    def stamp(self, name: str) -> tuple[int, int, int] | None:
        """Changes whenever that file is replaced; None while there is none."""
        try:
            seen = (self.path / name).stat()
        except OSError:
            return None
        return (seen.st_mtime_ns, seen.st_ino, seen.st_size)

    def update_desired(
        self, change: Callable[[Desired], Desired], *, lineage: str, workspace: str, expect: int | None = None
    ) -> Desired:
        """Compare-and-swap under the lock file: ``change`` gets what is there (revision 0: nothing yet) and
        returns what should be.

        Returns what is stored then, with its revision; an unchanged record is not written. ``expect`` refuses
        any other revision (``conflict``). A directory with jobs of another project or workspace is refused
        (``foreign``); one without jobs is no one's, as a first apply that was refused leaves it.
        """
        self.prepare()
        with locked(self.path / ".desired.lock"):
            current = self.read_desired() or Desired(lineage=lineage, workspace=workspace)
            self.refuse_foreign(current, lineage, workspace)
            if expect is not None and current.revision != expect:
                why = (
                    f"it has revision {current.revision} and not {expect}: someone else changed it since "
                    "it was read"
                )
                raise ControlError(Trouble.CONFLICT, str(self.path / "desired.json"), why)
            place = (current.jobs and current.place) or str(self.path)
            wanted = replace(
                change(current), lineage=lineage, workspace=workspace, place=place, revision=current.revision
            )
            if wanted == current and current.revision > 0:
                return current
            wanted = replace(wanted, revision=current.revision + 1)
            write_json(self.path / "desired.json", encode(wanted))
            return wanted

    def refuse_foreign(self, current: Desired, lineage: str, workspace: str) -> None:
        """Raises ``ControlError`` (foreign) where there are jobs of another project or workspace, or of the
        folder this was copied from.
        """
        where = str(self.path / "desired.json")
        if not current.jobs:
            return
        if current.lineage != lineage:
            raise ControlError(
                Trouble.FOREIGN,
                where,
                f"it belongs to another project (lineage {current.lineage}, this one is {lineage})",
            )
        if current.workspace != workspace:
            raise ControlError(
                Trouble.FOREIGN,
                where,
                f"it belongs to the workspace {current.workspace!r}, this one is {workspace!r}",
            )
        if current.place and Path(current.place).resolve() != self.path.resolve():
            raise ControlError(
                Trouble.COPIED,
                where,
                f"it was written as {current.place}/desired.json; its jobs work on the places there",
            )

    def refuse_copy(self, current: Desired) -> None:
        """Raises ``ControlError`` (copied) where the directory that this one was copied from is there, too.

        Weaker than ``refuse_foreign``: a driver may reach its own directory by another path than the command
        line.
        """
        original = Path(current.place or self.path)
        if (
            current.jobs
            and (original / "desired.json").exists()
            and original.resolve() != self.path.resolve()
        ):
            raise ControlError(
                Trouble.COPIED, str(self.path / "desired.json"), f"it is a copy of {original}/desired.json"
            )

    # What runs

    def read_status(self) -> Status | None:
        """What the application last said, or None if none ever did. The heartbeat in it may be old."""
        return self._read("status.json", Status)

    def write_status(self, status: Status) -> None:
        write_json(self.path / "status.json", encode(status))

    # One-shot work

    def submit_operation(self, operation: Operation) -> None:
        """Asks for one-shot work; the same id twice asks once."""
        self.prepare()
        self._result_path(operation.id)
        write_json(self.path / "operations" / f"{operation.id}.json", encode(operation))

    def open_operations(self) -> tuple[str, ...]:
        """Ids of operations without a result, sorted."""
        asked = {
            path.stem
            for path in (self.path / "operations").glob("*.json")
            if _OPERATION_ID.fullmatch(path.stem)
        }
        answered = {path.stem for path in (self.path / "results").glob("*.json")}
        return tuple(sorted(asked - answered))

    def read_operation(self, operation_id: str) -> Operation | None:
        return self._read(f"operations/{operation_id}.json", Operation)

    def write_result(self, result: Result) -> None:
        write_json(self._result_path(result.id), encode(result))

    def read_result(self, operation_id: str) -> Result | None:
        return self._read(f"results/{operation_id}.json", Result)

    def forget_operation(self, operation_id: str) -> None:
        """Removes an operation and its result, once the result was used."""
        for folder in ("operations", "results"):
            # What cannot be removed is in no one's way: the id is never used for other work
            with contextlib.suppress(OSError):
                (self.path / folder / f"{operation_id}.json").unlink(missing_ok=True)

    def forget_results(self, prefix: str, older_than: float) -> None:
        """Removes what was asked and answered under ids that begin so, before a moment (UTC seconds)."""
        for path in (self.path / "results").glob(f"{prefix}*.json"):
            with contextlib.suppress(OSError):  # another command removes it, too
                if path.stat().st_mtime < older_than:
                    self.forget_operation(path.stem)

    def _result_path(self, operation_id: str) -> Path:
        if not _OPERATION_ID.fullmatch(operation_id):
            raise ValueError(f"{operation_id!r} cannot name a file")
        return self.path / "results" / f"{operation_id}.json"

    # The lease

    def read_lease(self) -> Lease | None:
        return self._read("lease.json", Lease)

    def take_lease(
        self,
        owner: str,
        process: ProcessIdentity,
        *,
        now: Moment,
        seconds: float,
        watched: Lease | None = None,
    ) -> Lease | None:
        """The lease if it was free, or is still the one that the caller has ``watched`` for its whole term;
        None if someone may hold it.
        """
        self.prepare()
        with locked(self.path / ".lease.lock"):
            current = self.read_lease()
            if (
                current is not None
                and current.owner != owner
                and current != watched
                and current.standing(now) is not LeaseState.FREE
            ):
                return None
            here = this_host()
            lease = Lease(
                owner=owner,
                host=here.name,
                place=here,
                pid=process.pid,
                pid_started=process.started,
                epoch=(current.epoch if current else 0) + 1,
                seconds=seconds,
                uptime=now.uptime,
                renewed=now.wall,
            )
            write_json(self.path / "lease.json", encode(lease))
            return lease

    def renew_lease(self, lease: Lease, *, now: Moment, seconds: float) -> Lease | None:
        """The same lease, good for another term, or None if it was lost to another owner."""
        with locked(self.path / ".lease.lock"):
            if not self._is_own(lease):
                return None
            renewed = lease.renew(now, seconds)
            write_json(self.path / "lease.json", encode(renewed))
            return renewed

    def _is_own(self, lease: Lease) -> bool:
        try:
            current = self.read_lease()
        except ControlError as failure:
            if failure.kind is Trouble.FUTURE_VERSION:
                return False  # only a newer release writes those: its driver has taken over
            if failure.kind is Trouble.DAMAGED:
                return True  # no one takes a lease that cannot be read, so it is the owner's to repair
            raise
        return current is not None and (current.owner, current.epoch) == (lease.owner, lease.epoch)

    def release_lease(self, lease: Lease, *, now: Moment) -> None:
        """Lets the next one in at once; does nothing if the lease was lost."""
        self.renew_lease(lease, now=now, seconds=0.0)

    # Logs and code

    @property
    def driver_output(self) -> Path:
        """What the driver's process printed (Python's and the JVM's last words)."""
        return self.path / "logs" / "driver.out"

    @property
    def application_log(self) -> Path:
        return self.path / "logs" / "application.log"

    def job_log(self, address: str) -> Path:
        return self.path / "logs" / f"{quote(address, safe='')}.log"

    @property
    def code(self) -> Path:
        """Archives of the users' code, named by digest."""
        return self.path / "code"

    def _read(self, name: str, record: type[R]) -> R | None:
        path = self.path / name
        content = read_json(path)
        if content is None:
            return None
        try:
            return decode(record, content, path.stem)
        except Mismatch as mismatch:
            raise ControlError(Trouble.DAMAGED, str(path), str(mismatch)) from None
