"""Files by their formats, as a stream or a batch reads them. Pure."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.paths import Path
from flareiac.kernel.types import STRING
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.project import Project
from flareiac.sdk.schema import Attribute
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import one_of
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark.places import recorded_place
from flareiac_spark.settings import READER_OPTIONS
from flareiac_spark.sources.changes import Meaning
from flareiac_spark_runtime.sources.resolved import SpecColumn

FORMATS: Final = ("json", "csv", "parquet", "orc", "avro", "text")
POSITIONAL: Final = ("csv",)
"""Formats whose columns are distinguished by position: leaving one out would shift the others."""
VALUE: Final = Column(name="value", type="string")
"""The one column of files whose format is text."""
FORMAT: Final = Attribute(
    type=STRING,
    description=f"The files' format: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
    required=True,
    validators=(one_of(*FORMATS),),
    on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
)
OPTIONS: Final = Attribute(
    type=SETTINGS,
    description="Options of Spark's reader for this format, by Spark's names.",
    on_change=OnChange(
        ChangeClass.RESTART,
        over_state=ChangeClass.RESULTS_CHANGE,
        note="flareiac explain settings lists those that only restart",
    ),
)


def in_order(columns: tuple[SpecColumn, ...], order: Sequence[str] | None) -> tuple[SpecColumn, ...]:
    """The columns of files as their stream names them."""
    return columns if order is None else tuple(sorted(columns, key=lambda column: order.index(column.name)))


def recorded_folder(path: Data, at: Path, project: Project, diagnostics: Diagnostics) -> str:
    """A folder of files as it is recorded."""
    if path is UNKNOWN:
        return ""
    place = recorded_place(str(path), project)
    if place is None:
        diagnostics.error(
            codes.FILES_PATH_UNSUPPORTED,
            f"{path!r} cannot be read yet. This version reads local or mounted folders: write a path.",
            attribute=at,
        )
        return str(path)
    return place


READING: Final = Meaning(
    attributes=("format", "options"),
    options=READER_OPTIONS,
    text="how {} is read",
    why=(
        "The same files may give other values under other formats and options; what the state holds was "
        "read the old way."
    ),
    undo="write the old format and options again",
    of_state=True,
)
