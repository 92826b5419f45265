"""The user's cache directory: small files that may be lost at any time. Touches the file system; an unusable
place is no trouble.
"""

import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """``$XDG_CACHE_HOME/flareiac``, else ``~/.cache/flareiac``. It need not exist."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path(os.path.expanduser("~/.cache"))) / "flareiac"  # noqa: PTH111 - never raises, as Path.home can


def read(name: str) -> bytes | None:
    """What was kept under a name, or None."""
    try:
        return (cache_dir() / name).read_bytes()
    except OSError:
        return None


def keep(name: str, content: bytes) -> None:
    """Keeps content under a name, replacing the whole file at once, so that concurrent readers see the old or
    the new one.
    """
    path = cache_dir() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            file.write(content)
        Path(file.name).replace(path)
    except OSError:
        return
