"""Estimates the ages of rows from partition values and column bounds. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.manifests import Entry, Manifest
from flareiac_iceberg.format.metadata import nodes, schema_of
from flareiac_iceberg.maintenance.contents import Contents, Counting, partition_sources
from flareiac_iceberg.maintenance.kinds.retention.settings import Retention
from flareiac_iceberg_runtime.civil_time import DAY_MS, HOUR_MS, ceiling, floor
from flareiac_iceberg_runtime.kinds.retention.ages import UNITS, UNKNOWN, Age, Told, age_of, unit_of

_MARGIN_MS: Final = 2 * DAY_MS
"""Figures about old rows serve decisions of the next two days at least."""
_WIDTHS: Final = {"hour": HOUR_MS, "day": DAY_MS}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFigures:
    """The ages of rows by a column of this type, in this unit. ``whole``: by partitions.

    ``ranges``: from when until before when (ms since 1970), rows with a time, files. ``unknown``: files that
    tell nothing. ``guessed``: rows may be fewer than counted.
    """

    type: str
    unit: str
    whole: bool
    ranges: tuple[tuple[int, ...], ...] = ()
    unknown: int = 0
    guessed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The way a table tells the age of rows: the column's field id and type, and by partition spec the places
    and units of its times, finest first. Rows are deleted before the beginning of a ``unit``.
    """

    field_id: int
    type: str
    places: Mapping[int, tuple[tuple[int, str], ...]]
    unit: str
    whole: bool


def measure(settings: Retention, contents: Contents) -> "Ages | None":
    """Counts rows by age; None where there is no row, or no such column."""
    table = contents.table
    column = next((node for node in nodes(schema_of(table.metadata)) if node.path == settings.column), None)
    if column is None or contents.totals.rows == 0:
        return None
    return Ages(
        clock(column.id, column.type, table.specs, table.spec_id),
        contents.now_ms - settings.keep + _MARGIN_MS,
    )


def clock(field_id: int, kind: str, specs: Sequence[Attributes], current: int) -> Clock:
    """The clock of a column, from a table's partition specs."""
    places = {spec["spec-id"]: tuple(_times(spec, field_id, kind)) for spec in specs}
    finest = next((unit for _, unit in places.get(current, ()) if unit != "moment"), None)
    unit = finest or ("day" if kind == "date" else "hour")
    return Clock(field_id=field_id, type=kind, places=places, unit=unit, whole=finest is not None)


def _times(spec: Attributes, field_id: int, kind: str) -> list[tuple[int, str]]:
    """The places of a spec's fields that are times of a column, finest first."""
    fields = enumerate(partition_sources(spec))
    units = [(index, unit_of(transform, kind)) for index, (column, transform) in fields if column == field_id]
    timed = [(index, unit) for index, unit in units if unit is not None]
    return sorted(timed, key=lambda place: UNITS.index(place[1]))


class Ages(Counting[RowFigures]):
    """Counts rows by age, file by file. What is younger than ``young`` (ms) is left out."""

    def __init__(self, row_clock: Clock, young: int) -> None:
        self._clock, self._young = row_clock, young
        self._ranges: dict[tuple[int, int], list[int]] = {}
        self._unknown, self._guessed = 0, False

    def wants(self, manifest: Manifest) -> bool:
        """Returns True if a file of a manifest may be old enough, by the least partition value in its
        list.
        """
        places = self._clock.places.get(manifest.spec_id)
        if not places or places[0][0] >= len(manifest.partitions):
            return True
        least = manifest.partitions[places[0][0]][0]
        width = _WIDTHS.get(places[0][1])
        return (
            least is None
            or width is None
            or int.from_bytes(least, "little", signed=True) * width < self._young
        )

    def add(self, spec_id: int, entry: Entry) -> None:
        """Takes a live data file, with the id of its partition spec, into account."""
        age = age_of(told(entry, self._clock, spec_id))
        if age is UNKNOWN:
            self._unknown += 1
        elif age is not None and age.first < self._young * 1000:
            self._count(age, entry.records)

    def _count(self, age: Age, records: int) -> None:
        self._guessed = self._guessed or not age.sure or age.nulls is None
        unit = self._clock.unit
        span = floor(age.first // 1000, unit), ceiling(-(-age.end // 1000), unit)
        counts = self._ranges.setdefault(span, [0, 0])
        counts[0] += records - (age.nulls or 0)
        counts[1] += 1

    def figures(self) -> RowFigures:
        """The figures that have been counted."""
        return RowFigures(
            type=self._clock.type,
            unit=self._clock.unit,
            whole=self._clock.whole,
            ranges=tuple((*span, *counts) for span, counts in sorted(self._ranges.items())),
            unknown=self._unknown,
            guessed=self._guessed,
        )


def told(entry: Entry, row_clock: Clock, spec_id: int) -> Told:
    """The facts about the column that the metadata of a file holds."""
    places, column = row_clock.places.get(spec_id, ()), row_clock.field_id
    return Told(
        records=entry.records,
        partition=tuple((unit, entry.partition[index]) for index, unit in places),
        nulls=entry.nulls.get(column),
        lower=entry.lower.get(column),
        upper=entry.upper.get(column),
    )
