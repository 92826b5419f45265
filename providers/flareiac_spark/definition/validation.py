"""Errors of a job that show without asking any system. One function for each rule; Spark judges the rest."""

import re
from collections.abc import Callable
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.sdk.validators import parse_duration
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition, Trigger
from flareiac_spark.definition.output_definition import KafkaOutput, TableOutput
from flareiac_spark.sql.relations import relations
from flareiac_spark.sql.state import Stateful, StatefulStep, stateful_steps
from flareiac_spark_runtime.control.step_graph import StepGraph

_RANDOM: Final = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id|spark_partition_id)\s*\(",
    re.IGNORECASE,
)
"""Clocks are not among them: Spark notes a batch's time with its offsets, and takes it again."""


def trigger_of(trigger: Data, mode: str, diagnostics: Diagnostics) -> Trigger:
    """The one trigger that is declared."""
    default = Trigger(kind="default", interval_ms=None)
    given = (
        {name: value for name, value in trigger.items() if value not in (None, False)}
        if isinstance(trigger, dict)
        else {}
    )
    if not given:
        return default
    if mode == "batch":
        _refuse(
            diagnostics,
            codes.BATCH_WITH_TRIGGER,
            "It runs once, when its run attribute says so. Remove trigger.",
            "trigger",
        )
        return default
    if len(given) > 1:
        _refuse(
            diagnostics,
            codes.SEVERAL_TRIGGERS,
            f"A job has one trigger. Keep one of {', '.join(given)}.",
            "trigger",
        )
        return default
    name, value = next(iter(given.items()))
    match name:
        case "processing_time":
            return _processing_time(value, diagnostics)
        case "continuous":
            why = (
                "A continuous trigger cannot write Iceberg tables. Write { processing_time = ... }, or "
                "no trigger for the least delay."
            )
            _refuse(diagnostics, codes.TRIGGER_UNSUPPORTED, why, "trigger")
        case "real_time":
            why = (
                "PySpark 4.1 has no real_time trigger, and later versions have it only for other sinks "
                "than Iceberg. Leave it out."
            )
            _refuse(diagnostics, codes.TRIGGER_UNSUPPORTED, why, "trigger")
        case _:
            return Trigger(kind=name, interval_ms=None)
    return default


def check(job: JobDefinition, diagnostics: Diagnostics) -> None:
    """Runs every rule."""
    for rule in _RULES:
        rule(job, diagnostics)


def check_mode(mode: Data, diagnostics: Diagnostics) -> None:
    """A mode that no definition has."""
    if mode == "incremental":
        _refuse(
            diagnostics, codes.INCREMENTAL_UNSUPPORTED, 'Write mode = "stream" or mode = "batch".', "mode"
        )


def _known_run(job: JobDefinition, diagnostics: Diagnostics) -> None:
    if job.run in ("on_input", "every_apply"):
        why = (
            f'run = "{job.run}" is for a later version. This one runs finite jobs when their '
            'definition changes: write run = "on_change" or run = "manual".'
        )
        _refuse(diagnostics, codes.RUN_UNSUPPORTED, why, "run")


def _known_pool(job: JobDefinition, diagnostics: Diagnostics) -> None:
    pool: Data = job.pool
    engine = job.application
    if pool is None or pool is UNKNOWN or engine is None or pool in engine.pools:
        return
    known = f"It has {', '.join(engine.pools)}" if engine.pools else "It has none"
    why = (
        f"{job.engine} has no pool {pool!r}.{did_you_mean(pool, engine.pools)} {known}. Declare it there, as "
        "in pools = { etl = { weight = 2 } }, or remove pool."
    )
    _refuse(diagnostics, codes.POOL_UNKNOWN, why, "pool")


def _checkpoint_fits_mode(job: JobDefinition, diagnostics: Diagnostics) -> None:
    if job.mode == "stream" and job.checkpoint is None:
        why = (
            'Without one, every start would read everything again. Declare checkpoint "name" {} and '
            "write checkpoint = checkpoint.name."
        )
        _refuse(diagnostics, codes.STREAM_WITHOUT_CHECKPOINT, why, "checkpoint")
    if job.mode == "batch" and job.checkpoint is not None:
        _refuse(
            diagnostics,
            codes.BATCH_WITH_CHECKPOINT,
            "Remove the attribute, or make the job a stream.",
            "checkpoint",
        )


