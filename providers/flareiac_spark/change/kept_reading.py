"""What stays of recorded streams: their way of reading where the configuration leaves it open, and the
spelling of their types. Pure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flareiac_spark.definition.input_identity import same_input
from flareiac_spark.definition.job_definition import JobDefinition, StreamInput
from flareiac_spark.sql.relations import columns_read

KEPT = ("inputs",)
"""The attributes in which recorded values stay."""


def with_kept_reading(desired: JobDefinition, recorded: JobDefinition | None) -> JobDefinition:
    """The declared definition, with streams read and their types spelled as in the recorded one."""
    kept = {name: item for name, item, _before in _kept(desired, recorded)}
    return replace(desired, inputs={**desired.inputs, **kept}) if kept else desired


def _kept(
    desired: JobDefinition, recorded: JobDefinition | None
) -> Iterator[tuple[str, StreamInput, StreamInput]]:
    """Inputs as they go on, with their names and what is recorded of them."""
    streams: Mapping[str, StreamInput] = recorded.streams if recorded is not None else {}
    for name, item in desired.streams.items():
        before = _same(name, item, streams)
        if before is None:
            continue
        source = item.source.keeping(before.source)
        read = _read_alike(desired, name, replace(item, source=source)) if source != item.source else item
        columns = {
            column: _as_recorded(kind, before.columns.get(column)) for column, kind in read.columns.items()
        }
        if source != item.source or columns != item.columns:
            yield name, replace(read, columns=columns), before


def _as_recorded(declared: str, recorded: str | None) -> str:
    """The recorded text of a type, where only quotes around names of fields differ: earlier releases recorded
    them as they were written, or left them out. A doubled one is part of a name.
    """
    if recorded is None or "``" in declared or "``" in recorded:
        return declared
    return recorded if recorded.replace("`", "") == declared.replace("`", "") else declared


def _same(name: str, item: StreamInput, streams: Mapping[str, StreamInput]) -> StreamInput | None:
    """The recorded input that reads what a declared one reads."""
    found = same_input(name, item, streams)
    return None if found is None else streams[found]


def _read_alike(job: JobDefinition, name: str, item: StreamInput) -> StreamInput:
    """An input with the columns that steps read, where its records are not judged by all of them."""
    if item.bad_records or item.source.always_judges or item.source.tells_columns_by_place or not job.steps:
        return item
    read = columns_read([step.sql for step in job.steps.values()], name, list(item.columns))
    if item.watermark is not None:
        read |= {item.watermark.column.lower()}
    return replace(
        item, columns={column: kind for column, kind in item.columns.items() if column.lower() in read}
    )
