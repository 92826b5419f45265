"""A streamed table as the driver opens it."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.resolved import Opening, ResolvedSource, SpecColumn, StreamedTable

_SNAPSHOT: Final = "snapshot_id"
"""The field of Iceberg's offsets that names a snapshot."""
_BEGINNING: Final = 0
"""A time before every snapshot, in UTC milliseconds: with it Iceberg begins with the rows that the oldest
live snapshot added, whatever a release does where no time is given. A checkpoint that has begun goes on: only
a time after the newest snapshot sets it back.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTable(ResolvedSource):
    """``start_from``: ``earliest``, ``oldest_snapshot``, ``latest`` or an ISO 8601 time with offset.

    ``columns`` are the table's, for analysis.
    """

    identifier: tuple[str, ...]
    kind: Literal["table"] = "table"
    uuid: str | None = None
    start_from: str = "earliest"
    max_files_per_trigger: int | None = None
    skip_deletes: bool = False
    skip_overwrites: bool = False
    columns: tuple[SpecColumn, ...] = ()

    @property
    def table(self) -> StreamedTable:
        return StreamedTable(identifier=self.identifier, uuid=self.uuid, start_from=self.start_from)

    def is_reported(self, description: str, end: Any) -> bool | None:
        """Spark's description does not say which table it is."""
        del description
        return None if self.version_read(end) is not None else False

    def version_read(self, end: Any) -> str | None:
        number = end.get(_SNAPSHOT) if isinstance(end, Mapping) else None
        return str(number) if isinstance(number, int) else None

    def open(self, opening: Opening, start: int | None) -> Any:
        name = opening.table(self.identifier, self.uuid)
        return opening.session.readStream.options(**self._options(start)).table(name)

    def _options(self, start: int | None) -> dict[str, str]:
        options = {"stream-from-timestamp": str(_BEGINNING if start is None else start)}
        if self.max_files_per_trigger is not None:
            options["streaming-max-files-per-micro-batch"] = str(self.max_files_per_trigger)
        if self.skip_deletes:
            options["streaming-skip-delete-snapshots"] = "true"
        if self.skip_overwrites:
            options["streaming-skip-overwrite-snapshots"] = "true"
        return options


KIND: Final = ResolvedTable
