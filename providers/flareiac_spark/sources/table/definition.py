"""The meaning of a ``table`` block of a stream. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Final, Literal

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.dataset_names import DatasetName
from flareiac.sdk.definitions import Flag, Number, Ref, Text
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.column_types import Column, table_columns
from flareiac_spark.settings import BATCH_SIZE, all_of
from flareiac_spark.sources.source import Places, Source, Surroundings, TableRead, without_columns
from flareiac_spark.sources.table.offsets import TableOffsets
from flareiac_spark.sources.table.schema import BLOCK
from flareiac_spark_runtime.sources.resolved import SpecColumn
from flareiac_spark_runtime.sources.table.resolved import ResolvedTable

_FIRST_START: Final = ("start_from",)
_HARMLESS: Final = (
    *all_of(BATCH_SIZE, "max_files_per_trigger"),
    *all_of("where a first start begins", *_FIRST_START),
    *all_of(
        "which commits of the source end the query; the rows that it reads are the same",
        "skip_deletes",
        "skip_overwrites",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSource(Source):
    """The rows that snapshots add to a table. ``start_from``: ``earliest``, ``oldest_snapshot``, ``latest``
    or an ISO 8601 time with offset; only a first start looks at it.
    """

    block: ClassVar = BLOCK
    offsets: ClassVar = TableOffsets()
    harmless: ClassVar = _HARMLESS
    first_start: ClassVar = _FIRST_START
    elsewhere: ClassVar = "source.table-other"

    kind: Literal["table"] = "table"
    table: Ref
    start_from: Text
    max_files_per_trigger: Number | None
    skip_deletes: Flag
    skip_overwrites: Flag

    @classmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple[Source, list[Column]]:
        without_columns(columns, around.diagnostics)
        source = cls.of_block(block)
        start = source.start_from
        if start not in ("earliest", "oldest_snapshot", "latest") and not _is_time(start):
            around.diagnostics.error(
                codes.INVALID_START,
                f'{start!r} is not a start. Write "earliest", "oldest_snapshot", "latest" or a time with '
                'offset, such as "2026-01-31T00:00:00Z".',
                attribute=("table", "start_from"),
            )
        return source, table_columns(source.table, around.references)

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedTable:
        del order
        identifier, uuid = places.table(self.table)
        return ResolvedTable(
            identifier=identifier,
            uuid=uuid,
            start_from=self.start_from,
            max_files_per_trigger=self.max_files_per_trigger,
            skip_deletes=self.skip_deletes,
            skip_overwrites=self.skip_overwrites,
            columns=columns,
        )

    @property
    def shown(self) -> str:
        return f"{self.table}"

    @property
    def place(self) -> str:
        return f"{self.table}"

    def lineage_parts(self, references: References, project: Project) -> tuple[str | DatasetName, ...]:
        del references, project
        return (self.table.address,)

    @property
    def table_read(self) -> TableRead:
        skipped = {"deletes": self.skip_deletes, "overwrites": self.skip_overwrites}
        tolerates = tuple(kind for kind, skips in skipped.items() if skips)
        return TableRead(table=self.table, start_from=self.start_from, tolerates=tolerates)


def _is_time(text: Data) -> bool:
    try:
        return datetime.fromisoformat(str(text)).tzinfo is not None
    except ValueError:
        return False


KIND: Final = TableSource
