"""Reads and writes the files of a control directory. Every failure is a ``ControlError``.

Of what several processes may write each change reads, decides, and replaces the file only where it still is
what was read; where it is not, the change is decided again.
"""

import random
import re
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from flareiac import __version__
from flareiac.kernel.host import this_host
from flareiac.kernel.records import Mismatch, decode, encode
from flareiac.kernel.user_cache import cache_directory
from flareiac_spark_runtime.control.atomic_files import RELEASE, from_json, to_json
from flareiac_spark_runtime.control.control_files import ControlFiles, Found, Glance
from flareiac_spark_runtime.control.desired import Desired
from flareiac_spark_runtime.control.errors import ControlError, Trouble
from flareiac_spark_runtime.control.lease import Lease, LeaseState
from flareiac_spark_runtime.control.local_files import LocalFiles
from flareiac_spark_runtime.control.log_chunks import OUTPUT, chunk_name, chunk_numbers
from flareiac_spark_runtime.control.object_files import ObjectFiles
from flareiac_spark_runtime.control.operations import Operation, Result
from flareiac_spark_runtime.control.processes import Moment, ProcessIdentity
from flareiac_spark_runtime.control.refused_start import RefusedStart
from flareiac_spark_runtime.control.rhythm import Rhythm
from flareiac_spark_runtime.control.status import Status
from flareiac_spark_runtime.storage import ObjectPath, Place, is_object_uri, object_uri, place_at

R = TypeVar("R")

_OPERATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_DESIRED, _STATUS, _LEASE = "desired.json", "status.json", "lease.json"
_REFUSED: Final = "refused-start.json"
_PATIENCE_SECONDS: Final = 30.0


