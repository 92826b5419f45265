"""The files that say what runs, or why nothing does. Their one writer is the driver that holds the lease, or
that is refused a start.
"""

from typing import Final

from flareiac_spark_runtime.control.records import Records
from flareiac_spark_runtime.control.refused_start import RefusedStart
from flareiac_spark_runtime.control.status import Status

_STATUS: Final = "status.json"
_REFUSED: Final = "refused-start.json"


class StatusFiles(Records):
    """The files of the status, and of the last start that was refused."""

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
