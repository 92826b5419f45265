"""From a stream block to canonical attributes: one source, its columns, its watermark."""

from datetime import datetime
from typing import Final

from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.paths import Path
from flareiac.kernel.records import encode
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import checked_settings
from flareiac.sdk.validators import parse_duration
from flareiac_spark import codes
from flareiac_spark.column_types import Column, NotAType, normal_type, whole_columns
from flareiac_spark.places import folder_of_pattern, recorded_place
from flareiac_spark.stream.stream_definition import (
    FilesSource,
    RateSource,
    Source,
    StreamDefinition,
    TableSource,
    Watermark,
)

RATE_COLUMNS: Final = (Column(name="timestamp", type="timestamptz"), Column(name="value", type="long"))
VALUE: Final = Column(name="value", type="string")
"""The one column of files whose format is text."""
_ACTIONS_LATER: Final = ("null", "drop", "quarantine")


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """``source`` with its kind, ``columns`` in order, ``watermark`` with its delay in milliseconds."""
    wanted = decoded.attributes
    declared = columns_of(wanted.get("column"), diagnostics)
    source, columns = _source(wanted, declared, references, project, diagnostics)
    _check_bad_records(wanted.get("bad_records"), diagnostics)
    names = [column.name for column in columns] if columns else None
    stream = StreamDefinition(
        source=source,
        columns=tuple(columns),
        watermark=watermark_of(wanted.get("watermark"), names, ("watermark",), diagnostics),
    )
    attributes: Attributes = encode(stream)
    return attributes


def sources(attributes: Attributes, project: Project) -> tuple[str, ...]:
    """The folder whose files it reads."""
    source = StreamDefinition.of(attributes).source
    return (folder_of_pattern(source.path, project),) if isinstance(source, FilesSource) else ()


def columns_of(declared: Data, diagnostics: Diagnostics, at: Path = ("column",)) -> list[Column]:
    """Declared columns with normal types, in order; those whose type is wrong are left out."""
    found: list[Column] = []
    for name, column in (declared or {}).items():
        try:
            kind, required = (
                normal_type(column["type"]) if column["type"] is not UNKNOWN else ("string", False)
            )
        except NotAType as problem:
            diagnostics.error(
                codes.COLUMN_TYPE_OF_FILES, f"Column {name}: {problem}", attribute=(*at, name, "type")
            )
            continue
        found.append(Column(name=name, type=kind, required=required))
    return found


def watermark_of(
    watermark: Data, columns: list[str] | None, at: Path, diagnostics: Diagnostics
) -> Watermark | None:
    """``columns`` None: they are not known."""
    if watermark is None or watermark is UNKNOWN:
        return None
    column, delay = watermark.get("column"), watermark.get("delay")
    milliseconds = parse_duration(delay) if isinstance(delay, str) else None
    if milliseconds is None:
        diagnostics.error(
            codes.INVALID_DURATION,
            f'{delay!r} is not a delay. Write a whole number and a unit, such as "10m": how late a row may '
            "come.",
            attribute=at,
        )
        return None
    if columns is not None and column not in columns:
        diagnostics.error(
            codes.WATERMARK_COLUMN_UNKNOWN,
            f"There is no column {column!r} for the watermark. The columns are "
            f"{', '.join(columns)}.{did_you_mean(str(column), columns)}",
            attribute=at,
        )
        return None
    return Watermark(column=column, delay_ms=milliseconds)


def table_columns(reference: Data, references: References) -> list[Column]:
    """The top-level columns of a table with whole types; none where its schema is not managed here."""
    table = references.get(reference.address) if isinstance(reference, Reference) else None
    if table is None or not table.attributes.get("columns"):
        return []
    return whole_columns(table.attributes["columns"], table.attributes["column_order"])


def files_place(path: Data, at: Path, project: Project, diagnostics: Diagnostics) -> str:
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


def _source(
    wanted: Attributes,
    declared: list[Column],
    references: References,
    project: Project,
    diagnostics: Diagnostics,
) -> tuple[Source, list[Column]]:
    if files := wanted.get("files"):
        return _files(files, declared, references, project, diagnostics)
    if declared:
        why = (
            "Remove the column blocks: a table has its own columns, and a rate stream has timestamp and "
            "value."
        )
        diagnostics.error(codes.COLUMNS_NOT_OF_FILES, why, attribute=("column",))
    if table := wanted.get("table"):
        return _table(table, diagnostics), table_columns(table["table"], references)
    return _rate(wanted.get("rate") or {}, diagnostics), list(RATE_COLUMNS)


def _files(
    files: Attributes,
    declared: list[Column],
    references: References,
    project: Project,
    diagnostics: Diagnostics,
) -> tuple[Source, list[Column]]:
    if not declared and files["format"] == "text":
        declared = [VALUE]
    if not declared:
        diagnostics.error(
            codes.FILE_COLUMNS_MISSING,
            'Spark does not look into files to find out. Write column "name" { type = "..." } for each.',
            attribute=("files",),
        )
    source = FilesSource(
        path=files_place(files["path"], ("files", "path"), project, diagnostics),
        format=files["format"],
        options=checked_settings(files.get("options"), ("files", "options"), references, diagnostics),
        max_files_per_trigger=files.get("max_files_per_trigger"),
    )
    return source, declared


def _rate(rate: Attributes, diagnostics: Diagnostics) -> RateSource:
    ramp_up = rate.get("ramp_up")
    if ramp_up is not None and parse_duration(ramp_up) is None:
        diagnostics.error(
            codes.INVALID_DURATION,
            f'{ramp_up!r} is not a duration. Write for example "10s".',
            attribute=("rate", "ramp_up"),
        )
    return RateSource(
        rows_per_second=rate.get("rows_per_second") or 1, ramp_up=ramp_up, partitions=rate.get("partitions")
    )


def _table(table: Attributes, diagnostics: Diagnostics) -> TableSource:
    start = table.get("start_from") or "earliest"
    if start not in ("earliest", "oldest_snapshot", "latest") and not _is_time(start):
        diagnostics.error(
            codes.INVALID_START,
            f'{start!r} is not a start. Write "earliest", "oldest_snapshot", "latest" or a time with '
            'offset, such as "2026-01-31T00:00:00Z".',
            attribute=("table", "start_from"),
        )
    return TableSource(
        table=table["table"],
        start_from=start,
        max_files_per_trigger=table.get("max_files_per_trigger"),
        skip_deletes=bool(table.get("skip_deletes")),
        skip_overwrites=bool(table.get("skip_overwrites")),
    )


def _is_time(text: Data) -> bool:
    try:
        return datetime.fromisoformat(str(text)).tzinfo is not None
    except ValueError:
        return False


def _check_bad_records(value: Data, diagnostics: Diagnostics) -> None:
    given = value or {}
    action = given.get("action")
    if given.get("quarantine") is not None:
        action = "quarantine"
    if action in (None, "fail", UNKNOWN):
        return
    later = (
        f"The action {action!r} is for a later version."
        if action in _ACTIONS_LATER
        else f"There is no action {action!r}."
    )
    diagnostics.error(
        codes.BAD_RECORDS_UNSUPPORTED,
        f'{later} This version stops at a record that it cannot read: write {{ action = "fail" }} or leave '
        "it out.",
        attribute=("bad_records",),
    )
