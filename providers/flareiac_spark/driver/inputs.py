"""Opens the inputs of a job: one frame each, either of the real source or an empty one of the declared
columns.
"""

from collections.abc import Mapping
from typing import Any, assert_never

from flareiac.sdk.secrets import resolve_all
from flareiac_spark.control import (
    FilesInput,
    FilesSource,
    Input,
    RateSource,
    Source,
    SpecColumn,
    StreamInput,
    TableInput,
    TableSource,
)
from flareiac_spark.driver import tables
from flareiac_spark.driver.column_types import quote, spark_columns, spark_type
from flareiac_spark.driver.refusal import Refusal

_RATE_COLUMNS = (SpecColumn(name="timestamp", type="timestamptz"), SpecColumn(name="value", type="long"))


def open_input(session: Any, item: Input, starts: Mapping[str, int | None]) -> Any:
    """The frame of an input; touches its system. ``starts``: where streams of tables begin
    (``start_times``).
    """
    match item:
        case StreamInput():
            return _open_source(session, item.source, starts.get(item.name))
        case TableInput():
            tables.load(session, item.identifier, item.uuid)
            return session.table(tables.quoted_name(item.identifier))
        case FilesInput():
            reader = (
                session.read.format(item.format)
                .schema(spark_columns(item.columns))
                .options(**_strict(item.format, item.options))
            )
            return reader.load(item.path)
        case _:
            assert_never(item)


def empty_input(session: Any, item: Input) -> Any:
    """A frame without rows of the declared columns, streaming where the input is; touches no system."""
    streaming = isinstance(item, StreamInput)
    source = session.readStream.format("rate").load() if streaming else session.range(0)
    columns = declared_columns(item)
    if not columns:
        raise Refusal("NO_COLUMNS", f"No columns are known of the input {item.name!r}.")
    return source.selectExpr(
        *[f"CAST(NULL AS {spark_type(column.type)}) AS {quote(column.name)}" for column in columns]
    )


def declared_columns(item: Input) -> tuple[SpecColumn, ...]:
    match item:
        case StreamInput(source=RateSource()):
            return _RATE_COLUMNS
        case StreamInput(source=source):
            return source.columns
        case TableInput() | FilesInput():
            return item.columns
        case _:
            assert_never(item)


def _open_source(session: Any, source: Source, start: int | None) -> Any:
    reader = session.readStream
    match source:
        case FilesSource():
            reader = (
                reader.format(source.format)
                .schema(spark_columns(source.columns))
                .options(**_strict(source.format, source.options))
            )
            if source.max_files_per_trigger is not None:
                reader = reader.option("maxFilesPerTrigger", source.max_files_per_trigger)
            return reader.load(source.path)
        case RateSource():
            reader = reader.format("rate").option("rowsPerSecond", source.rows_per_second)
            if source.ramp_up is not None:
                reader = reader.option("rampUpTime", source.ramp_up)
            if source.partitions is not None:
                reader = reader.option("numPartitions", source.partitions)
            return reader.load()
        case TableSource():
            tables.load(session, source.identifier, source.uuid)
            return reader.options(**_table_options(source, start)).table(
                tables.quoted_name(source.identifier)
            )
        case _:
            assert_never(source)


def _table_options(source: TableSource, start: int | None) -> dict[str, str]:
    options = {}
    if start is not None:
        options["stream-from-timestamp"] = str(start)
    if source.max_files_per_trigger is not None:
        options["streaming-max-files-per-micro-batch"] = str(source.max_files_per_trigger)
    if source.skip_deletes:
        options["streaming-skip-delete-snapshots"] = "true"
    if source.skip_overwrites:
        options["streaming-skip-overwrite-snapshots"] = "true"
    return options


def _strict(file_format: str, options: Any) -> dict[str, str]:
    """A record that does not fit fails the batch unless the options say otherwise: Spark's default makes
    nulls of it silently.
    """
    strict = {"mode": "FAILFAST"} if file_format in {"json", "csv", "xml"} else {}
    return {**strict, **resolve_all(options)}
