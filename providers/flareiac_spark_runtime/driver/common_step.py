"""The end of a query that feeds several outputs: the last step through which every row on its way to them
comes.

The query up to this step is the streaming one. The steps after it run on each of its batches, over a view of
its name; tables that they look up are read for each batch. So none of them may keep state from one batch to
the next: it would cover one batch, not the stream.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import Input, JobSpec, Output, Step, StreamInput
from flareiac_spark_runtime.control.step_graph import StepGraph
from flareiac_spark_runtime.driver import logical_plan, temp_views
from flareiac_spark_runtime.driver.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonStep:
    """``steps`` come after it, in order; ``inputs`` are what they read beside it."""

    name: str
    steps: tuple[Step, ...] = ()
    inputs: tuple[Input, ...] = ()


def common_step_of(session: "SparkSession", spec: JobSpec, outputs: Sequence[Output]) -> CommonStep:
    """The last step that these outputs share. The session has a view of each input and step. Raises
    ``Refusal``.
    """
    sources = {_spelled(spec, output.source) for output in outputs}
    if len(sources) == 1:
        return CommonStep(name=sources.pop())
    reads = {step.name: _reads(session, spec, step.name) for step in spec.steps}
    streams = [job_input.name for job_input in spec.inputs if isinstance(job_input, StreamInput)]
    graph = StepGraph(inputs=[job_input.name for job_input in spec.inputs], streams=streams, reads=reads)
    name = _last_common_step(graph, sources)
    after = graph.after(name, sources)
    steps = tuple(step for step in spec.steps if step.name in after)
    for step in steps:
        _refuse_state(session, step, name)
    # Steps that feed those after the common step and read no stream run with them too.
    wanted = set(after)
    for step in reversed(spec.steps):
        wanted |= set(reads[step.name]) - {name} if step.name in wanted else set()
    return CommonStep(
        name=name,
        steps=tuple(step for step in spec.steps if step.name in wanted),
        inputs=tuple(job_input for job_input in spec.inputs if job_input.name in wanted),
    )


def _spelled(spec: JobSpec, name: str) -> str:
    """As the input or step itself is written."""
    return next(
        (relation.name for relation in (*spec.steps, *spec.inputs) if relation.name.lower() == name.lower()),
        name,
    )


def _reads(session: "SparkSession", spec: JobSpec, name: str) -> Collection[str]:
    """The inputs and steps that a step itself reads."""
    known = {relation.name.lower(): relation.name for relation in (*spec.inputs, *spec.steps)}
    names = set()
    for node in logical_plan.nodes(
        logical_plan.analysed(temp_views.view(session, name)), lambda view: view.lower() == name.lower()
    ):
        view = logical_plan.view_name(node)
        if view is not None and view.lower() != name.lower() and view.lower() in known:
            names.add(known[view.lower()])
    return names


def _last_common_step(graph: StepGraph, sources: Collection[str]) -> str:
    """The last name on every way from a stream to each of the sources."""
    if still := graph.unstreamed(sources):
        raise Refusal(
            "NOT_STREAMING", f"{still[0]!r} reads no stream, so it cannot feed an output of a streaming job."
        )
    common = graph.last_common_step(sources)
    if common is None:
        why = (
            f"With foreach_batch one query feeds all outputs, but {' and '.join(sorted(sources))} have no "
            "stream or step in common that everything comes through. Bring the streams together in one "
            "step, or give the outputs jobs of their own."
        )
        raise Refusal("TRUNK_MISSING", why)
    return common


def _refuse_state(session: "SparkSession", step: Step, common: str) -> None:
    what = "removes duplicates" if step.dedup else "has a watermark" if step.watermark else None
    own = logical_plan.nodes(
        logical_plan.analysed(temp_views.view(session, step.name)),
        lambda view: view.lower() == step.name.lower(),
    )
    if what is None:
        for node in own:
            if logical_plan.joins_streams(node):
                what = "joins streams"
            elif logical_plan.holds_state(node):
                what = {"Aggregate": "aggregates", "GlobalLimit": "has a limit"}.get(
                    logical_plan.kind(node), "removes duplicates"
                )
            elif logical_plan.is_watermark(node):
                what = "has a watermark"
    if what is not None:
        why = (
            f"The step {step.name!r} {what}, and it comes after {common!r}, where the outputs of this job "
            "part. There it would run on each micro-batch by itself and not on the whole stream. Move it "
            "before that step, or give its output a job of its own."
        )
        raise Refusal("TRUNK_STATE", why)
