"""Takes the logs of a driver to its control directory, where that is in object storage. What cannot be
written there now is written with the next heartbeat; on its host everything is in files anyway.
"""

import logging
import os
import threading
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import ControlDirectory, ControlError
from flareiac_spark_runtime.control.log_chunks import CHUNK_BYTES, KEPT, OUTPUT_BYTES

_OUTPUT = "FLAREIAC_DRIVER_OUTPUT"


@dataclass(slots=True, kw_only=True)
class _Chunk:
    """``number`` None: it is not known yet how many chunks earlier drivers wrote."""

    number: int | None = None
    text: bytearray = field(default_factory=bytearray)
    written: int = 0


class LogUpload:
    """For all logs of one driver. Safe to use from several threads."""

    def __init__(self, control: ControlDirectory) -> None:
        self._control = control
        self._guard, self._writing = threading.Lock(), threading.Lock()
        self._chunks: dict[str, _Chunk] = {}
        self._printed: int | None = None

    def follow(self, log: logging.Logger, name: str) -> None:
        """From now on what this log takes goes there, too. Asked again, nothing changes."""
        if self._control.keeps_local_logs or any(isinstance(handler, _Copying) for handler in log.handlers):
            return
        handler = _Copying(self, name)
        handler.setFormatter(log.handlers[0].formatter if log.handlers else None)
        log.addHandler(handler)

    def add(self, name: str, text: str) -> None:
        with self._guard:
            self._chunks.setdefault(name, _Chunk()).text += text.encode(errors="replace")

    def flush(self) -> None:
        """Writes what was added, and the end of what the process printed. Raises nothing."""
        if self._control.keeps_local_logs:
            return
        with self._writing:
            for name in tuple(self._chunks):
                self._flush(name)
            self._flush_output()

    def _flush(self, name: str) -> None:
        with self._guard:
            chunk = self._chunks[name]
            text = bytes(chunk.text)
        if len(text) == chunk.written:
            return
        try:
            if chunk.number is None:
                chunk.number = max(self._control.log_chunks(name), default=0) + 1
            self._control.write_log_chunk(name, chunk.number, text)
        except ControlError:
            if len(text) > 4 * CHUNK_BYTES:
                self._forget(chunk, len(text) - CHUNK_BYTES)
            return
        chunk.written = len(text)
        if len(text) >= CHUNK_BYTES:
            self._forget(chunk, len(text))
            chunk.number += 1
            with suppress(ControlError):  # the next full chunk removes them
                self._control.forget_log_chunks(name, chunk.number - KEPT)

    def _forget(self, chunk: _Chunk, size: int) -> None:
        with self._guard:
            del chunk.text[:size]
        chunk.written = 0

    def _flush_output(self) -> None:
        path = os.environ.get(_OUTPUT, "")
        try:
            mine, there = os.fstat(1), Path(path).stat() if path else None
            if there is None or (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
                return  # it prints elsewhere, as a service does
            if there.st_size == self._printed:
                return
            with Path(path).open("rb") as file:
                file.seek(max(0, there.st_size - OUTPUT_BYTES))
                self._control.write_driver_output(file.read())
        except (OSError, ControlError):
            return
        self._printed = there.st_size


class _Copying(logging.Handler):
    def __init__(self, upload: LogUpload, name: str) -> None:
        super().__init__()
        self._upload, self._name = upload, name

    def emit(self, record: logging.LogRecord) -> None:
        self._upload.add(self._name, self.format(record) + "\n")
