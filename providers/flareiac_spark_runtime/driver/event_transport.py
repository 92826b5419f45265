"""Ways of events of OpenLineage out of a driver: a file, and an HTTP end point. Touches disk and network."""

import os
from pathlib import Path
from typing import Final, Protocol

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.durable_files import FILE_MODE, make_directory
from flareiac.sdk.http_client import HttpClient, HttpRefusal, NoAnswer, login_headers
from flareiac.sdk.secrets import said
from flareiac_spark_runtime.control import OpenLineageTarget

FILE_BYTES: Final = 64 * 1024 * 1024
"""The size at which a file is put aside for a new one."""
FILES_KEPT: Final = 3
"""Files that were put aside: the oldest is removed for one more."""
_MOST_OF_ANSWER: Final = 1024 * 1024
_LATER: Final = (408, 425, 429)
"""Refusals that ask for another attempt, beside those by which a server blames itself."""


class NotNow(Exception):
    """The event was not taken, and may be later. The message says why, without secrets."""


class Never(Exception):
    """The event was refused, and would be again. The message says why, without secrets."""


class Transport(Protocol):
    def send(self, line: str) -> None:
        """Takes one event as JSON. Raises ``NotNow`` and ``Never``."""


def transport_of(target: OpenLineageTarget) -> Transport:
    """The way to a target; opens nothing yet."""
    return _Http(target) if target.url else _File(Path(target.file))


class _File:
    """A line for each event. Another program may read the file meanwhile: what is put aside keeps its
    content, and is found as ``NAME.1`` and so on.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, line: str) -> None:
        try:
            make_directory(self._path.parent)
            self._make_room(len(line))
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(self._path, flags, FILE_MODE), "ab") as file:
                file.write(f"{line}\n".encode(errors="replace"))
        except OSError as failure:
            raise NotNow(f"cannot write {self._path}: {failure.strerror or failure}") from None

    def _make_room(self, wanted: int) -> None:
        if not self._path.exists() or self._path.stat().st_size + wanted < FILE_BYTES:
            return
        for number in range(FILES_KEPT, 0, -1):
            older = self._aside(number - 1) if number > 1 else self._path
            if older.exists():
                older.replace(self._aside(number))

    def _aside(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


class _Http:
    def __init__(self, target: OpenLineageTarget) -> None:
        self._target = target
        self._client = HttpClient(seconds=target.timeout_ms / 1000, most_bytes=_MOST_OF_ANSWER)

    def send(self, line: str) -> None:
        """The key is read for each event: it may be renewed where it is kept."""
        place = f"cannot send to {self._target.url}"
        try:
            login = login_headers(username=None, password=None, token=self._target.api_key or None)
            headers = {"Content-Type": "application/json", **login}
            self._client.ask(self._target.url, headers=headers, body=line.encode(errors="replace"))
        except HttpRefusal as refusal:
            why = f"{place}: {refusal}{f', {refusal.reason}' if refusal.reason else ''}"
            raise (NotNow if refusal.status >= 500 or refusal.status in _LATER else Never)(why) from None
        except (NoAnswer, Failure) as failure:
            raise NotNow(f"{place}: {said(failure)}") from None
