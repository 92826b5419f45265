"""Estimates the ages of rows, from partition values where the table is partitioned by time of the column,
else from column bounds. Pure.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.manifests import Entry, Manifest
from flareiac_iceberg.format.metadata import nodes, schema_of
from flareiac_iceberg.maintenance.contents import Contents, Counting
from flareiac_iceberg.maintenance.kinds.retention.settings import Retention

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 86_400_000
_MARGIN_MS: Final = 2 * DAY_MS
"""Figures about old rows serve decisions of the next two days at least."""
_FINEST: Final = ("hour", "day", "month", "year")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFigures:
    """The ages of rows by a column of this type, in this unit. ``whole``: by partitions.

    ``ranges``: from when until before when (ms since 1970), rows, files. ``unknown``: files that tell
    nothing. ``guessed``: rows may be fewer than counted.
    """

    type: str
    unit: str
    whole: bool
    ranges: tuple[tuple[int, ...], ...] = ()
    unknown: int = 0
    guessed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """How a table tells the age of rows: the column's field id and type, and by partition spec the place and
    unit of its time.
    """

    field_id: int
    type: str
    places: Mapping[int, tuple[int, str]]
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
    places: dict[int, tuple[int, str]] = {}
    for spec in specs:
        found = [
            (index, _unit(item["transform"], kind))
            for index, item in enumerate(spec["fields"])
            if item["source-id"] == field_id
        ]
        timed = [(index, unit) for index, unit in found if unit in _FINEST]
        if timed:
            places[spec["spec-id"]] = min(timed, key=lambda item: _FINEST.index(item[1]))
    whole = current in places
    unit = places[current][1] if whole else "day" if kind == "date" else "hour"
    return Clock(field_id=field_id, type=kind, places=places, unit=unit, whole=whole)


def _unit(transform: str, kind: str) -> str:
    return "day" if transform == "identity" and kind == "date" else transform


def floor(ms: int, unit: str) -> int:
    """The beginning of the unit (UTC) that a time falls into."""
    match unit:
        case "hour":
            return ms - ms % HOUR_MS
        case "day":
            return ms - ms % DAY_MS
        case _:
            at = datetime.fromtimestamp(ms / 1000, UTC)
            month = at.month if unit == "month" else 1
            return int(datetime(at.year, month, 1, tzinfo=UTC).timestamp() * 1000)


class Ages(Counting[RowFigures]):
    """Counts rows by age, file by file. What is younger than ``young`` (ms) is left out."""

    def __init__(self, row_clock: Clock, young: int) -> None:
        self._clock, self._young = row_clock, young
        self._ranges: dict[tuple[int, int], list[int]] = {}
        self._unknown, self._guessed = 0, False

    def wants(self, manifest: Manifest) -> bool:
        """Whether a file of a manifest may be old enough, by the least partition value that its list
        tells.
        """
        place = self._clock.places.get(manifest.spec_id)
        if place is None or place[0] >= len(manifest.partitions):
            return True
        least = manifest.partitions[place[0]][0]
        width = {"hour": HOUR_MS, "day": DAY_MS}.get(place[1])
        return (
            least is None
            or width is None
            or int.from_bytes(least, "little", signed=True) * width < self._young
        )

    def add(self, spec_id: int, entry: Entry) -> None:
        """Takes a live data file, with the id of its partition spec, into account."""
        if _all_null(entry, self._clock, spec_id):
            return
        span = _span(spec_id, entry, self._clock)
        if span is None:
            self._unknown += 1
        elif span[0] < self._young:
            by_bounds = spec_id not in self._clock.places
            self._guessed = self._guessed or (by_bounds and entry.nulls.get(self._clock.field_id) != 0)
            counts = self._ranges.setdefault(span, [0, 0])
            counts[0] += entry.records
            counts[1] += 1

    def figures(self) -> RowFigures:
        """What has been counted."""
        return RowFigures(
            type=self._clock.type,
            unit=self._clock.unit,
            whole=self._clock.whole,
            ranges=tuple((*span, *counts) for span, counts in sorted(self._ranges.items())),
            unknown=self._unknown,
            guessed=self._guessed,
        )


def _all_null(entry: Entry, row_clock: Clock, spec_id: int) -> bool:
    """Rows without a time are never old."""
    if spec_id in row_clock.places:
        return entry.partition[row_clock.places[spec_id][0]] is None
    return entry.nulls.get(row_clock.field_id) == entry.records


def _span(spec_id: int, entry: Entry, row_clock: Clock) -> tuple[int, int] | None:
    """From when until before when a file's rows are, in ms since 1970."""
    if spec_id in row_clock.places:
        index, unit = row_clock.places[spec_id]
        return _period(entry.partition[index], unit)
    lower, upper = entry.lower.get(row_clock.field_id), entry.upper.get(row_clock.field_id)
    if lower is None or upper is None:
        return None
    first, last = _ms(lower, row_clock.type), _ms(upper, row_clock.type)
    step = DAY_MS if row_clock.type == "date" else HOUR_MS
    return first - first % step, last - last % step + step


def _period(value: Data, unit: str) -> tuple[int, int]:
    """A partition value: hours, days, months or years since 1970."""
    match unit:
        case "hour":
            return value * HOUR_MS, (value + 1) * HOUR_MS
        case "day":
            days = value if isinstance(value, int) else (value - _EPOCH_DAY).days
            return days * DAY_MS, (days + 1) * DAY_MS
        case "month":
            return _month(value), _month(value + 1)
        case _:
            return _month(value * 12), _month(value * 12 + 12)


_EPOCH_DAY: Final = datetime(1970, 1, 1, tzinfo=UTC).date()


def _month(number: int) -> int:
    return int(datetime(1970 + number // 12, number % 12 + 1, 1, tzinfo=UTC).timestamp() * 1000)


def _ms(value: bytes, kind: str) -> int:
    """A bound as Iceberg writes it: days or microseconds since 1970, little-endian."""
    number = int.from_bytes(value, "little", signed=True)
    return number * DAY_MS if kind == "date" else number // 1000
