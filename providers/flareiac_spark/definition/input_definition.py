"""The meaning of the input blocks of a job, as records. Pure."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE
from flareiac.kernel.types import STRING, MapType, RefType
from flareiac.sdk.declared import declared
from flareiac.sdk.definitions import Ref, Text
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute
from flareiac_spark.sources.file_formats import FORMAT, OPTIONS
from flareiac_spark.sources.source import AnySource
from flareiac_spark.stream.stream_definition import Watermark


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamInput:
    """``columns`` are those that steps read, and all where each record is judged by them; ``column_order``
    names all of the stream, where their order counts. ``bad_records``: the action, empty where they fail the
    job.
    """

    kind: Literal["stream"] = "stream"
    stream: Ref = field(
        metadata=declared(
            Attribute(
                type=RefType(("stream",)),
                description="A stream: each batch reads new data.",
                on_change=OnChange(ChangeClass.NEW_GENERATION),
            )
        )
    )
    source: AnySource
    columns: Mapping[str, str]
    watermark: Watermark | None
    column_order: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    bad_records: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInput:
    """A table as it is at each batch. ``columns`` and ``column_order`` as in ``StreamInput``."""

    kind: Literal["table"] = "table"
    table: Ref = field(
        metadata=declared(
            Attribute(
                type=RefType(("table", "data.table")),
                description="A table: each batch reads its current rows.",
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            )
        )
    )
    columns: Mapping[str, str]
    column_order: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesInput:
    """Files as they are when the job runs, with all their columns."""

    kind: Literal["files"] = "files"
    path: str = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="Folder or file, relative to the root module.",
                required=True,
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    format: Text = field(metadata=declared(FORMAT))
    options: Mapping[str, Text] = field(metadata=declared(OPTIONS))
    columns: Mapping[str, str] = field(
        metadata=declared(
            Attribute(
                type=MapType(STRING),
                description=(
                    'Columns by name: { carrier = "string" }. Where the order counts (csv), use column '
                    "blocks."
                ),
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    column_order: tuple[str, ...]


Input: TypeAlias = StreamInput | TableInput | FilesInput
