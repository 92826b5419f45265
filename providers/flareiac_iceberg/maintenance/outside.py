"""Counts live files outside of a table's location, where orphan removal does not look. Pure."""

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
        named = (item.location.rpartition("/")[0] for item in contents.manifests)
        known = (*places_in(table.metadata, table.metadata_location), *map(comparable, named))
        self._places = {item for item in known if not is_within(item, self._own)}
        self._files = 0
        if self.is_likely:
            for spec_id, entry in contents.delete_files:
                self.add(spec_id, entry)

    @property
    def is_likely(self) -> bool:
        """Whether the metadata names a place outside; else no manifest is read for this count."""
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
