"""The dropped tables that nothing can bring back, so that their files need no protection. Touches the world
by reading only.
"""

from collections.abc import Collection, Mapping
from typing import Final

from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import is_there, names_in
from flareiac_iceberg.catalogs.metadata_files import later, load
from flareiac_iceberg.format.identity import TableIdentity

_MOST_STRANGE: Final = 16
"""With more unknown metadata files than this in a folder, none is opened: the table may go on."""


def unrecoverable(dropped: Mapping[str, TableIdentity], beside: str, catalog: CatalogSpec) -> list[str]:
    """The names of the dropped tables, given by their identities, that nothing can bring back: the files that
    could are gone. In doubt, none.

    ``beside`` is the metadata file of the table in whose place they were.
    """
    try:
        gone = {
            name: identity
            for name, identity in dropped.items()
            if not is_there(identity.metadata_location, catalog)
        }
        if not gone or not is_there(beside, catalog):  # a volume that is not mounted has none of them
            return []
        own = load(beside, catalog)
        known = {beside, *(str(entry["metadata-file"]) for entry in own.get("metadata-log") or ())}
        return [name for name, identity in gone.items() if not _may_go_on(identity, known, catalog)]
    except (Failure, OSError):
        return []


def _may_go_on(table_identity: TableIdentity, known: Collection[str], catalog: CatalogSpec) -> bool:
    """Returns True if there may be a later metadata file of the table; ``known`` ones are another's. Raises
    ``Failure`` and ``OSError``.
    """
    if table_identity.last_is_known:
        return False
    folder, _, name = table_identity.metadata_location.rpartition("/")
    try:
        names = names_in(folder, catalog)
    except FileNotFoundError:
        return False
    strange = [
        f"{folder}/{each}"
        for version in later(names, name)
        for each in version
        if f"{folder}/{each}" not in known
    ]
    return len(strange) > _MOST_STRANGE or any(
        load(each, catalog)["table-uuid"] == table_identity.uuid for each in strange
    )
