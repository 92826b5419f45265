"""What a stream block means, as records: one source, its columns, its watermark. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from flareiac.kernel.data import Attributes
from flareiac.sdk.definitions import Number, Ref, Text, definition_of
from flareiac_spark.column_types import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesSource:
    """New files of a folder, or of a pattern of folders. ``options`` are those of Spark's reader, by name."""

    kind: Literal["files"] = "files"
    path: str
    format: Text
    options: Mapping[str, Text]
    max_files_per_trigger: Number | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSource:
    """Made rows, so many a second. ``ramp_up`` is a duration as it is written."""

    kind: Literal["rate"] = "rate"
    rows_per_second: Number
    ramp_up: Text | None
    partitions: Number | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSource:
    """What snapshots add to a table. ``start_from``: ``earliest``, ``oldest_snapshot``, ``latest`` or an ISO
    8601 time with offset; only a first start looks at it.
    """

    kind: Literal["table"] = "table"
    table: Ref
    start_from: Text
    max_files_per_trigger: Number | None
    skip_deletes: bool
    skip_overwrites: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownSource:
    """That of a stream which is not declared."""

    kind: Literal["unknown"] = "unknown"


Source: TypeAlias = FilesSource | RateSource | TableSource | UnknownSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """Rows may be ``delay_ms`` milliseconds late, by the times in ``column``."""

    column: Text
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDefinition:
    """``columns`` are all that are declared, or those of the table, in order."""

    source: Source
    columns: tuple[Column, ...]
    watermark: Watermark | None

    @classmethod
    def of(cls, attributes: Attributes) -> "StreamDefinition":
        """The definition that attributes say. Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)
