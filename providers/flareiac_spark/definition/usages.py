"""The things that a job reads, writes and keeps to itself."""

from typing import Final, assert_never

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Conflict, Relation, Sharing, Usage
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.definition.column_usage import columns_by_relation, columns_read
from flareiac_spark.definition.input_definition import FilesInput, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity
from flareiac_spark.definition.output_definition import TableOutput

_SHARING: Final = {
    "complete": Sharing.REPLACES,
    "overwrite": Sharing.REPLACES,
    "overwrite_partitions": Sharing.REPLACES_PARTITIONS,
    "merge": Sharing.CHANGES,
}
"""By output mode. Iceberg writes ``complete`` as an overwrite of the whole table with each micro-batch."""
_SAME_CHECKPOINT: Final = Conflict(
    code=codes.SAME_CHECKPOINT,
    what="use the same checkpoint",
    way_out=(
        "A checkpoint holds the offsets and state of one job; two jobs would corrupt it. Declare a "
        "checkpoint block for each job."
    ),
)
_SAME_TOMBSTONES: Final = Conflict(
    code=codes.TOMBSTONE_TABLE_SHARED,
    what="keep their deletes in the same table",
    way_out="Declare a table of tombstones for each job.",
)


def usages(address: str, attributes: Attributes, references: References) -> tuple[Usage, ...]:
    """The tables and topics of its inputs and outputs, and its checkpoint's location."""
    used: list[Usage] = []
    job = JobDefinition.of(attributes)
    given = columns_by_relation(job, references)
    recorded = references.get(address)
    queries = queries_recorded(job, JobIdentity.of(recorded.identity) if recorded else JobIdentity())
    for name, job_input in job.inputs.items():
        match job_input:
            case StreamInput(source=source):
                if (read := source.table_read) is not None:
                    table = read.table.address
                    used.append(_reads(address, job, name, table, Relation.STREAMS_FROM, read.tolerates))
                used += [
                    _reads(address, job, name, block.address, Relation.STREAMS_FROM, ())
                    for block in source.blocks_read
                ]
            case TableInput(table=Reference(table)):
                used.append(_reads(address, job, name, table, Relation.LOOKS_UP, ()))
            case FilesInput():
                pass
            case _:
                assert_never(job_input)
    used += [
        Usage(
            subject=output.table.address,
            holder=address,
            relation=Relation.WRITES,
            reason=_reason(name, output),
            completes=job.is_finite and job.run != "manual" and not job.stopped,
            tolerates=("added columns",) if _takes_added_columns(job, output) else (),
            columns=tuple(output.columns)
            if output.bad_records or output.tombstones_of
            else given.get(output.source.lower()),
            part=output.branch,
            sharing=_SHARING.get(output.mode, Sharing.ADDS),
            mode=output.mode,
            queries=queries,
            counts=output.rebuild == "truncate" and (job.generation or 1) > 1,
        )
        for name, output in job.table_outputs.items()
    ]
    # Tables and topics may have several writers. A table of tombstones may not: a row that one job deletes
    # could be written by the other. Nor may the folder of a checkpoint: its offsets are those of one job.
    used += [
        Usage(
            subject=output.table.address,
            holder=address,
            relation=Relation.HOLDS_ALONE,
            reason="What one deletes while the other writes would not count.",
            conflict=_SAME_TOMBSTONES,
        )
        for output in job.table_outputs.values()
        if output.tombstones_of
    ]
    used += [
        Usage(
            subject=output.resource.address,
            holder=address,
            relation=Relation.WRITES,
            reason=f"output {name}",
            mode=output.mode,
            queries=queries,
        )
        for name, output in job.kafka_outputs.items()
        if output.resource is not None
    ]
    if job.checkpoint is not None:
        used.append(
            Usage(
                subject=job.checkpoint.address,
                holder=address,
                relation=Relation.KEEPS_STATE_IN,
                reason="its checkpoint",
            )
        )
    if job.checkpoint_location is not None:
        used.append(
            Usage(
                subject=job.checkpoint_location,
                holder=address,
                relation=Relation.HOLDS_ALONE,
                reason="Both keep their offsets there.",
                conflict=_SAME_CHECKPOINT,
            )
        )
    return tuple(used)


def _reason(name: str, output: TableOutput) -> str:
    if output.bad_records:
        return f"bad records of input {output.source}"
    return f"tombstones of output {output.tombstones_of}" if output.tombstones_of else f"output {name}"


def queries_recorded(job: JobDefinition, identity: JobIdentity) -> tuple[str, ...] | None:
    """The queries that a job is recorded to run or to have run: none of a batch, None where its present ones
    are not recorded.
    """
    if job.mode == "batch":
        return ()
    current = [query.id for query in identity.queries.values() if query.id is not None]
    if not current or len(current) < len(identity.queries):
        return None
    return tuple(dict.fromkeys((*current, *identity.former_queries)))


def _reads(
    address: str,
    job: JobDefinition,
    name: str,
    table: str,
    relation: Relation,
    tolerates: tuple[str, ...],
) -> Usage:
    columns = columns_read(job.queries.values(), name)
    return Usage(
        subject=table,
        holder=address,
        relation=relation,
        reason=f"input {name}",
        tolerates=tolerates,
        columns=columns,
    )


def _takes_added_columns(job: JobDefinition, output: TableOutput) -> bool:
    """Iceberg's streaming writer leaves out what the table has and the query has not; a batch must give every
    column.
    """
    streamed = job.mode == "stream" and output.mode in ("append", "complete")
    alone = output.bad_records or not job.foreach_batch
    return job.is_finite or (streamed and output.branch is None and alone)
