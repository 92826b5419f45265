"""A job as the block that declares it: units of the file, no defaults, nothing that belongs to its engine,
its checkpoint or its streams. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.records import encode
from flareiac.sdk.importing import Written, WrittenBlock
from flareiac.sdk.validators import duration_text
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition, Restart, Stability, Trigger
from flareiac_spark.definition.output_definition import KafkaOutput, TableOutput
from flareiac_spark.definition.schema import SCHEMA

_RESTART: Final = Restart(max_failures=3, within_ms=3_600_000, backoff_ms=10_000)
_STABILITY: Final = Stability(within_ms=120_000, on_failure="leave")
_OF_CHECKPOINT: Final = "spark.sql.streaming.minBatchesToRetain"


def written_block(label: str, attributes: Attributes) -> WrittenBlock:
    """The block of a job, from its canonical attributes."""
    job = JobDefinition.of(attributes)
    found: dict[str, Written] = {
        "engine": job.engine,
        "checkpoint": job.checkpoint,
        "mode": job.mode,
        "trigger": _trigger(job.trigger),
        "comment": job.comment,
        "tags": job.tags,
        "pool": job.pool,
        "code": job.code.path if job.code is not None else None,
        "conf": {name: value for name, value in job.conf.items() if name != _OF_CHECKPOINT},
        "restart": None if job.restart == _RESTART else _in_units(encode(job.restart)),
        "stability": None if job.stability == _STABILITY else _in_units(encode(job.stability)),
        "health": None if job.health is None else _in_units(encode(job.health)),
        "foreach_batch": job.foreach_batch,
        "run": job.run,
        "stopped": job.stopped,
        "restart_nonce": job.restart_nonce,
        "accept_result_change": job.accept_result_change,
    }
    blocks = (
        *(_input(name, item) for name, item in job.inputs.items()),
        *(
            WrittenBlock(type="step", label=name, attributes=_given(_in_units(encode(step))))
            for name, step in job.ordered_steps.items()
        ),
        *_outputs(job),
    )
    defaults = {name: item.default for name, item in SCHEMA.attributes.items()}
    shown = {name: value for name, value in found.items() if value not in (None, {}, defaults.get(name))}
    return WrittenBlock(type="job", label=label, attributes=shown, blocks=blocks)


def _trigger(trigger: Trigger) -> Written:
    if trigger.kind == "default":
        return None
    return {trigger.kind: True if trigger.interval_ms is None else duration_text(trigger.interval_ms)}


def _input(name: str, item: Input) -> WrittenBlock:
    match item:
        case StreamInput():
            return WrittenBlock(type="input", label=name, attributes={"stream": item.stream})
        case TableInput():
            return WrittenBlock(type="input", label=name, attributes={"table": item.table})
        case FilesInput():
            body = {
                "path": item.path,
                "format": item.format,
                "columns": item.columns,
                "options": item.options,
            }
            inner = WrittenBlock(type=item.kind, attributes=_given(body))
            return WrittenBlock(type="input", label=name, blocks=(inner,))


def _outputs(job: JobDefinition) -> Iterator[WrittenBlock]:
    """The declared outputs: quarantines and tables of tombstones belong to a stream and to an output."""
    tombstones = {item.tombstones_of: item.table for item in job.table_outputs.values() if item.tombstones_of}
    for name, output in job.declared_outputs.items():
        outside = {"from": output.source, "mode": None if output.mode == "append" else output.mode}
        match output:
            case TableOutput():
                merge = {} if output.merge is None else encode(output.merge)
                kept = {"tombstones": tombstones[name]} if name in tombstones else {}
                body = {
                    "table": output.table,
                    **outside,
                    "merge": _given({**merge, **kept}),
                    "branch": output.branch,
                    "rebuild": None if output.rebuild == "keep" else output.rebuild,
                    "options": output.options,
                }
                yield WrittenBlock(type="output", label=name, attributes=_given(body))
            case KafkaOutput():
                inner = WrittenBlock(type=output.kind, attributes=_given(_topic(output)))
                yield WrittenBlock(type="output", label=name, attributes=_given(outside), blocks=(inner,))


def _topic(output: KafkaOutput) -> dict[str, Written]:
    """The topic's own block, where there is one, names its connection."""
    return {
        "topic": output.resource or output.topic,
        "connection": output.connection if output.resource is None else None,
        "key": output.key,
        "headers": output.headers_column or output.headers,
        "format": None if output.format == "json" else output.format,
        "schema": output.schema,
        "subject": output.subject,
        "options": output.options,
    }


def _given(body: Mapping[str, Written]) -> dict[str, Written]:
    return {name: value for name, value in body.items() if value not in (None, "", [], {}, False)}


def _in_units(body: Mapping[str, Written]) -> dict[str, Written]:
    """Times as durations, at any depth."""
    found: dict[str, Written] = {}
    for name, value in body.items():
        if name.endswith("_ms") and isinstance(value, int):
            found[name.removesuffix("_ms")] = duration_text(value)
        elif value is not None:
            found[name] = _in_units(value) if isinstance(value, dict) and name != "params" else value
    return found