def _inputs_fit_mode(job: JobDefinition, diagnostics: Diagnostics) -> None:
    kinds = {name: job_input.kind for name, job_input in job.inputs.items()}
    if job.mode == "stream":
        if "stream" not in kinds.values():
            why = (
                "A streaming job reads at least one stream. Give it an input with stream = stream.NAME, "
                'or write mode = "batch".'
            )
            _refuse(diagnostics, codes.STREAM_WITHOUT_STREAM, why, "mode")
        for name in (name for name, kind in kinds.items() if kind == "files"):
            why = (
                f"Input {name} has files. Declare a stream block with files for new files, or a batch "
                "job that fills a table from them."
            )
            diagnostics.error(codes.STREAM_READS_PLAIN_FILES, why, attribute=("input", name, "files"))
    elif job.mode == "batch":
        for name in (name for name, kind in kinds.items() if kind == "stream"):
            why = (
                f'Input {name} is a stream. Read a table or files, or write mode = "stream" with trigger '
                "= { available_now = true }."
            )
            diagnostics.error(codes.BATCH_READS_STREAM, why, attribute=("input", name, "stream"))


def _names_are_unique(job: JobDefinition, diagnostics: Diagnostics) -> None:
    inputs = {name.lower() for name in job.inputs}
    for name in job.steps:
        if name.lower() in inputs:
            why = (
                f"{name} is an input and a step. Steps and inputs share their names: later steps could not "
                "say which one they mean. Rename the step."
            )
            diagnostics.error(codes.STEP_NAMED_AS_INPUT, why, attribute=("step", name))


def _names_are_known(job: JobDefinition, diagnostics: Diagnostics) -> None:
    known = list(job.inputs)
    everything = [*job.inputs, *job.steps]
    for name, step in job.steps.items():
        for relation in relations(step.sql) or ():
            if relation.lower() not in {known_name.lower() for known_name in known}:
                diagnostics.error(
                    codes.UNKNOWN_RELATION,
                    _unknown(relation, name, known, everything),
                    attribute=("step", name, "sql"),
                )
        known.append(name)
    for name, output in job.declared_outputs.items():
        if output.source.lower() not in {known_name.lower() for known_name in everything}:
            why = (
                f'There is no step "{output.source}". There are '
                f"{', '.join(everything)}.{did_you_mean(output.source, everything)}"
            )
            diagnostics.error(codes.UNKNOWN_OUTPUT_SOURCE, why, attribute=("output", name, "from"))


def _unknown(relation: str, step: str, known: list[str], everything: list[str]) -> str:
    what = f'The step {step} reads "{relation}", which it cannot see.'
    if "." in relation:
        declare = f'Declare input "{relation.split(".")[-1]}" {{ table = ... }} and read that.'
        return f"{what} A step reads inputs and earlier steps only. {declare}"
    if relation.lower() in {known_name.lower() for known_name in everything}:
        return (
            f"{what} It is this step itself or a later one. Steps see inputs and the steps above them: "
            "move it up."
        )
    return f"{what} It can read {', '.join(known)}.{did_you_mean(relation, known)}"


def _modes_fit(job: JobDefinition, diagnostics: Diagnostics) -> None:
    aggregates = {
        state.step.lower() for state in _state(job) if state.kind in (Stateful.AGGREGATION, Stateful.UNKNOWN)
    }
    for name, output in job.declared_outputs.items():
        at = ("output", name, "mode")
        merge = output.merge if isinstance(output, TableOutput) else None
        match job.mode, output.mode:
            case _, "merge" if not (merge and merge.on):
                why = (
                    f"Output {name} does not say which columns identify a row. Write merge = {{ on = "
                    '["id"] }.'
                )
                diagnostics.error(codes.MERGE_WITHOUT_KEYS, why, attribute=at)
            case _, mode if mode != "merge" and merge:
                why = (
                    f'The mode of output {name} is {mode}, and merge has an effect with mode = "merge" '
                    "only. Write that, or remove merge."
                )
                diagnostics.error(codes.MERGE_IN_OTHER_MODE, why, attribute=("output", name, "merge"))
            case _, "update" if isinstance(output, TableOutput):
                why = (
                    "Iceberg's streaming writer knows append and complete only. To keep one row for "
                    'each key write mode = "merge".'
                )
                diagnostics.error(codes.UPDATE_MODE_UNSUPPORTED, why, attribute=at)
            case "batch", _ if isinstance(output, KafkaOutput):
                pass  # refused whatever its mode is
            case "batch", "complete":
                diagnostics.error(
                    codes.COMPLETE_IN_BATCH,
                    'Only streams write in complete mode. Write mode = "overwrite".',
                    attribute=at,
                )
            case "stream", "complete" if not aggregates:
                why = (
                    "complete writes a whole aggregate again and again; without GROUP BY there is none. "
                    "Write append."
                )
                diagnostics.error(codes.COMPLETE_WITHOUT_AGGREGATION, why, attribute=at)
            case _:
                pass


