"""Writes JSON files so that every reader sees the old or the new one, also after a crash. Touches the
disk."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from flareiac import __version__
from flareiac.kernel.data import parse_json
from flareiac_spark_runtime.control.errors import ControlError, ErrorKind
from flareiac_spark_runtime.storage import Place, replace_whole

RELEASE: Final = "release"
"""The key of the release that wrote a file."""
VERSION = 1
"""The version of the files' format. A field that an older release may pass over keeps it; one that it must
not pass over, because it would do something else then, raises it.
"""


def to_json(content: dict[str, Any]) -> bytes:
    """The text of a file; adds the format's version."""
    return json.dumps({"version": VERSION, **content}, ensure_ascii=False, separators=(",", ":")).encode()


def from_json(text: bytes, place: str) -> dict[str, Any]:
    """The content of a file without the version. Raises ``ControlError`` (damaged, future_version)."""
    try:
        content = parse_json(text)
    except ValueError as failure:
        raise ControlError(ErrorKind.DAMAGED, place, f"it is not JSON: {failure}") from None
    if not isinstance(content, dict) or type(content.get("version")) is not int:
        raise ControlError(ErrorKind.DAMAGED, place, "it is no JSON object with a version")
    version = content.pop("version")
    if version > VERSION:
        by = f" and was written by FlareIaC {content[RELEASE]}" if RELEASE in content else ""
        why = f"it has version {version}{by}; this release ({__version__}) reads version {VERSION}"
        raise ControlError(ErrorKind.FUTURE_VERSION, place, why)
    if version < 1:
        raise ControlError(ErrorKind.DAMAGED, place, f"its version is {version}")
    return content


def write_json(path: Place, content: dict[str, Any]) -> None:
    """Replaces the file atomically and durably. Raises ``ControlError`` (unreachable)."""
    try:
        replace_whole(path, to_json(content))
    except OSError as failure:
        raise ControlError(
            ErrorKind.UNREACHABLE, str(path), f"it cannot be written: {failure.strerror or failure}"
        ) from failure


def read_json(path: Place) -> dict[str, Any] | None:
    """The content without the version, or None if there is no such file. Raises ``ControlError``."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise ControlError(
            ErrorKind.UNREACHABLE, str(path), f"it cannot be read: {failure.strerror or failure}"
        ) from failure
    return from_json(text, str(path))


@contextmanager
def locked(path: Path, *, timeout: float = 30.0) -> Iterator[None]:
    """Holds an advisory lock on a file that stays; freed by the system when the holder dies. Raises
    ``ControlError`` (busy).
    """
    deadline = time.monotonic() + timeout
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as failure:
        raise ControlError(
            ErrorKind.UNREACHABLE, str(path), f"it cannot be opened: {failure.strerror or failure}"
        ) from failure
    try:
        while not _try_lock(handle, path):
            if time.monotonic() > deadline:
                raise ControlError(
                    ErrorKind.BUSY, str(path), f"another process has held it for {timeout:.0f} s"
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(handle)


def _try_lock(handle: int, path: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as failure:
        raise ControlError(
            ErrorKind.UNREACHABLE, str(path), f"it cannot be locked: {failure.strerror or failure}"
        ) from failure
    return True
