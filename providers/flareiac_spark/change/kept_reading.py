"""The recorded way of reading of streams whose configuration leaves it open. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flareiac_spark.definition.input_identity import same_input
from flareiac_spark.definition.job_definition import JobDefinition, StreamInput
from flareiac_spark.sql.relations import columns_read

KEPT = ("inputs",)
"""The attributes in which recorded values stay."""


def with_kept_reading(desired: JobDefinition, recorded: JobDefinition | None) -> JobDefinition:
    """The declared definition, with streams read as the recorded one reads them."""
    kept = {name: item for name, item, _before in _kept(desired, recorded)}
    return replace(desired, inputs={**desired.inputs, **kept}) if kept else desired


def _kept(
    desired: JobDefinition, recorded: JobDefinition | None
) -> Iterator[tuple[str, StreamInput, StreamInput]]:
    """Inputs as they go on, with their names and what is recorded of them."""
    streams: Mapping[str, StreamInput] = recorded.streams if recorded is not None else {}
    for name, item in desired.streams.items():
        before = _same(name, item, streams)
        source = item.source if before is None else item.source.keeping(before.source)
        if before is not None and source != item.source:
            yield name, _read_alike(desired, name, replace(item, source=source)), before


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
