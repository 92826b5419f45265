"""Keeps of recorded inputs the way of reading where the configuration leaves it open, and the spelling of
types. Pure.
"""

from dataclasses import replace

from flareiac_spark.definition.input_definition import Input, StreamInput
from flareiac_spark.definition.input_identity import same_input
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.sql.relations import columns_read

KEPT = ("inputs",)
"""The attributes in which recorded values stay."""


def with_kept_reading(desired: JobDefinition, recorded: JobDefinition | None) -> JobDefinition:
    """The declared definition, with streams read and types of columns spelled as in the recorded one."""
    if recorded is None:
        return desired
    kept = {name: _kept(desired, name, declared, recorded) for name, declared in desired.inputs.items()}
    return desired if kept == desired.inputs else replace(desired, inputs=kept)


def _kept(job: JobDefinition, name: str, declared: Input, recorded: JobDefinition) -> Input:
    """An input as it goes on after the recorded one that reads the same."""
    alike = {other: each for other, each in recorded.inputs.items() if type(each) is type(declared)}
    same = same_input(name, declared, alike)
    if same is None:
        return declared
    before = alike[same]
    if isinstance(declared, StreamInput) and isinstance(before, StreamInput):
        source = declared.source.keeping(before.source)
        if source != declared.source:
            declared = _read_alike(job, name, replace(declared, source=source))
    columns = {
        column: _as_recorded(kind, before.columns.get(column)) for column, kind in declared.columns.items()
    }
    return declared if columns == declared.columns else replace(declared, columns=columns)


def _as_recorded(declared: str, recorded: str | None) -> str:
    """The recorded text of a type, where only quotes around names of fields differ: earlier releases recorded
    them as they were written. A doubled one is part of a name.
    """
    if recorded is None or "``" in declared or "``" in recorded:
        return declared
    return recorded if recorded.replace("`", "") == declared.replace("`", "") else declared


def _read_alike(job: JobDefinition, name: str, stream_input: StreamInput) -> StreamInput:
    """An input with the columns that steps read, where its records are not judged by all of them."""
    if (
        stream_input.bad_records
        or stream_input.source.always_judges
        or stream_input.source.tells_columns_by_place
        or not job.steps
    ):
        return stream_input
    read = columns_read([step.sql for step in job.steps.values()], name, list(stream_input.columns))
    if stream_input.watermark is not None:
        read |= {stream_input.watermark.column.lower()}
    return replace(
        stream_input,
        columns={column: kind for column, kind in stream_input.columns.items() if column.lower() in read},
    )