def _topics_fit_mode(job: JobDefinition, diagnostics: Diagnostics) -> None:
    if job.mode != "batch":
        return
    for name in job.kafka_outputs:
        why = (
            f"Output {name} writes a topic. A table tells by a mark which run it has; a topic does not, so "
            'that a run which is done again would write all its records again. Write mode = "stream" with '
            "trigger = { available_now = true }: its checkpoint counts what was written."
        )
        diagnostics.error(codes.TOPIC_IN_BATCH, why, attribute=("output", name, "kafka"))


def _topics_are_not_read(job: JobDefinition, diagnostics: Diagnostics) -> None:
    for name, output in job.kafka_outputs.items():
        for label, stream in job.streams.items():
            if stream.source.reads_topic(output.topic, output.client):
                why = (
                    f"Output {name} writes {output.place}, and input {label} reads it: each record would "
                    "come back to the job, without end. Write another topic."
                )
                diagnostics.error(codes.TOPIC_IS_READ, why, attribute=("output", name, "kafka", "topic"))


def _one_query_fits_all(job: JobDefinition, diagnostics: Diagnostics) -> None:
    if not job.foreach_batch:
        return
    if job.mode != "stream":
        _refuse(
            diagnostics,
            codes.FOREACH_BATCH_NOT_STREAMING,
            "Remove foreach_batch: a batch job has one batch.",
            "foreach_batch",
        )
    modes = {output.mode for output in job.declared_outputs.values()}
    if "complete" in modes and len(modes) > 1:
        why = (
            "One query feeds all outputs, and it gives either whole results (complete) or changes. Give "
            "them jobs of their own."
        )
        _refuse(diagnostics, codes.COMPLETE_SHARES_BATCH, why, "foreach_batch")
    elif "update" in modes and (others := sorted(modes - {"update", "merge"})):
        why = (
            "One query feeds all outputs, and it gives either the rows that changed (update, merge) or rows "
            f"that are final ({', '.join(others)}). Give them jobs of their own."
        )
        _refuse(diagnostics, codes.UPDATE_SHARES_BATCH, why, "foreach_batch")


def _one_query_has_a_common_step(job: JobDefinition, diagnostics: Diagnostics) -> None:
    """Reports outputs of one query without a common step, and steps that keep state after the common one:
    these run on each batch by itself, and may keep nothing from one to the next.
    """
    sources = {output.source.lower() for output in job.declared_outputs.values()}
    reads = _reads(job)
    if not job.foreach_batch or len(sources) < 2 or reads is None:
        return
    kinds = {name.lower(): job_input.kind for name, job_input in job.inputs.items()}
    graph = StepGraph(
        inputs=list(kinds), streams=[name for name, kind in kinds.items() if kind == "stream"], reads=reads
    )
    if not sources <= {*kinds, *reads} or graph.unstreamed(sources):
        return
    common = graph.last_common_step(sources)
    if common is None:
        why = (
            f"One query feeds all outputs, and {' and '.join(sorted(sources))} have no stream or step in "
            "common that everything comes through. Bring the streams together in one step, or give the "
            "outputs jobs of their own."
        )
        _refuse(diagnostics, codes.OUTPUTS_APART, why, "foreach_batch")
        return
    after = graph.after(common, sources)
    steps = {name: step for name, step in job.ordered_steps.items() if name.lower() in after}
    stateful = {
        stateful_step.step
        for stateful_step in stateful_steps({name: step.sql for name, step in steps.items()}, [common])
    }
    stateful |= {name for name, step in steps.items() if step.dedup or step.watermark}
    for name in (name for name in steps if name in stateful):
        why = (
            f"The step {name} comes after {common}, where the ways to the outputs part, so that it runs on "
            "each micro-batch by itself: what it counts or remembers would be of one batch and not of the "
            "stream. Move it before that, or give its output a job of its own."
        )
        diagnostics.error(codes.STATE_AFTER_OUTPUTS_PART, why, attribute=("step", name))


