"""The logs of the application and its jobs: rotated files in the control directory."""

import logging
import logging.handlers
import os
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

from flareiac.kernel.durable_files import FILE_MODE, make_directory
from flareiac_spark_runtime.driver.log_lines import LogLines

_BYTES, _KEPT = 5_000_000, 3


def logger(name: str, path: Path, lines: LogLines) -> logging.Logger:
    """A logger that writes such lines to one rotated file alone; asked again, the same one."""
    log = logging.getLogger(f"flareiac.{name}")
    if not log.handlers:
        handler = _handler(path)
        handler.setFormatter(lines)
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
    return log


def _handler(path: Path) -> logging.Handler:
    """A place that cannot be written is no reason to run nothing: the lines go to the driver's output
    then.
    """
    try:
        make_directory(path.parent)
        return _Rotated(path, maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8")
    except OSError:
        return logging.StreamHandler()


class _Rotated(logging.handlers.RotatingFileHandler):
    """Files that only their owner can read, whatever the umask says."""

    def _open(self) -> TextIOWrapper:
        with suppress(FileExistsError):
            os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
        return super()._open()
