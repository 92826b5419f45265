"""Looks at what a purge would delete beside the table: files outside of its location, and files that another
entry, or a copy of the table, still names. Touches the world by reading only.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.locations import is_within
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import names_in
from flareiac_iceberg.catalogs.metadata_files import load
from flareiac_iceberg.format.locations import comparable
from flareiac_iceberg.format.metadata import TableFile

PURGES: Final = ("purge", "purge_everywhere")
"""Values of ``on_destroy`` that delete files."""
_METADATA_FILE: Final = (".metadata.json", ".metadata.json.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doomed:
    """The files that a purge would delete. ``files``: how many; ``outside``: those outside of the table's
    location. ``entries``: other entries of the table; ``unknown``: why they are not known. ``copies``:
    metadata files of the table that are not of its history, as of a copy that another catalog committed to,
    or of a killed writer.
    """

    files: int = 0
    outside: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    unknown: str = ""


def outside_of(location: str, files: Iterable[str], resolve: Callable[[str], str]) -> tuple[str, ...]:
    """The files that do not lie below a location, whose links are followed as theirs are."""

    @cache
    def place(folder: str) -> str:
        return resolve(comparable(folder))

    own = place(location)
    return tuple(file for file in files if not is_within(place(file.rpartition("/")[0]), own))


def copies_of(uuid: str, location: str, metadata: Attributes, catalog: CatalogSpec) -> tuple[str, ...]:
    """Metadata files of the same uuid beside the table's own that are not of its history. Raises ``Failure``
    and ``OSError``.
    """
    known = {_name(location), *map(_name, _history(uuid, metadata, catalog))}
    folder = location.rpartition("/")[0]
    strange = [
        f"{folder}/{name}"
        for name in sorted(names_in(folder, catalog))
        if name.endswith(_METADATA_FILE) and name not in known
    ]
    return tuple(file for file in strange if _uuid_of(file, catalog) == uuid.lower())


def _history(uuid: str, metadata: Attributes, catalog: CatalogSpec) -> list[str]:
    """All metadata files before this one, as far back as files tell."""
    chain = log_of(metadata)
    while chain:
        try:
            before = TableFile(chain[0], load(chain[0], catalog))
        except Failure:
            break
        known = set(chain)
        older = [file for file in log_of(before.metadata) if file not in known]
        if not older or before.uuid.lower() != uuid.lower():
            break
        chain = [*older, *chain]
    return chain


def log_of(metadata: Attributes) -> list[str]:
    """The metadata files that came before, oldest first."""
    return [str(entry["metadata-file"]) for entry in metadata.get("metadata-log") or ()]


def _name(location: str) -> str:
    """In one folder, names tell files apart however the folder is spelled."""
    return location.rpartition("/")[2]


def _uuid_of(file: str, catalog: CatalogSpec) -> str:
    """In lower case; empty where the file is torn or gone, so that no one reads a table from it."""
    try:
        return TableFile(file, load(file, catalog)).uuid.lower()
    except (Failure, KeyError):
        return ""
