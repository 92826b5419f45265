"""The log of a job, or of the driver that runs it, as it grows: local or in object storage. Reads only."""

import codecs
from pathlib import Path
from typing import Final

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.run_status import LogText
from flareiac_spark.application import control_failure
from flareiac_spark_runtime.control import ControlDirectory, ControlError

APPLICATION: Final = "application"
"""The name under which the log of an engine's driver is kept, among those of jobs."""
_LOCAL_PAUSE: Final = 0.5
_OBJECTS_PAUSE: Final = 3.0


def log_text(control: ControlDirectory, address: str) -> LogText | None:
    """None where nothing was written yet. Raises ``Failure``."""
    if control.keeps_local_logs:
        path = control.job_log(address)
        return _File(path) if path.is_file() else None
    try:
        return _Chunks(control, address) if control.log_chunks(control.log_name(address)) else None
    except ControlError as failure:
        raise Failure(control_failure(failure)) from failure


class _File:
    """See ``LogText``."""

    pause = _LOCAL_PAUSE

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self) -> str:
        with self._path.open("rb") as file:
            if file.seek(0, 2) < self._offset:
                self._offset = 0  # a new file was begun
            file.seek(self._offset)
            new = file.read()
        self._offset += len(new)
        return self._decode.decode(new)


class _Chunks:
    """See ``LogText``."""

    pause = _OBJECTS_PAUSE

    def __init__(self, control: ControlDirectory, address: str) -> None:
        self._control, self._name = control, control.log_name(address)
        self._at, self._offset = 0, 0
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self) -> str:
        try:
            return "".join(map(self._read, self._control.log_chunks(self._name)))
        except ControlError as failure:
            raise Failure(control_failure(failure)) from failure

    def _read(self, number: int) -> str:
        """The new part of a chunk; the last chunk grows."""
        if number < self._at:
            return ""
        content = self._control.read_log_chunk(self._name, number)
        new = content[self._offset if number == self._at else 0 :]
        self._at, self._offset = number, len(content)
        return self._decode.decode(new)
