"""The file of the lease: one process drives an application at a time."""

from typing import Final

from flareiac.kernel.host import this_host
from flareiac_spark_runtime.control.control_files import ControlFile
from flareiac_spark_runtime.control.errors import ControlError, ErrorKind
from flareiac_spark_runtime.control.lease import Lease, LeaseState
from flareiac_spark_runtime.control.processes import Moment, ProcessIdentity
from flareiac_spark_runtime.control.records import Records
from flareiac_spark_runtime.storage import Place

_LEASE: Final = "lease.json"


class LeaseFile(Records):
    """Takes, renews and releases the lease. ``Lease`` decides who may hold it."""

    def __init__(self, place: str | Place) -> None:
        super().__init__(place)
        self._own: tuple[str, int, str] | None = None
        """Owner, epoch and revision of the lease that this process wrote last."""

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
            file = self._files.read(_LEASE)
            current = self._understood(_LEASE, file, Lease)
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
            if self._is_written(lease, file):
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
            and self._is_written(renewed, ControlFile(content=b"", revision=own[2]))
        ):
            return renewed
        for _ in self._tries(_LEASE):
            file = self._files.read(_LEASE)
            if not self._is_own(file, lease):
                return None
            if self._is_written(renewed, file):
                return renewed
        raise AssertionError("the tries end with a failure")

    def _is_written(self, lease: Lease, over: ControlFile | None) -> bool:
        self._own = None
        revision = self._swapped(_LEASE, lease, over)
        if revision is None:
            return False
        self._own = (lease.owner, lease.epoch, revision)
        return True

    def _is_own(self, file: ControlFile | None, lease: Lease) -> bool:
        try:
            current = self._understood(_LEASE, file, Lease)
        except ControlError as failure:
            if failure.kind is ErrorKind.FUTURE_VERSION:
                return False  # only a newer release writes those: its driver has taken over
            if failure.kind is ErrorKind.DAMAGED:
                return True  # no one takes a lease that cannot be read, so it is the owner's to repair
            raise
        return current is not None and (current.owner, current.epoch) == (lease.owner, lease.epoch)

    def release_lease(self, lease: Lease, *, now: Moment) -> None:
        """Lets the next one in at once; does nothing if the lease was lost."""
        self.renew_lease(lease, now=now, seconds=0.0)
