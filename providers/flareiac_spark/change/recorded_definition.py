"""The definition to record when the new one means what the running one means. Pure.

A change that restarts nothing leaves the query as it was started. So what runs stays recorded: the next
change is compared with it, and a restart by hand takes what was judged. Only what a query knows nothing of is
recorded as it is declared now, and a text of which Spark's plans prove that it is the same query.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from flareiac_spark.definition.input_definition import Input, StreamInput
from flareiac_spark.definition.input_identity import same_input
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import KafkaOutput, Output, TableOutput

QUERY: Final = ("inputs", "steps", "step_order", "code", "outputs", "conf")
"""The attributes whose text may change while the query stays the same."""


def reworded_definition(recorded: JobDefinition, desired: JobDefinition) -> JobDefinition:
    """The same with the declared text of the query. Only for a text that Spark proves to be the same query,
    which the plan asks for.
    """
    kept = recorded_definition(recorded, desired)
    outputs = {
        name: replace(output, source=desired.outputs[name].source) if name in desired.outputs else output
        for name, output in kept.outputs.items()
    }
    inputs = {name: _same(name, job_input, kept.inputs) for name, job_input in desired.inputs.items()}
    return replace(kept, inputs=inputs, steps=desired.steps, step_order=desired.step_order, outputs=outputs)


def recorded_definition(recorded: JobDefinition, desired: JobDefinition) -> JobDefinition:
    """The declared definition with the recorded query in it. Only for a change that restarts nothing."""
    return replace(
        desired,
        inputs={
            name: _input(job_input, _same(name, job_input, desired.inputs))
            for name, job_input in recorded.inputs.items()
        },
        steps=recorded.steps,
        step_order=recorded.step_order,
        code=recorded.code,
        outputs={
            name: _output(output, desired.outputs.get(name, output))
            for name, output in recorded.outputs.items()
        },
        conf=recorded.conf,
    )


def _same(name: str, job_input: Input, inputs: Mapping[str, Input]) -> Input:
    """The input among others that reads what this one reads; this one where none does."""
    other_name = same_input(name, job_input, inputs)
    return job_input if other_name is None else inputs[other_name]


def _output(output: Output, declared: Output) -> Output:
    """A recorded output with what only the next generation looks at, and with the declared way to the schema
    that it writes.
    """
    match output, declared:
        case TableOutput(), TableOutput():
            return replace(output, rebuild=declared.rebuild)
        case KafkaOutput(), KafkaOutput():
            return replace(output, schema=declared.schema, registry=declared.registry)
        case _:
            return output


def _input(job_input: Input, declared: Input) -> Input:
    """A recorded input with the block that declares it now, and the place where a first start would begin."""
    match job_input, declared:
        case StreamInput(), StreamInput():
            source = job_input.source.with_first_start_of(declared.source)
            return replace(job_input, stream=declared.stream, source=source)
        case _:
            return job_input
