"""The user's cache directory: what can be made again, and may be lost at any time. Touches the file system;
an unusable place is no trouble.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flareiac.kernel.durable_files import READABLE_DIRECTORY_MODE, make_directory, replace_file


def cache_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """``$XDG_CACHE_HOME/flareiac``, by default ``~/.cache/flareiac``. It need not exist."""
    base = Path(environment.get("XDG_CACHE_HOME", ""))
    # The XDG specification says that a relative path is ignored.
    home = base if base.is_absolute() else Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - never raises, as Path.home can
    return home / "flareiac"


def read(name: str) -> bytes | None:
    """Returns the bytes kept under a name, or None."""
    try:
        return (cache_directory() / name).read_bytes()
    except OSError:
        return None


def read_whole(name: str) -> bytes | None:
    """Returns what ``keep_whole`` kept under a name; None for nothing, and for what is damaged."""
    expected, _, content = (read(name) or b"").partition(b"\n")
    return content if hashlib.sha256(content).hexdigest().encode() == expected else None


def keep_whole(name: str, content: bytes) -> None:
    """Keeps content with its digest in front."""
    keep(name, hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def read_json(name: str) -> Any:
    """Returns what ``keep_json`` kept under a name; None for nothing, and for what is damaged."""
    encoded = read_whole(name)
    try:
        return None if encoded is None else json.loads(encoded)
    except (ValueError, RecursionError):
        return None


def keep_json(name: str, data: Any) -> None:
    """Keeps data of JSON's types, with their digest in front."""
    keep_whole(name, json.dumps(data, separators=(",", ":")).encode())


def keep(name: str, content: bytes) -> None:
    """Keeps content under a name, replacing the whole file at once, so that concurrent readers see the old or
    the new one.
    """
    path = cache_directory() / name
    try:
        # Jars in it may be of several users.
        make_directory(cache_directory(), READABLE_DIRECTORY_MODE, durable=False)
        make_directory(path.parent, durable=False)
        replace_file(path, content, durable=False)
    except OSError:
        return
