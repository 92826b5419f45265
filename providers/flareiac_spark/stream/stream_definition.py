"""The meaning of a stream block, as records: one source, its columns, its watermark. Pure."""

from dataclasses import field
from typing import Final, Literal

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE
from flareiac.kernel.types import STRING, ObjectType, RefType
from flareiac.sdk.declared import declared
from flareiac.sdk.definitions import Ref, Text, definition_of
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute
from flareiac_spark.column_types import Column
from flareiac_spark.sources.source import AnySource

_BAD_RECORDS: Final = ObjectType(
    {"action": STRING, "quarantine": RefType(("table",))}, frozenset({"action", "quarantine"})
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """Rows may be ``delay_ms`` milliseconds late, by the times in ``column``."""

    column: Text
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRecords:
    """The treatment of records that cannot be read; ``quarantine`` is the table that gets them."""

    action: Literal["null", "drop", "quarantine"]
    quarantine: Ref | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDefinition:
    """``columns`` are all that are declared, or those of the table, in order. ``bad_records`` None: they fail
    the job. ``packages``: Maven coordinates that Spark needs to read it.
    """

    source: AnySource
    columns: tuple[Column, ...]
    watermark: Watermark | None = field(
        metadata=declared(
            Attribute(
                type=ObjectType({"column": STRING, "delay": STRING}),
                description='How late rows may arrive: { column = "ts", delay = "10m" }.',
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            )
        )
    )
    bad_records: BadRecords | None = field(
        default=None,
        metadata=OPTIONAL
        | declared(
            Attribute(
                type=_BAD_RECORDS,
                description="What happens to records that cannot be read, or that fit the columns only in "
                'part: { action = "fail" } (the job fails), "null" (the row is kept, its declared columns '
                'are null), "drop" (the row is left out and counted) or { quarantine = table.bad } (a query '
                "of its own writes it to that table).",
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            )
        ),
    )
    packages: tuple[Text, ...] = field(default=(), metadata=SPARSE)

    @classmethod
    def of(cls, attributes: Attributes) -> "StreamDefinition":
        """The definition that attributes say. Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)
