"""Where things that can be made again are kept: the user's cache directory. Writes files atomically."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flareiac.kernel.diagnostics import Failure, error
from flareiac_spark import codes


def cache_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """``$XDG_CACHE_HOME/flareiac``, by default ``~/.cache/flareiac``. Not created here."""
    base = environment.get("XDG_CACHE_HOME", "")
    # The specification of XDG says that a relative path is to be ignored.
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "flareiac"


def write_atomically(path: Path, content: str) -> None:
    """Replaces a file as a whole; readers see the old or the new one. Raises ``Failure``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
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
