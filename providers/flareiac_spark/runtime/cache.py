"""Files that are kept in the user's cache or beside the configuration, and complaints about places that
cannot be written.
"""

import json
from pathlib import Path
from typing import Any

from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.durable_files import replace_file
from flareiac_spark import codes


def write_atomically(path: Path, content: str) -> None:
    """Replaces a file as a whole; readers see the old or the new one. Raises ``Failure``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content.encode(), mode=0o644)
    except OSError as trouble:
        raise not_writable(path, trouble) from trouble


def read_json(path: Path) -> Any:
    """What a cache entry holds; None when it is missing or broken (a cache is never a reason to fail)."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def not_writable(path: Path, trouble: OSError) -> Failure:
    """The failure to raise when a file cannot be written."""
    return Failure(
        error(
            codes.CACHE_NOT_WRITTEN,
            f"{path}: {trouble.strerror or trouble}. Make room or give write access, or set XDG_CACHE_HOME "
            "to a directory that can be written.",
        )
    )
