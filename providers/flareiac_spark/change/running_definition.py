"""The definition that a job was asked to run last, where that is not the recorded one. Pure.

An apply that failed or died, a control directory from a backup and a host that lost its last writes leave
another query among what should run than the state has recorded. A declared definition is compared with that
query, too.
"""

from dataclasses import replace

from flareiac.sdk.requests import PlanRequest
from flareiac_spark.control import Input as SpecInput
from flareiac_spark.control import JobSpec
from flareiac_spark.control import Step as SpecStep
from flareiac_spark.control import StreamInput as SpecStream
from flareiac_spark.control import Watermark as SpecWatermark
from flareiac_spark.definition.code import code_place
from flareiac_spark.definition.job_definition import (
    CodeFolder,
    Dedup,
    Input,
    JobDefinition,
    Step,
    StreamInput,
    Trigger,
)
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.stream.stream_definition import Watermark


def running_definition(
    request: PlanRequest, recorded: JobDefinition, desired: JobDefinition, facts: JobFacts
) -> JobDefinition:
    """The recorded definition with the query, the trigger and the settings that the job was asked to run
    last; the recorded one where these are the same, or are of a release that is not understood.
    """
    spec = facts.spec
    if spec is None or facts.digest in (None, recorded_identity(request.recorded).digest):
        return recorded
    asked = {output.name: output for output in spec.outputs}
    outputs = {
        name: replace(output, source=asked[name].source) if name in asked else output
        for name, output in recorded.outputs.items()
    }
    kept = {**desired.steps, **recorded.steps}
    found = replace(
        recorded,
        inputs=_inputs(recorded, desired, spec),
        steps={step.name: _step(step, kept.get(step.name)) for step in spec.steps},
        step_order=tuple(step.name for step in spec.steps),
        code=_code(request, recorded, desired, spec),
        outputs=outputs,
        conf=dict(spec.conf),
        trigger=Trigger(kind=spec.trigger.kind, interval_ms=spec.trigger.interval_ms),
        foreach_batch=spec.foreach_batch,
    )
    same_order = found.step_order == tuple(recorded.ordered_steps)
    return replace(found, step_order=recorded.step_order) if same_order else found


def _inputs(recorded: JobDefinition, desired: JobDefinition, spec: JobSpec) -> dict[str, Input]:
    """Takes how an input is read from what declares it: in a spec there are resolved places alone."""
    known = {**desired.inputs, **recorded.inputs}
    return {item.name: _input(item, known[item.name]) for item in spec.inputs if item.name in known}


def _input(item: SpecInput, known: Input) -> Input:
    if not isinstance(item, SpecStream) or not isinstance(known, StreamInput):
        return known
    return replace(known, watermark=_watermark(item.watermark), bad_records=item.bad_records)


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


def _watermark(found: SpecWatermark | None) -> Watermark | None:
    if found is None:
        return None
    return Watermark(column=found.column, delay_ms=int(found.delay.partition(" ")[0]))


def _code(
    request: PlanRequest, recorded: JobDefinition, desired: JobDefinition, spec: JobSpec
) -> CodeFolder | None:
    """The folder of modules, which only a definition that is known has."""
    for job in (recorded, desired):
        place = code_place(job, request.project)
        if spec.code == (None if place is None else str(place)):
            return job.code
    return None
