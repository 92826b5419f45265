"""The lines of the logs: plain text, or one JSON object a line. Pure, but for the switch between the two."""

import datetime as dt
import json
import logging
from typing import Any, Final

from flareiac.sdk.secrets import masked

_TEXT: Final = "%(asctime)s %(levelname)s %(message)s"
_OF_JOBS: Final = "flareiac.job."
CAUSE: Final = "cause"
"""Key in ``extra``: the stack of an error that is not one of Python's."""


class LogLines(logging.Formatter):
    """For every log of one driver. ``as_json`` may change at any time."""

    def __init__(self) -> None:
        super().__init__(_TEXT)
        self.as_json = False

    def format(self, record: logging.LogRecord) -> str:
        if not self.as_json:
            cause = getattr(record, CAUSE, None)
            return masked(super().format(record) + (f"\n{cause}" if cause else ""))
        # A lone surrogate has no UTF-8: the whole line would be lost.
        return json.dumps(self._fields(record), ensure_ascii=False).encode(errors="replace").decode()

    def _fields(self, record: logging.LogRecord) -> dict[str, Any]:
        time = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        fields = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": masked(record.getMessage()),
        }
        if record.name.startswith(_OF_JOBS):
            fields |= {"job": record.name.removeprefix(_OF_JOBS)}
        if error := self._error(record):
            fields |= {"error": masked(error)}
        return fields

    def _error(self, record: logging.LogRecord) -> str | None:
        cause: str | None = getattr(record, CAUSE, None)
        if cause is None and record.exc_info and record.exc_info[0] is not None:
            cause = self.formatException(record.exc_info)
        return cause
