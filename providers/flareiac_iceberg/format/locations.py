"""Locations as text, and where a table has files: its location and every folder that its metadata names.
Pure.
"""

import os.path
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from flareiac.kernel.data import Attributes, Data
from flareiac.sdk.locations import outermost, path_of_uri
from flareiac.sdk.project import Project
from flareiac_iceberg.format.identity import identity_of

_PATHS: Final = (
    "write.data.path",
    "write.metadata.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)

_PLAIN: Final = re.compile(r"(?:/(?!\.\.?(?:/|$))[^/\x00-\x1f]+)+")
"""An absolute path that is written in no other way, of printable characters."""


def comparable(location: str, root: Path = Path("/")) -> str:
    """A location as the form that places are compared in; relative ones start at ``root``."""
    return plain_text(absolute_location(location, root) or location)


def places(attributes: Attributes, identity: Attributes, project: Project) -> tuple[str, ...]:
    """The places of a declared, recorded or observed table; at least its location, where an earlier version
    recorded no more.
    """
    known = identity_of(identity)
    places = [
        attributes.get("location"),
        known.location,
        *known.places,
        *_paths(attributes.get("properties")),
    ]
    return outermost(comparable(place, project.root) for place in places if isinstance(place, str))


def places_in(metadata: Attributes, location: str) -> tuple[str, ...]:
    """The places in metadata: where the table is and writes now, and where earlier metadata and manifest
    lists are.
    """
    files = [location, *(entry.get("metadata-file") for entry in metadata.get("metadata-log") or ())]
    lists = (snapshot.get("manifest-list") for snapshot in metadata.get("snapshots") or ())
    folders = {path.rpartition("/")[0] for path in (*files, *lists) if isinstance(path, str)}
    return outermost(map(comparable, (metadata["location"], *_paths(metadata.get("properties")), *folders)))


def _paths(properties: Data) -> Iterator[str]:
    # What is recorded in another shape has no places; whatever reads it as a table reports the damage.
    given = properties if isinstance(properties, dict) else {}
    return (given[name] for name in _PATHS if isinstance(given.get(name), str) and given[name])


def local_path(location: str) -> Path | None:
    """The local path of a location (``/a``, ``file:/a``, ``file:///a``), or None if it is somewhere else."""
    text = _local(location)
    return None if text is None else Path(text)


def _local(location: str) -> str | None:
    if location.startswith("/"):
        return location
    return path_of_uri(location)


def is_writable(location: str) -> bool:
    """Returns True for a place that files are written to: an absolute local one, or a folder of a bucket."""
    if local_path(location) is not None:
        return True
    scheme, _, rest = location.partition("://")
    return scheme in ("s3", "s3a", "s3n") and bool(rest.partition("/")[2])


def absolute_location(text: str, root: Path) -> str | None:
    """A path or ``file:`` URI as an absolute ``file:///`` URI, a place in S3 as it is, or None for another
    scheme or no URI.
    """
    path = _local(text)
    # Most are like this, and a plan asks for many thousands
    if path is not None and text.startswith(("/", "file:///")) and _PLAIN.fullmatch(path):
        return f"file://{path}"
    try:
        parts = urlsplit(text)
    except ValueError:  # such as an opening bracket in the host that nothing closes
        return None
    if parts.scheme in ("s3", "s3a", "s3n") and parts.netloc:
        return f"s3://{parts.netloc}{parts.path.rstrip('/')}"
    if (parts.scheme and parts.scheme != "file") or (path is None and parts.netloc):
        return None
    relative = root / (text[5:] if parts.scheme else text)
    return f"file://{os.path.normpath(path or relative.absolute())}"


def plain_text(location: str) -> str:
    """A location for people and for comparing: local ones as a path."""
    path = _local(location)
    if path is None:
        return location.rstrip("/")
    return path if _PLAIN.fullmatch(path) else str(Path(path))
