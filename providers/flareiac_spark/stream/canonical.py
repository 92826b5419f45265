"""From a stream block to canonical attributes: one source, its columns, its watermark."""

from flareiac.kernel.column_types import TypeTextError
from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.paths import Path
from flareiac.kernel.records import encode
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.validators import parse_duration
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark.places import folder_of_pattern
from flareiac_spark.sources.source import Source, Surroundings, UnknownSource, kinds
from flareiac_spark.stream.bad_records import bad_records_of, judges_records
from flareiac_spark.stream.stream_definition import StreamDefinition, Watermark


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """``source`` with its kind, ``columns`` in order, ``watermark`` with its delay in milliseconds."""
    wanted = decoded.attributes
    declared = columns_of(wanted.get("column"), diagnostics)
    bad = wanted.get("bad_records")
    around = Surroundings(
        references=references,
        project=project,
        diagnostics=diagnostics,
        judges_records=judges_records(bad),
    )
    source, columns = _source(wanted, declared, around)
    names = [column.name for column in columns] if columns else None
    stream = StreamDefinition(
        source=source,
        columns=tuple(columns),
        watermark=watermark_of(wanted.get("watermark"), names, ("watermark",), diagnostics),
        bad_records=bad_records_of(bad, source, references, diagnostics),
        packages=source.packages,
    )
    attributes: Attributes = encode(stream)
    return attributes


def sources(attributes: Attributes, project: Project) -> tuple[str, ...]:
    """The folder whose files it reads."""
    folder = StreamDefinition.of(attributes).source.folder
    return () if folder is None else (folder_of_pattern(folder, project),)


def columns_of(declared: Data, diagnostics: Diagnostics, at: Path = ("column",)) -> list[Column]:
    """Declared columns with normal types, in order; those whose type is wrong are left out."""
    columns: list[Column] = []
    for name, column in (declared or {}).items():
        try:
            text = column["type"] if column["type"] is not UNKNOWN else "string"
            columns.append(Column.declared(name, text))
        except TypeTextError as problem:
            diagnostics.error(
                codes.COLUMN_TYPE_OF_FILES, f"Column {name}: {problem}", attribute=(*at, name, "type")
            )
    return columns


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


def _source(wanted: Attributes, declared: list[Column], around: Surroundings) -> tuple[Source, list[Column]]:
    for name, kind in kinds():
        if (block := wanted.get(name)) is not None:
            return kind.read(block, declared, around)
    return UnknownSource(), declared