class ControlDirectory:
    """A control directory on the local disk or in object storage. Creating one touches nothing; the first
    write makes the folders.
    """

    def __init__(self, place: str | Place) -> None:
        self._files = _files_of(place)
        self._own: tuple[str, int, str] | None = None
        """Owner, epoch and revision of the lease that this process wrote last."""

    def __repr__(self) -> str:
        return f"ControlDirectory({str(self.place)!r})"

    @property
    def place(self) -> Place:
        return self._files.place

    @property
    def rhythm(self) -> Rhythm:
        return self._files.rhythm

    @property
    def scratch(self) -> Path:
        """The local folder for what a driver and who starts it keep on one host: the directory itself where
        it is local, else one in the user's cache.
        """
        return self.place if isinstance(self.place, Path) else scratch_of(str(self.place))

    def prepare(self) -> None:
        """Makes the folders. Raises ``ControlError`` (unreachable)."""
        self._files.prepare()

    # What should run

    def read_desired(self) -> Desired | None:
        """The desired state, or None if no one has written any yet."""
        return self._read(_DESIRED, Desired)

    def is_used(self) -> bool:
        """Returns True if someone has prepared the directory. Raises ``ControlError``."""
        return self._files.is_used()

    def glance(self) -> Glance | None:
        """The stamp that a driver compares again and again, at the least cost; None where none can be
        seen.
        """
        return self._files.glance()

    def stamp(self, name: str) -> Hashable:
        """Changes whenever that file is replaced; None while there is none."""
        return self._files.stamp(name)

    def update_desired(
        self, change: Callable[[Desired], Desired], *, lineage: str, workspace: str, expect: int | None = None
    ) -> Desired:
        """Compare-and-swap: ``change`` gets what is there (revision 0: nothing yet) and returns what should
        be; it is called again where someone else wrote in between.

        Returns what is stored then, with its revision; an unchanged record is not written. ``expect`` refuses
        any other revision (``conflict``). A directory with jobs of another project or workspace is refused
        (``foreign``); one without jobs is no one's, as a first apply that was refused leaves it.
        """
        self.prepare()
        for _ in self._tries(_DESIRED):
            found = self._files.read(_DESIRED)
            known = self._understood(_DESIRED, found, Desired)
            current = known or Desired(lineage=lineage, workspace=workspace)
            self.refuse_foreign(current, lineage, workspace)
            if expect is not None and current.revision != expect:
                why = (
                    f"it has revision {current.revision} and not {expect}: someone else changed it since "
                    "it was read"
                )
                raise ControlError(Trouble.CONFLICT, self._where(_DESIRED), why)
            place = (current.jobs and current.place) or str(self.place)
            wanted = replace(
                change(current), lineage=lineage, workspace=workspace, place=place, revision=current.revision
            )
            if wanted == current and current.revision > 0:
                return current
            if found is None:
                self._files.prove()
            wanted = replace(wanted, revision=current.revision + 1)
            if self._swapped(_DESIRED, wanted, found) is not None:
                return wanted
        raise AssertionError("the tries end with a failure")

    def refuse_foreign(self, current: Desired, lineage: str, workspace: str) -> None:
        """Raises ``ControlError`` (foreign) where there are jobs of another project or workspace, or of the
        folder this was copied from.
        """
        where = self._where(_DESIRED)
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
        if current.place and place_at(current.place).resolve() != self.place.resolve():
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
        original = place_at(current.place) if current.place else self.place
        if not current.jobs or original.resolve() == self.place.resolve():
            return
        try:
            is_there = (original / _DESIRED).exists()
        except OSError:
            is_there = False  # who may not read it learns so where it matters
        if is_there:
            raise ControlError(
                Trouble.COPIED, self._where(_DESIRED), f"it is a copy of {original}/desired.json"
            )

    # What runs

    def read_status(self) -> Status | None:
        """The status that the application wrote last, None if it never did. The heartbeat in it may be
        old.
        """
        return self._read(_STATUS, Status)

    def write_status(self, status: Status) -> None:
        self._write(_STATUS, status)

    def read_refused_start(self) -> RefusedStart | None:
        """The last start of a driver that failed, None since one has started."""
        return self._read(_REFUSED, RefusedStart)

    def write_refused_start(self, refused: RefusedStart) -> None:
        self._write(_REFUSED, refused)

    def forget_refused_start(self) -> None:
        """A driver has started. Raises ``ControlError``."""
        self._files.remove(_REFUSED)

    # One-shot work

    def submit_operation(self, operation: Operation) -> None:
        """Asks for one-shot work; the same id twice asks once."""
        self.prepare()
        _refuse_odd(operation.id)
        self._write(f"operations/{operation.id}.json", operation)

    def open_operations(self) -> tuple[str, ...]:
        """Ids of operations without a result, sorted."""
        asked = {name for name in self._ids("operations") if _OPERATION_ID.fullmatch(name)}
        return tuple(sorted(asked.difference(self._ids("results")))) if asked else ()

    def read_operation(self, operation_id: str) -> Operation | None:
        return self._read(f"operations/{operation_id}.json", Operation)

    def write_result(self, result: Result) -> None:
        _refuse_odd(result.id)
        self._write(f"results/{result.id}.json", result)

    def read_result(self, operation_id: str) -> Result | None:
        return self._read(f"results/{operation_id}.json", Result)

    def forget_operation(self, operation_id: str) -> None:
        """Removes an operation and its result, once the result was used."""
        for folder in ("operations", "results"):
            # What cannot be removed is in no one's way: the id is never used for other work
            self._files.remove(f"{folder}/{operation_id}.json")

    def forget_results(self, prefix: str, older_than: float) -> None:
        """Removes what was asked and answered under ids that begin so, before a moment (UTC seconds)."""
        for operation_id, written in self._ids("results").items():
            if operation_id.startswith(prefix) and written < older_than:
                self.forget_operation(operation_id)

    def _ids(self, folder: str) -> dict[str, float]:
        """The files of a folder, without their suffix, with the times of their last writes."""
        return {
            name.removesuffix(".json"): written
            for name, written in self._files.names(folder).items()
            if name.endswith(".json")
        }

    # The lease

    def read_lease(self) -> Lease | None:
        return self._read(_LEASE, Lease)

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
        for _ in self._tries(_LEASE):
            found = self._files.read(_LEASE)
            current = self._understood(_LEASE, found, Lease)
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
            if self._is_written(lease, found):
                return lease
        raise AssertionError("the tries end with a failure")

    def renew_lease(self, lease: Lease, *, now: Moment, seconds: float) -> Lease | None:
        """The same lease, good for another term, or None if it was lost to another owner."""
        renewed = lease.renew(now, seconds)
        own = self._own
        # Nothing is read where it is still what this process wrote.
        if (
            own is not None
            and own[:2] == (lease.owner, lease.epoch)
            and self._is_written(renewed, Found(content=b"", revision=own[2]))
        ):
            return renewed
        for _ in self._tries(_LEASE):
            found = self._files.read(_LEASE)
            if not self._is_own(found, lease):
                return None
            if self._is_written(renewed, found):
                return renewed
        raise AssertionError("the tries end with a failure")

    def _is_written(self, lease: Lease, over: Found | None) -> bool:
        self._own = None
        revision = self._swapped(_LEASE, lease, over)
        if revision is None:
            return False
        self._own = (lease.owner, lease.epoch, revision)
        return True

    def _is_own(self, found: Found | None, lease: Lease) -> bool:
        try:
            current = self._understood(_LEASE, found, Lease)
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
        """The file with the output of the driver's process (last words of Python and of the JVM), on its
        host.
        """
        return self.scratch / "logs" / "driver.out"

    @property
    def application_log(self) -> Path:
        return self.scratch / "logs" / "application.log"

    def job_log(self, address: str) -> Path:
        return self.scratch / "logs" / f"{self.log_name(address)}.log"

    @property
    def keeps_local_logs(self) -> bool:
        """Returns True if the files of the logs are in the directory itself; else they are taken there in
        chunks.
        """
        return self.scratch == self.place

    def log_name(self, address: str) -> str:
        """The name of the log of a job."""
        return quote(address, safe="")

    def log_place(self, address: str) -> Place:
        """The place of the log of a job: a file, or a folder of chunks."""
        return (
            self.job_log(address) if self.keeps_local_logs else self.place / _chunks(self.log_name(address))
        )

    def log_chunks(self, name: str) -> list[int]:
        """The numbers of the chunks of a log, sorted. Raises ``ControlError``."""
        return chunk_numbers(self._files.names(_chunks(name)))

    def read_log_chunk(self, name: str, number: int) -> bytes:
        """Empty where it was removed. Raises ``ControlError``."""
        found = self._files.read(f"{_chunks(name)}/{chunk_name(number)}")
        return found.content if found is not None else b""

    def write_log_chunk(self, name: str, number: int, text: bytes) -> None:
        """Replaces a chunk. Raises ``ControlError``."""
        self._files.write(f"{_chunks(name)}/{chunk_name(number)}", text)

    def forget_log_chunks(self, name: str, up_to: int) -> None:
        """Removes the chunks with these numbers and smaller ones. Raises ``ControlError``."""
        for number in self.log_chunks(name):
            if number <= up_to:
                self._files.remove(f"{_chunks(name)}/{chunk_name(number)}")

    def write_driver_output(self, text: bytes) -> None:
        """Raises ``ControlError``."""
        self._files.write(OUTPUT, text)

    def read_driver_output(self) -> bytes:
        """The end of what the driver's process printed, wherever it ran; empty where nothing is known. Raises
        ``ControlError``.
        """
        found = self._files.read(OUTPUT)
        return found.content if found is not None else b""

    @property
    def code(self) -> Path:
        """Folders of the users' code on this host, named by digest."""
        return self.scratch / "code"

    # Files

    def _where(self, name: str) -> str:
        return f"{self.place}/{name}"

    def _read(self, name: str, record: type[R]) -> R | None:
        return self._understood(name, self._files.read(name), record)

    def _understood(self, name: str, found: Found | None, record: type[R]) -> R | None:
        if found is None:
            return None
        content = from_json(found.content, self._where(name))
        release = content.pop(RELEASE, __version__)
        try:
            # What is to be done is understood whole or refused; the rest may tell more than is known here.
            return decode(
                record,
                content,
                name.rpartition("/")[2].removesuffix(".json"),
                lenient=release != __version__ and not name.startswith("operations/"),
            )
        except Mismatch as mismatch:
            by = f" (FlareIaC {release} wrote it, this is {__version__})" if release != __version__ else ""
            raise ControlError(Trouble.DAMAGED, self._where(name), f"{mismatch}{by}") from None

    def _write(self, name: str, record: Any) -> None:
        self._files.write(name, _text(record))

    def _swapped(self, name: str, record: Any, over: Found | None) -> str | None:
        return self._files.swap(name, _text(record), over.revision if over is not None else None)

    def _tries(self, name: str) -> Iterator[None]:
        """One turn for each attempt to replace a file; a pause between two that grows. Raises
        ``ControlError`` (busy).
        """
        deadline, pause = time.monotonic() + _PATIENCE_SECONDS, 0.01
        while True:
            yield
            if time.monotonic() > deadline:
                why = f"others have replaced it again and again for {_PATIENCE_SECONDS:.0f} s"
                raise ControlError(Trouble.BUSY, self._where(name), why)
            time.sleep(pause * random.random())  # noqa: S311 - keeps two writers apart
            pause = min(2 * pause, 0.5)


def scratch_of(uri: str) -> Path:
    """The local folder of a control directory in object storage."""
    return cache_directory() / "runtime" / sha256(object_uri(uri).encode()).hexdigest()[:16]


def _text(record: Any) -> bytes:
    return to_json({RELEASE: __version__, **encode(record)})


def _chunks(name: str) -> str:
    """The folder of a log's chunks."""
    return f"logs/{name}"


def _files_of(place: str | Place) -> ControlFiles:
    if isinstance(place, str) and is_object_uri(place):
        place = place_at(place)
    if isinstance(place, ObjectPath):
        return ObjectFiles(place)
    return LocalFiles(Path(str(place)).absolute())


def _refuse_odd(operation_id: str) -> None:
    if not _OPERATION_ID.fullmatch(operation_id):
        raise ValueError(f"{operation_id!r} cannot name a file")
