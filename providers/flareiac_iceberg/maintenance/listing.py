"""What else does a catalog hold, and where? Each catalog is asked once for all tables that are measured together, and anew after that."""

import threading
from typing import TypeAlias

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.places import Occupied
from flareiac_iceberg.catalog.pointers import everything_in
from flareiac_iceberg.catalog.spec import CatalogSpec
from flareiac_iceberg.table.places import comparable

Entry: TypeAlias = tuple[tuple[str, ...], str]
"""The names of a catalog, a namespace and a table, and the table's metadata file."""


class Listings:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Occupied[Entry] | Failure] = {}

    def forget(self) -> None:
        """What is asked from now on is answered anew."""
        with self._lock:
            self._known = {}

    def sharing(self, location: str, catalog: CatalogSpec, own: Entry) -> list[str]:
        """The names of the other tables with files where a location is. Raises ``Failure``."""
        names = {
            ".".join(entry[0][entry[0][0] == catalog.name :]) for entry in self._sharing(location, catalog) if not _is_same(entry, own)
        }
        return sorted(names)

    def _sharing(self, location: str, catalog: CatalogSpec) -> list[Entry]:
        with self._lock:
            found = self._known.get(catalog.place)
            if found is None:
                found = self._known[catalog.place] = _asked(catalog)
        if isinstance(found, Failure):
            raise found
        return [entry for _place, entry in found.sharing(comparable(location))]


def _asked(catalog: CatalogSpec) -> Occupied[Entry] | Failure:
    try:
        there = everything_in(catalog)
    except Failure as failure:
        return failure
    return Occupied((comparable(folder), (names, metadata)) for names, (metadata, folder) in there.items())


def _is_same(entry: Entry, own: Entry) -> bool:
    """A table under its own name, or in the file that it is known by: it may be about to get another name."""
    return entry[0] == own[0] or entry[1] == own[1]
