"""The columns of a job's inputs. Pure."""

from collections.abc import Sequence
from typing import assert_never

from flareiac.sdk.references import References
from flareiac_spark.column_types import Column, table_columns
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.stream.stream_definition import StreamDefinition


def input_columns(job_input: Input, references: References) -> Sequence[Column]:
    """All columns of an input in order, also those that no step reads."""
    match job_input:
        case StreamInput(stream=reference):
            stream = references.get(reference.address)
            return StreamDefinition.of(stream.attributes).columns if stream else ()
        case TableInput(table=table):
            return table_columns(table, references)
        case FilesInput(columns=columns):
            return [Column.of_text(name, text) for name, text in columns.items()]
        case _:
            assert_never(job_input)
