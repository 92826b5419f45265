"""Paths that Spark may take for patterns. Touches the disk, by reading only.

Names of files and folders may hold glob characters, also those of the folders that a project lies in. As far
as a path is there under its own name, it is no pattern.
"""

import re
from pathlib import Path
from typing import Final

_WILD: Final = re.compile(r"[*?\[{]")
_GLOB: Final = re.compile(r"([\[\]{}*?\\])")
_FILE: Final = "file:"


def is_pattern(path: str | Path) -> bool:
    """Returns True where a path may match other paths, now or later."""
    text = str(path).removeprefix(_FILE)
    return _WILD.search(text) is not None and any(map(_WILD.search, _apart(text)[1]))


def literally(path: str) -> str:
    """A path as a pattern that matches it alone."""
    return _GLOB.sub(r"\\\1", path)


def as_pattern(path: str) -> str:
    """A path as Spark reads it: what is there under its own name stands for itself."""
    text = path.removeprefix(_FILE)
    if _GLOB.search(text) is None:
        return path
    there, rest = _apart(text)
    return f"{path[: len(path) - len(text)]}{Path(literally(str(there)), *rest)}"


def _apart(path: str) -> tuple[Path, tuple[str, ...]]:
    """The first part of a path that is there, and the parts after it."""
    parts = Path(path).parts
    there = Path(*parts[:1])
    for at, part in enumerate(parts[1:], start=1):
        if not (there / part).exists():
            return there, parts[at:]
        there /= part
    return there, ()
