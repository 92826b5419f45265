"""Where does a table have files? Its location, and everywhere else that its metadata tells of. Pure."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.places import outermost
from flareiac.sdk.provider import Project
from flareiac_iceberg.catalog.spec import absolute_location, plain_text

_PATHS: Final = ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")


def comparable(location: str, root: Path = Path("/")) -> str:
    """A location as the form that places are compared in; relative ones start at ``root``."""
    return plain_text(absolute_location(location, root) or location)


def places(attributes: Attributes, identity: Attributes, project: Project) -> tuple[str, ...]:
    """Of a declared, recorded or observed table; what no version before this one recorded is its location at least."""
    told = [attributes.get("location"), identity.get("location"), *(identity.get("places") or ()), *_paths(attributes.get("properties"))]
    return outermost(comparable(item, project.root) for item in told if isinstance(item, str))


def places_in(metadata: Attributes, location: str) -> list[str]:
    """What metadata tells: where the table is and writes now, and where earlier metadata and manifest lists are."""
    files = [location, *(item.get("metadata-file") for item in metadata.get("metadata-log") or ())]
    lists = (item.get("manifest-list") for item in metadata.get("snapshots") or ())
    folders = {item.rpartition("/")[0] for item in (*files, *lists) if isinstance(item, str)}
    return list(outermost(map(comparable, (metadata["location"], *_paths(metadata.get("properties")), *folders))))


def _paths(properties: Attributes | None) -> Iterator[str]:
    given = properties or {}
    return (given[name] for name in _PATHS if isinstance(given.get(name), str) and given[name])
