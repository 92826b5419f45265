"""Finds which tables of a catalog share a location. A catalog is read once for all tables that are measured
together.
"""

import gzip
import json
import threading
import zlib
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.locations import LocationIndex
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import Registered, unreadable
from flareiac_iceberg.catalogs.file_access import read_file
from flareiac_iceberg.catalogs.reader import everything_in
from flareiac_iceberg.format.locations import comparable, places_in

Entry: TypeAlias = tuple[tuple[str, ...], str]
"""The names of a catalog, a namespace and a table, and the table's metadata file."""
_UUID: Final = "table-uuid"
_AT_ONCE: Final = 16


class Listings:
    """Safe to use from several threads."""

    def __init__(self, resolve: Callable[[str], str] = lambda place: place) -> None:
        self._lock = threading.Lock()
        self._resolve = resolve
        self._entries: dict[str, Mapping[tuple[str, ...], Registered] | Failure] = {}
        self._folders: dict[str, dict[str, list[tuple[tuple[str, ...], Registered]]]] = {}
        self._known: dict[str, LocationIndex[Entry] | Failure] = {}
        self._places: dict[str, tuple[str, ...]] = {}

    def forget(self) -> None:
        """Forgets all answers, so that the catalogs are asked again; a metadata file never changes."""
        with self._lock:
            self._known = {}
            self._entries = {}
            self._folders = {}

    def sharing(self, location: str, catalog: CatalogSpec, own: Entry | None) -> list[str]:
        """The names of the other tables with files where a location is; ``own``: the table itself, if it is
        of this catalog.

        Raises ``Failure``.
        """
        entries = self._sharing(location, catalog)
        with self._lock:
            there = self._registered(catalog)
        return sorted({_shown(entry, catalog) for entry in entries if not _is_same(entry, own, there)})

    def same_table(self, uuid: str, metadata: str, catalog: CatalogSpec, own: Entry | None) -> list[str]:
        """The names under which the catalog has the table that has ``metadata`` as its metadata file, but for
        ``own``. Only entries with their metadata in the same folder are opened. Raises ``Failure``.
        """
        with self._lock:
            there, beside = self._registered(catalog), self._beside(metadata, catalog)
        return sorted(
            _shown((names, registered.metadata), catalog)
            for names, registered in beside
            if not _is_same((names, registered.metadata), own, there)
            and _uuid_in(_metadata_of(registered, catalog)) in (None, uuid.lower())
        )

    def _beside(self, metadata: str, catalog: CatalogSpec) -> list[tuple[tuple[str, ...], Registered]]:
        """The entries whose metadata files are in the folder of this one."""
        folders = self._folders.get(catalog.place)
        if folders is None:
            folders = self._folders[catalog.place] = {}
            for names, registered in self._registered(catalog).items():
                if registered.metadata:
                    folders.setdefault(self._folder(registered.metadata), []).append((names, registered))
        return folders.get(self._folder(metadata), [])

    def _folder(self, metadata: str) -> str:
        return self._resolve(comparable(metadata.rpartition("/")[0]))

    def _sharing(self, location: str, catalog: CatalogSpec) -> list[Entry]:
        with self._lock:
            index = self._known.get(catalog.place)
            if index is None:
                index = self._known[catalog.place] = self._asked(catalog)
        if isinstance(index, Failure):
            raise index
        return [entry for _place, entry in index.sharing(self._resolve(comparable(location)))]

    def _registered(self, catalog: CatalogSpec) -> Mapping[tuple[str, ...], Registered]:
        registered = self._entries.get(catalog.place)
        if registered is None:
            try:
                registered = everything_in(catalog)
            except Failure as failure:
                registered = failure
            self._entries[catalog.place] = registered
        if isinstance(registered, Failure):
            raise registered
        return registered

    def _asked(self, catalog: CatalogSpec) -> LocationIndex[Entry] | Failure:
        try:
            there = self._registered(catalog)
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                places = list(
                    pool.map(lambda registered: self._places_of(registered, catalog), there.values())
                )
        except Failure as failure:
            return failure
        return LocationIndex(
            (place, (names, registered.metadata))
            for (names, registered), table_places in zip(there.items(), places, strict=True)
            for place in table_places
        )

    def _places_of(self, registered: Registered, catalog: CatalogSpec) -> tuple[str, ...]:
        """The places of a table's files, by its own metadata and by the catalog."""
        known = self._places.get(registered.metadata)
        if known is None:
            answer = _places_in_metadata(registered, catalog)
            known = self._places[registered.metadata] = tuple(
                dict.fromkeys(self._resolve(comparable(place)) for place in (registered.folder, *answer))
            )
        return known


def _places_in_metadata(registered: Registered, catalog: CatalogSpec) -> tuple[str, ...]:
    metadata = _metadata_of(registered, catalog)
    if metadata is None:
        return ()
    if not isinstance(metadata, dict) or not isinstance(metadata.get("location"), str):
        raise Failure(unreadable(catalog, f"the metadata {registered.metadata} names no location"))
    return places_in(metadata, registered.metadata)


def _metadata_of(registered: Registered, catalog: CatalogSpec) -> Data:
    """None of what is no table, and where no one can read the table any more. Raises ``Failure``."""
    if not registered.metadata:
        return None
    try:
        return (
            registered.fetch()[1] if registered.fetch is not None else _content(registered.metadata, catalog)
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise Failure(unreadable(catalog, f"the metadata {registered.metadata}: {error}")) from error


def _uuid_in(metadata: Data) -> str | None:
    """In lower case; an empty one where the table is gone, None where it has none."""
    if metadata is None:
        return ""
    if not isinstance(metadata, dict) or _UUID not in metadata:
        return None
    return str(metadata[_UUID]).lower()


def _shown(entry: Entry, catalog: CatalogSpec) -> str:
    return ".".join(entry[0][entry[0][0] == catalog.name :])


def _content(location: str, catalog: CatalogSpec) -> Attributes:
    content = read_file(location, catalog)
    metadata: Attributes = json.loads(
        gzip.decompress(content) if location.endswith(".gz.metadata.json") else content
    )
    return metadata


def _is_same(entry: Entry, own: Entry | None, there: Collection[tuple[str, ...]]) -> bool:
    """A table under its own name; or in its own file, where nothing has that name: it is about to get it."""
    if own is None:
        return False
    renamed = own[0] not in there and entry[1] == own[1] and entry[0][0] == own[0][0]
    return entry[0] == own[0] or renamed