def _reads(job: JobDefinition) -> dict[str, list[str]] | None:
    """The relations that each step reads, in lower case; None where some step cannot be read here."""
    reads: dict[str, list[str]] = {}
    for name, step in job.ordered_steps.items():
        names = relations(step.sql)
        if names is None or not step.sql:
            return None
        reads[name.lower()] = [relation.lower() for relation in names]
    return reads


def _state_is_bounded(job: JobDefinition, diagnostics: Diagnostics) -> None:
    if job.mode != "stream":
        return
    appends = any(output.mode == "append" for output in job.declared_outputs.values())
    marked, all_marked = _has_watermark(job), _all_have_watermarks(job)
    declare = 'Declare watermark = { column = "ts", delay = "10m" } on'
    for state in _state(job):
        at = ("step", state.step, "sql")
        grows = f"The step {state.step} keeps state without bound ({state.kind}):"
        if state.kind is Stateful.AGGREGATION and appends and not marked:
            why = (
                f"No group of step {state.step} would ever be known to be complete, so no row could be "
                f"appended. {declare} the stream, and group by a window."
            )
            diagnostics.error(codes.UNBOUNDED_AGGREGATION, why, attribute=at)
        elif state.kind is Stateful.DISTINCT and not marked:
            diagnostics.warning(
                codes.UNBOUNDED_STATE,
                f"{grows} Spark keeps each row that it has seen. {declare} the stream.",
                attribute=at,
            )
        elif state.kind is Stateful.JOIN and not all_marked:
            why = (
                f"{grows} Spark keeps every row of both streams. {declare} each of them, and join within "
                "a range of these columns."
            )
            diagnostics.warning(codes.UNBOUNDED_STATE, why, attribute=at)


def _state_is_repeatable(job: JobDefinition, diagnostics: Diagnostics) -> None:
    if job.mode != "stream" or not _state(job):
        return
    for name, step in job.steps.items():
        for function in dict.fromkeys(_RANDOM.findall(step.sql.lower())):
            diagnostics.warning(
                codes.RANDOM_IN_STATE,
                f"{function}() in step {name}: where it feeds the state, a batch that is repeated after a "
                "crash has other values. A table that has the batch already keeps the first ones, and the "
                "state holds the second. Compute such values at the source.",
                attribute=("step", name, "sql"),
            )


def _state(job: JobDefinition) -> tuple[StatefulStep, ...]:
    in_python = (
        StatefulStep(step=name, kind=Stateful.UNKNOWN)
        for name, step in job.steps.items()
        if step.python is not None
    )
    return (
        *stateful_steps({name: step.sql for name, step in job.steps.items()}, list(job.streams)),
        *in_python,
    )


def _has_watermark(job: JobDefinition) -> bool:
    marked = [stream.watermark for stream in job.streams.values()]
    return any(marked) or any(step.watermark for step in job.steps.values())


def _all_have_watermarks(job: JobDefinition) -> bool:
    """A join drops rows of one side by the watermark of the other: with a side that has none Spark keeps
    every row of both.
    """
    return all(stream.watermark for stream in job.streams.values()) or any(
        step.watermark for step in job.steps.values()
    )


def _processing_time(value: Data, diagnostics: Diagnostics) -> Trigger:
    milliseconds = parse_duration(value) if isinstance(value, str) else None
    if milliseconds is None and value is not UNKNOWN:
        _refuse(
            diagnostics,
            codes.INVALID_DURATION,
            f'{value!r} is not a duration. Write for example {{ processing_time = "30s" }}.',
            "trigger",
        )
    return Trigger(kind="processing_time", interval_ms=milliseconds)


def _refuse(diagnostics: Diagnostics, code: Code, why: str, attribute: str) -> None:
    diagnostics.error(code, why, attribute=(attribute,))


_RULES: Final[tuple[Callable[[JobDefinition, Diagnostics], None], ...]] = (
    _known_run,
    _known_pool,
    _checkpoint_fits_mode,
    _inputs_fit_mode,
    _names_are_unique,
    _names_are_known,
    _modes_fit,
    _topics_fit_mode,
    _topics_are_not_read,
    _one_query_fits_all,
    _one_query_has_a_common_step,
    _state_is_bounded,
    _state_is_repeatable,
)
