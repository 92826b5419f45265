"""The tables that a job reads as streams. Pure."""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.definition.job_definition import JobDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedTable:
    """One input that streams a table, by its address; ``start_from`` is where its first start begins."""

    input: str
    table: str
    start_from: str


def streamed_tables(job: JobDefinition) -> list[StreamedTable]:
    """The tables that a job reads as streams."""
    return [
        StreamedTable(input=name, table=read.table.address, start_from=read.start_from)
        for name, stream in job.streams.items()
        if (read := stream.source.table_read) is not None
    ]
