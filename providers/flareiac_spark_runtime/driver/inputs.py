"""Opens the inputs of a job: one frame each, either of the real source or an empty one of the declared
columns.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import FilesInput, Input, StreamInput, TableInput
from flareiac_spark_runtime.driver import bad_records, tables
from flareiac_spark_runtime.driver.column_types import quote, spark_columns, spark_type
from flareiac_spark_runtime.driver.refusal import Refusal, refusal_of
from flareiac_spark_runtime.sources.file_values import declared_columns as declared_columns_of
from flareiac_spark_runtime.sources.file_values import valid_texts
from flareiac_spark_runtime.sources.path_patterns import as_pattern
from flareiac_spark_runtime.sources.reader_options import strict
from flareiac_spark_runtime.sources.resolved import SpecColumn, StartRefused
from flareiac_spark_runtime.storage import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class _Opening:
    """See ``flareiac_spark_runtime.sources.resolved.Opening``."""

    session: "SparkSession"
    bad_records: str = ""
    checkpoints: tuple[Place, ...] = ()
    explains: bool = False

    def schema(self, columns: tuple[SpecColumn, ...]) -> Any:
        return spark_columns(columns)

    def table(self, identifier: tuple[str, ...], uuid: str | None) -> str:
        tables.load(self.session, identifier, uuid)
        return tables.quoted_name(identifier)


def open_input(
    session: "SparkSession",
    job_input: Input,
    starts: Mapping[str, int | None],
    checkpoints: tuple[Place, ...] = (),
) -> Any:
    """The frame of an input; touches its system. ``starts``: where streams of tables begin
    (``start_times``); ``checkpoints``: the folders of the job's queries.
    """
    opening = _Opening(session)
    match job_input:
        case StreamInput():
            return bad_records.taken_off(_judged(session, job_input, starts, checkpoints), job_input)
        case TableInput():
            return session.table(opening.table(job_input.identifier, job_input.uuid))
        case FilesInput():
            return _files(session, job_input)
        case _:
            assert_never(job_input)


def _files(session: "SparkSession", files_input: FilesInput) -> Any:
    path, options = as_pattern(files_input.path), strict(files_input.format, files_input.options)
    if files_input.format == "parquet":
        declared = session.createDataFrame([], spark_columns(files_input.columns)).schema
        try:
            frame = declared_columns_of(session, session.read, declared, path, options)
        except StartRefused as refused:
            raise refusal_of(refused.problem) from None
        names = [quote(column.name) for column in files_input.columns]
        return valid_texts(frame, files_input.columns, is_text=False).select(*names)
    return (
        session.read.format(files_input.format)
        .schema(spark_columns(files_input.columns))
        .options(**options)
        .load(path)
    )


def open_marked(
    session: "SparkSession",
    stream_input: StreamInput,
    starts: Mapping[str, int | None],
    checkpoints: tuple[Place, ...] = (),
) -> Any:
    """The frame of a stream with what is known of each bad record, where its source judges records."""
    return _judged(session, stream_input, starts, checkpoints, explains=True)


def explained(
    session: "SparkSession", inputs: Sequence[Input], complaint: str, checkpoints: tuple[Place, ...]
) -> str:
    """The complaint of a query about a bad record, with the reason where the input can find one. Another
    input may have other columns and, on another cluster, a topic of the same name: only the one that the
    complaint names is asked.
    """
    for job_input in inputs:
        if isinstance(job_input, StreamInput) and bad_records.is_of(complaint, job_input.name):
            opening = _Opening(session, job_input.bad_records, checkpoints, explains=True)
            return job_input.source.explained(complaint, opening)
    return complaint


def _judged(
    session: "SparkSession",
    stream_input: StreamInput,
    starts: Mapping[str, int | None],
    checkpoints: tuple[Place, ...],
    *,
    explains: bool = False,
) -> Any:
    try:
        opening = _Opening(session, stream_input.bad_records, checkpoints, explains)
        return stream_input.source.open(opening, starts.get(stream_input.name))
    except StartRefused as refused:
        raise refusal_of(refused.problem) from None


def empty_input(session: "SparkSession", job_input: Input) -> Any:
    """A frame without rows of the declared columns, streaming where the input is; touches no system."""
    streaming = isinstance(job_input, StreamInput)
    source = session.readStream.format("rate").load() if streaming else session.range(0)
    columns = declared_columns(job_input)
    if not columns:
        raise Refusal("NO_COLUMNS", f"No columns are known of the input {job_input.name!r}.")
    return source.selectExpr(
        *[f"CAST(NULL AS {spark_type(column.type)}) AS {quote(column.name)}" for column in columns]
    )


def declared_columns(job_input: Input) -> tuple[SpecColumn, ...]:
    match job_input:
        case StreamInput():
            return job_input.source.frame_columns
        case TableInput() | FilesInput():
            return job_input.columns
        case _:
            assert_never(job_input)
