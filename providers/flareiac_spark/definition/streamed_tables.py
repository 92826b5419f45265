"""The tables that a job reads as streams. Pure."""

from dataclasses import dataclass

from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.stream.stream_definition import TableSource


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedTable:
    """One input that streams a table, by its address; ``start_from`` is where its first start begins."""

    input: str
    table: str
    start_from: str


def streamed_tables(job: JobDefinition) -> list[StreamedTable]:
    """The tables that a job reads as streams."""
    return [
        StreamedTable(input=name, table=item.source.table.address, start_from=item.source.start_from)
        for name, item in job.streams.items()
        if isinstance(item.source, TableSource)
    ]
