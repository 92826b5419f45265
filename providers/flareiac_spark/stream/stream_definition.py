"""What a stream block means, as records: one source, its columns, its watermark. Pure."""

from dataclasses import dataclass

from flareiac.kernel.data import Attributes
from flareiac.sdk.definitions import Text, definition_of
from flareiac_spark.column_types import Column
from flareiac_spark.sources.source import AnySource


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """Rows may be ``delay_ms`` milliseconds late, by the times in ``column``."""

    column: Text
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDefinition:
    """``columns`` are all that are declared, or those of the table, in order."""

    source: AnySource
    columns: tuple[Column, ...]
    watermark: Watermark | None

    @classmethod
    def of(cls, attributes: Attributes) -> "StreamDefinition":
        """The definition that attributes say. Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)
