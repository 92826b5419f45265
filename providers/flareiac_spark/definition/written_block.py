"""A job as the block that declares it: units of the file, no defaults, nothing that belongs to its engine,
its checkpoint or its streams. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.declared import as_written
from flareiac.sdk.importing import Written, WrittenBlock
from flareiac.sdk.validators import duration_text
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition, Trigger
from flareiac_spark.definition.output_definition import KafkaOutput, TableOutput

_OF_CHECKPOINT: Final = "spark.sql.streaming.minBatchesToRetain"


def written_block(label: str, attributes: Attributes) -> WrittenBlock:
    """The block of a job, from its canonical attributes."""
    job = JobDefinition.of(attributes)
    shown = {
        **as_written(job),
        "trigger": _trigger(job.trigger),
        "code": job.code.path if job.code is not None else None,
        "conf": {name: value for name, value in job.conf.items() if name != _OF_CHECKPOINT},
    }
    blocks = (
        *(_input(name, job_input) for name, job_input in job.inputs.items()),
        *(
            WrittenBlock(type="step", label=name, attributes=as_written(step))
            for name, step in job.ordered_steps.items()
        ),
        *_outputs(job),
    )
    return WrittenBlock(type="job", label=label, attributes=_given(shown), blocks=blocks)


def _trigger(trigger: Trigger) -> Written:
    if trigger.kind == "default":
        return None
    return {trigger.kind: True if trigger.interval_ms is None else duration_text(trigger.interval_ms)}


def _input(name: str, job_input: Input) -> WrittenBlock:
    match job_input:
        case StreamInput():
            return WrittenBlock(type="input", label=name, attributes={"stream": job_input.stream})
        case TableInput():
            return WrittenBlock(type="input", label=name, attributes={"table": job_input.table})
        case FilesInput():
            inner = WrittenBlock(type=job_input.kind, attributes=as_written(job_input))
            return WrittenBlock(type="input", label=name, blocks=(inner,))


def _outputs(job: JobDefinition) -> Iterator[WrittenBlock]:
    """The declared outputs: quarantines and tables of tombstones belong to a stream and to an output."""
    tombstones = {
        table_output.tombstones_of: table_output.table
        for table_output in job.table_outputs.values()
        if table_output.tombstones_of
    }
    for name, output in job.declared_outputs.items():
        match output:
            case TableOutput():
                kept = {"tombstones": tombstones[name]} if name in tombstones else {}
                body = as_written(output)
                yield WrittenBlock(
                    type="output",
                    label=name,
                    attributes=_given({**body, "merge": body.get("merge", {}) | kept}),
                )
            case KafkaOutput():
                outside = {"from": output.source, "mode": None if output.mode == "append" else output.mode}
                inner = WrittenBlock(type=output.kind, attributes=_given(_topic(output)))
                yield WrittenBlock(type="output", label=name, attributes=_given(outside), blocks=(inner,))


def _topic(output: KafkaOutput) -> dict[str, Written]:
    """The topic's own block, where there is one, names its connection."""
    return {
        **as_written(output),
        "topic": output.resource or output.topic,
        "connection": output.connection if output.resource is None else None,
        "headers": output.headers_column or output.headers,
    }


def _given(body: Mapping[str, Written]) -> dict[str, Written]:
    return {name: value for name, value in body.items() if value not in (None, "", [], {}, False)}
