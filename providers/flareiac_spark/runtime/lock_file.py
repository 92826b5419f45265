"""The lock file ``.flareiac.lock.hcl``: which jars a project runs with, by coordinate and SHA-256. The same
content gives the same text.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.sources import Source
from flareiac_spark import codes
from flareiac_spark.runtime.cache import write_atomically
from flareiac_spark.runtime.coordinates import Coordinate, parse_coordinate

LOCK_FILE = ".flareiac.lock.hcl"
_HEADER = """\
# Written by "flareiac init". Keep it under version control: every start uses exactly these jars.
"""
_BLOCK = re.compile(r'jar\s+"([^"\n]*)"\s*\{\s*sha256\s*=\s*"([0-9a-f]{64})"\s*\n\s*\}\s*(?:\n|\Z)')
_BLANK = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*")


def render_lock(hashes: Mapping[Coordinate, str]) -> str:
    """The text of a lock file, sorted by coordinate."""
    blocks = (
        f'\njar "{coordinate}" {{\n  sha256 = "{hashes[coordinate]}"\n}}\n' for coordinate in sorted(hashes)
    )
    return _HEADER + "".join(blocks)


def read_lock(project_root: Path) -> Mapping[Coordinate, str] | None:
    """SHA-256 by coordinate; None when there is no lock file. Raises ``Failure`` when it cannot be
    understood.
    """
    path = project_root / LOCK_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as failure:
        raise Failure(error(codes.LOCK_FILE_UNREADABLE, f"{path}: {failure}. {_WAY_OUT}")) from failure
    return parse_lock(text)


def write_lock(project_root: Path, hashes: Mapping[Coordinate, str]) -> bool:
    """Writes the lock file; False when it holds this already. Raises ``Failure``."""
    path, text = project_root / LOCK_FILE, render_lock(hashes)
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    write_atomically(path, text)
    return True


@lru_cache(maxsize=4)  # a plan asks for each job of the project
def parse_lock(text: str) -> Mapping[Coordinate, str]:
    """The content of a lock file's text. Raises ``Failure`` at the first place that is not as ``render_lock``
    writes it.
    """
    source = Source(LOCK_FILE, text.replace("\r\n", "\n"))
    hashes: dict[Coordinate, str] = {}
    at = _skip_blank(source.text, 0)
    while at < len(source.text):
        match = _BLOCK.match(source.text, at)
        coordinate = parse_coordinate(match.group(1)) if match else None
        if match is None or coordinate is None or coordinate in hashes:
            end = source.text.find("\n", at)
            place = source.span(at, end if end >= 0 else len(source.text))
            raise Failure(
                error(
                    codes.LOCK_FILE_UNREADABLE,
                    f"This is not a jar block with a SHA-256. {_WAY_OUT}",
                    subject=place,
                )
            )
        hashes[coordinate] = match.group(2)
        at = _skip_blank(source.text, match.end())
    return hashes


_WAY_OUT = f'Take {LOCK_FILE} from version control again, or remove it and run "flareiac init".'


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
