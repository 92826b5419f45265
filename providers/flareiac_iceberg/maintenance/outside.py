"""Counts live files outside of a table's location, where orphan removal does not look. Pure."""

from collections.abc import Iterable

from flareiac.sdk.locations import is_within, outermost
from flareiac_iceberg.format.locations import comparable, places_in
from flareiac_iceberg.format.manifests import Entry
from flareiac_iceberg.maintenance.contents import Contents, Counting
from flareiac_iceberg.maintenance.figures import Outside


class OutsideFiles(Counting[Outside | None]):
    """Counts the files that are not below the location of the table."""

    def __init__(self, contents: Contents, location: str) -> None:
        table = contents.table
        self._own = comparable(location)
        self._places = self._outside(places_in(table.metadata, table.metadata_location))
        self._files = 0
        # A list of manifests is a request: most tables have nothing outside, and their metadata says so.
        if self.is_likely:
            folders = (manifest.location.rpartition("/")[0] for manifest in contents.manifests)
            self._places |= self._outside(map(comparable, folders))
            for spec_id, entry in contents.delete_files:
                self.add(spec_id, entry)

    def _outside(self, places: Iterable[str]) -> set[str]:
        return {place for place in places if not is_within(place, self._own)}

    @property
    def is_likely(self) -> bool:
        """True where the metadata names a place outside; else no manifest is read for this count."""
        return bool(self._places)

    def add(self, _spec_id: int, entry: Entry) -> None:
        """Takes a live file into account."""
        place = comparable(entry.path)
        if is_within(place, self._own):
            return
        self._files += 1
        if not any(is_within(place, known) for known in self._places):
            self._places.add(place.rpartition("/")[0])

    def figures(self) -> Outside | None:
        """The count; None where there is no place outside."""
        if not self.is_likely:
            return None
        return Outside(places=tuple(sorted(outermost(self._places))), files=self._files)
