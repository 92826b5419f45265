"""The definition that a job was asked to run last, where that is not the recorded one. Pure.

An apply that failed or died, a control directory from a backup and a host that lost its last writes leave
another query among what should run than the state has recorded. A declared definition is compared with that
query, too.
"""

from collections.abc import Sequence
from dataclasses import replace

from flareiac.sdk.project import Project
from flareiac_spark.column_types import Column
from flareiac_spark.definition.code import code_place
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput
from flareiac_spark.definition.job_definition import CodeFolder, JobDefinition, Trigger
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.definition.step_definition import Dedup, Step
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.places import absolute_place
from flareiac_spark.stream.stream_definition import Watermark
from flareiac_spark_runtime.control import FilesInput as SpecFiles
from flareiac_spark_runtime.control import Input as SpecInput
from flareiac_spark_runtime.control import JobSpec
from flareiac_spark_runtime.control import Step as SpecStep
from flareiac_spark_runtime.control import StreamInput as SpecStream
from flareiac_spark_runtime.control import Watermark as SpecWatermark
from flareiac_spark_runtime.sources.resolved import SpecColumn


def running_definition(case: JobCase, recorded: JobDefinition) -> JobDefinition:
    """The recorded definition with the query, the trigger and the settings that the job was asked to run
    last; the recorded one where these are the same, or are of a release that is not understood.
    """
    spec = case.facts.spec
    if spec is None or case.facts.digest in (None, recorded_identity(case.request.recorded).digest):
        return recorded
    asked = {output.name: output for output in spec.outputs}
    outputs = {
        name: replace(output, source=asked[name].source) if name in asked else output
        for name, output in recorded.outputs.items()
    }
    kept = {**case.desired.steps, **recorded.steps}
    running = replace(
        recorded,
        inputs=_inputs(case, recorded, spec),
        steps={step.name: _step(step, kept.get(step.name)) for step in spec.steps},
        step_order=tuple(step.name for step in spec.steps),
        code=_code(case, recorded, spec),
        outputs=outputs,
        conf=dict(spec.conf),
        trigger=Trigger(kind=spec.trigger.kind, interval_ms=spec.trigger.interval_ms),
        foreach_batch=spec.foreach_batch,
    )
    same_order = running.step_order == tuple(recorded.ordered_steps)
    return replace(running, step_order=recorded.step_order) if same_order else running


def _inputs(case: JobCase, recorded: JobDefinition, spec: JobSpec) -> dict[str, Input]:
    """Takes from what declares an input only what a spec does not hold: the names of blocks."""
    known = {**case.desired.inputs, **recorded.inputs}
    return {
        spec_input.name: _input(spec_input, known[spec_input.name], case.request.project)
        for spec_input in spec.inputs
        if spec_input.name in known
    }


def _input(spec_input: SpecInput, known: Input, project: Project) -> Input:
    match spec_input, known:
        case SpecStream(), StreamInput():
            return replace(
                known,
                source=known.source.read_as(spec_input.source, project),
                columns=known.columns if spec_input.source.table else _columns(spec_input.source.columns),
                watermark=_watermark(spec_input.watermark),
                bad_records=spec_input.bad_records,
            )
        case SpecFiles(), FilesInput():
            there = str(absolute_place(known.path, project)) == spec_input.path
            return replace(
                known,
                path=known.path if there else spec_input.path,
                format=spec_input.format,
                options=spec_input.options,
                columns=_columns(spec_input.columns),
            )
        case _:
            return known


def _columns(run: Sequence[SpecColumn]) -> dict[str, str]:
    return {
        column.name: Column(name=column.name, type=column.type, required=column.required).text
        for column in run
    }


def _step(step: SpecStep, known: Step | None) -> Step:
    """``stateful`` is said for plans alone: no application is asked for it."""
    dedup = step.dedup
    return Step(
        sql=step.sql or "",
        python=step.python,
        params=known.params if known is not None and (known.params or {}) == step.params else step.params,
        stateful=known.stateful if known is not None else None,
        dedup=Dedup(keys=dedup.keys, within_watermark=dedup.within_watermark) if dedup else None,
        watermark=_watermark(step.watermark),
    )


def _watermark(watermark: SpecWatermark | None) -> Watermark | None:
    if watermark is None:
        return None
    return Watermark(column=watermark.column, delay_ms=int(watermark.delay.partition(" ")[0]))


def _code(case: JobCase, recorded: JobDefinition, spec: JobSpec) -> CodeFolder | None:
    """The folder of modules, which only a definition that is known has."""
    for job in (recorded, case.desired):
        place = code_place(job, case.request.project)
        if spec.code == (None if place is None else str(place)):
            return job.code
    return None
