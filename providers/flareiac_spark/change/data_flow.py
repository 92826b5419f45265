"""The data flow through a job: what it reads and writes, and of which columns it makes each column. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Relation
from flareiac.sdk.data_flow import EVERY_COLUMN, ColumnFlow, DataFlow, Link, SourceColumn
from flareiac.sdk.references import References
from flareiac_spark.change.query_changes import query_of
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import KafkaOutput, Output, TableOutput
from flareiac_spark.sql.column_origins import Origins, column_origins

_WRITES: Final = Relation.WRITES


def data_flow(address: str, attributes: Attributes, _references: References) -> DataFlow:
    """A stream stands between its topics or table and the job; files that no block declares are left out."""
    job = JobDefinition.of(attributes)
    links: dict[Link, None] = {}
    for each in job.inputs.values():
        links.update(dict.fromkeys(_into(address, each)))
    targets = {name: target for name, output in job.outputs.items() if (target := _target(output))}
    links.update(dict.fromkeys(Link(source=address, target=to, relation=_WRITES) for to in targets.values()))
    columns = (
        flow
        for name, target in targets.items()
        if name in job.declared_outputs
        for flow in _columns(address, job, name, target)
    )
    return DataFlow(links=tuple(links), columns=tuple(columns))


def _into(address: str, each: Input) -> Iterator[Link]:
    match each:
        case StreamInput(stream=stream, source=source):
            read = source.table_read
            for origin in (*(() if read is None else (read.table,)), *source.blocks_read):
                yield Link(source=origin.address, target=stream.address, relation=Relation.STREAMS_FROM)
            yield Link(source=stream.address, target=address, relation=Relation.STREAMS_FROM)
        case TableInput(table=Reference(table)):
            yield Link(source=table, target=address, relation=Relation.LOOKS_UP)
        case FilesInput():
            pass
        case _:
            assert_never(each)


def _target(output: Output) -> str | None:
    match output:
        case TableOutput(table=table):
            return table.address
        case KafkaOutput(resource=resource):
            return None if resource is None else resource.address
        case _:
            return None


def _columns(address: str, job: JobDefinition, name: str, target: str) -> Iterator[ColumnFlow]:
    """A query that cannot be followed gives one uncertain flow into every column."""
    origins = column_origins(query_of(job, name, {}))
    if origins is None:
        yield ColumnFlow(target=target, column=EVERY_COLUMN, by=address, is_certain=False)
        return
    read = {relation.lower(): _origin(each) for relation, each in job.inputs.items()}
    for column, made_of in origins.items():
        yield _column(target, column, address, made_of, read)


def _column(
    target: str, column: str, address: str, made_of: Origins | None, read: Mapping[str, str]
) -> ColumnFlow:
    """``read``: where inputs come from. What a step in Python gives is none of them."""
    known = made_of is not None and all(relation in read for relation, _column in made_of)
    sources = sorted((read[relation], name) for relation, name in made_of or () if relation in read)
    columns = tuple(SourceColumn(address=origin, column=name) for origin, name in sources)
    return ColumnFlow(target=target, column=column, by=address, sources=columns, is_certain=known)


def _origin(each: Input) -> str:
    """The address of a stream or a table; the path of files, which no block declares."""
    match each:
        case StreamInput(stream=stream):
            return stream.address
        case TableInput(table=table):
            return table.address
        case FilesInput(path=path):
            return path
        case _:
            assert_never(each)
