"""From a job block to canonical attributes: everything that runs is in them, so that whatever changes it is a
change of the job.
"""

from collections.abc import Iterable, Mapping, Sequence

from flareiac.kernel.column_types import TypeTextError
from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference, digest
from flareiac.kernel.data import canonical as canonical_text
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.paths import Path
from flareiac.sdk.declared import of_block, wrong_durations
from flareiac.sdk.definitions import definition_of
from flareiac.sdk.lakehouse_views import ConnectionView, catalog_name
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import checked_settings
from flareiac_spark import codes
from flareiac_spark.column_types import Column, table_columns
from flareiac_spark.definition import foreign_tables, validation
from flareiac_spark.definition.change_order import check_change_order
from flareiac_spark.definition.checkpoint_conf import conf_of
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.definition.code import declared_code, python_call
from flareiac_spark.definition.input_columns import input_columns
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import (
    ApplicationDefinition,
    Health,
    JobDefinition,
    Restart,
    Stability,
)
from flareiac_spark.definition.output_definition import Output, TableOutput
from flareiac_spark.definition.outputs import OutputSources, outputs_of
from flareiac_spark.definition.queries import folder_of
from flareiac_spark.definition.static_columns import check_columns
from flareiac_spark.definition.step_definition import Dedup, Step
from flareiac_spark.definition.stream_limits import check_stream_limits
from flareiac_spark.definition.tombstones import tombstone_outputs
from flareiac_spark.engine.canonical import checked_conf
from flareiac_spark.places import folder_of_pattern
from flareiac_spark.sources.doubtful_options import doubtful_in_batch
from flareiac_spark.sources.file_formats import VALUE, recorded_folder
from flareiac_spark.sources.source import UnknownSource
from flareiac_spark.sql.relations import columns_read, stars_over
from flareiac_spark.sql.static_reading import columns_given
from flareiac_spark.stream.canonical import columns_of, watermark_of
from flareiac_spark.stream.stream_definition import StreamDefinition
from flareiac_spark_runtime.sources.bad_records import FIELDS, output_name


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Canonical attributes; what is wrong is reported with the path of its attribute."""
    wanted = decoded.attributes
    mode: Data = wanted.get("mode") or "stream"
    trigger = validation.trigger_of(wanted.get("trigger"), mode, diagnostics)
    steps = _steps(wanted.get("step") or {}, diagnostics)
    code = declared_code(wanted.get("code"), steps, project, diagnostics)
    inputs = _inputs(wanted.get("input") or {}, steps, references, project, diagnostics)
    sources = OutputSources(
        default=next(reversed(list(steps)), next(iter(inputs), "")),
        columns=_columns_given(steps, inputs, references),
    )
    written = wanted.get("output") or {}
    declared = outputs_of(written, sources, references, diagnostics)
    outputs = {
        **declared,
        **tombstone_outputs(written, declared, sources, references, diagnostics),
        **_quarantines(inputs, references),
    }
    engine, checkpoint = _chosen("engine", wanted.get("engine"), references), wanted.get("checkpoint")
    location, generation = _checkpoint(checkpoint, references)
    job = of_block(
        JobDefinition,
        wanted,
        engine=engine,
        application=_application(engine, references, project),
        checkpoint_location=location,
        generation=generation,
        trigger=trigger,
        inputs=inputs,
        steps=steps,
        step_order=tuple(steps),
        code=code,
        outputs=outputs,
        conf=_conf(wanted.get("conf"), checkpoint, references, diagnostics),
        restart=of_block(Restart, _with_durations(Restart, wanted.get("restart"), "restart", diagnostics)),
        stability=_stability(wanted.get("stability"), diagnostics),
        health=_health(wanted.get("health"), diagnostics),
    )
    validation.check_mode(mode, diagnostics)
    validation.check(job, diagnostics)
    check_columns(job, references, diagnostics)
    check_stream_limits(job, diagnostics)
    check_change_order(job, sources.columns, diagnostics)
    foreign_tables.warn_of_expiry(decoded.name, job, project, diagnostics)
    return job.attributes


def sources(attributes: Attributes, project: Project) -> tuple[str, ...]:
    """The folders whose files it reads: its inputs, and its code."""
    job = JobDefinition.of(attributes)
    code = [job.code.path] if job.code is not None and job.code.path else []
    paths = [*map(folder_of, job.inputs.values()), *code]
    return tuple(folder_of_pattern(path, project) for path in paths if path is not None)


def _texts(columns: Iterable[Column]) -> dict[str, str]:
    """Columns as types, by name."""
    return {column.name: column.text for column in columns}


def _chosen(kind: str, reference: Data, references: References) -> Reference | None:
    """The resource that an attribute names, or the only one of its type."""
    if isinstance(reference, Reference):
        return reference
    known = [address for address, resolved in references.items() if resolved.type == kind]
    return Reference(known[0]) if known else None


def _application(
    engine: Reference | None, references: References, project: Project
) -> ApplicationDefinition | None:
    """The settings that the job runs with: those of the engine, whose change restarts the application, and
    its catalogs, as digests.

    Places below the root count as relative to it: the same project in another folder is the same.
    """
    resolved = references.get(engine.address) if engine else None
    if resolved is None:
        return None
    catalogs = {
        catalog_name(reference): digest(
            canonical_text(ConnectionView.of(reference).spark_conf).replace(str(project.root), "")
        )
        for reference in references.values()
        if reference.type == "catalog"
    }
    attributes = {**resolved.attributes, "catalogs": dict(sorted(catalogs.items()))}
    return definition_of(ApplicationDefinition, attributes)


def _checkpoint(checkpoint: Data, references: References) -> tuple[str | None, int | None]:
    """Its location and its generation."""
    resolved = references.get(checkpoint.address) if isinstance(checkpoint, Reference) else None
    if resolved is None:
        return None, None
    declared = CheckpointDefinition.of(resolved.attributes)
    return declared.location, declared.generation


def _steps(declared: Attributes, diagnostics: Diagnostics) -> dict[str, Step]:
    steps: dict[str, Step] = {}
    for name, step in declared.items():
        _one_way(name, step, diagnostics)
        sql, call = step.get("sql"), python_call(step, ("step", name), diagnostics)
        steps[name] = of_block(
            Step,
            step,
            sql=sql if isinstance(sql, str) else "",
            python=call.function,
            params=call.params,
            stateful=call.stateful,
            dedup=_dedup(step.get("dedup"), ("step", name, "dedup"), diagnostics),
            watermark=watermark_of(step.get("watermark"), None, ("step", name, "watermark"), diagnostics),
        )
    return steps


def _one_way(name: str, step: Attributes, diagnostics: Diagnostics) -> None:
    sql, python = step.get("sql"), step.get("python")
    if sql is not None and python is not None:
        why = (
            f"The step {name} has both. Make a second step of one of them: it reads the first one by its "
            "name."
        )
        diagnostics.error(codes.STEP_WITH_TWO_QUERIES, why, attribute=("step", name, "python"))
    elif python is UNKNOWN:
        why = f"The function of step {name} must be known while planning."
        diagnostics.error(codes.STEP_FUNCTION_UNKNOWN, why, attribute=("step", name, "python"))
    elif python is None and not (isinstance(sql, str) and sql.strip()):
        why = (
            f'Write the query of step {name}, sql = <<-SQL ... SQL, or python = "module:function". It '
            "must be known while planning."
        )
        diagnostics.error(codes.STEP_WITHOUT_QUERY, why, attribute=("step", name))


def _inputs(
    declared: Attributes,
    steps: Mapping[str, Step],
    references: References,
    project: Project,
    diagnostics: Diagnostics,
) -> dict[str, Input]:
    queries = [step.sql for step in steps.values()]
    inputs: dict[str, Input] = {}
    for name, declared_input in declared.items():
        if isinstance(declared_input.get("stream"), Reference):
            inputs[name] = _stream_input(name, declared_input["stream"], queries, references)
        elif isinstance(declared_input.get("table"), Reference):
            columns = table_columns(declared_input["table"], references)
            read = columns_read(queries, name, [column.name for column in columns]) if queries else None
            inputs[name] = TableInput(
                table=declared_input["table"],
                columns=_texts(_kept(columns, read)),
                column_order=_order(columns) if stars_over(queries, name) else None,
            )
        elif declared_input.get("files"):
            inputs[name] = _files_input(name, declared_input["files"], references, project, diagnostics)
    return inputs


def _stream_input(
    name: str, reference: Reference, queries: Sequence[str], references: References
) -> StreamInput:
    """A stream as this job reads it: without the columns that no step reads, since they do not concern what
    runs.
    """
    resolved = references.get(reference.address)
    if resolved is None:
        return StreamInput(stream=reference, source=UnknownSource(), columns={}, watermark=None)
    stream = StreamDefinition.of(resolved.attributes)
    columns, watermark = stream.columns, stream.watermark
    read = columns_read(queries, name, [column.name for column in columns]) if queries else None
    if read is not None and watermark is not None:
        read |= {watermark.column.lower()}
    ordered, bad = stream.source.tells_columns_by_place, stream.bad_records
    judged = bad is not None or stream.source.always_judges
    return StreamInput(
        stream=reference,
        source=stream.source,
        columns=_texts(_kept(columns, None if ordered or judged else read)),
        watermark=watermark,
        column_order=_order(columns) if ordered or stars_over(queries, name) else None,
        bad_records="" if bad is None else bad.action,
    )


def _order(columns: Sequence[Column]) -> tuple[str, ...]:
    """The order of columns that files without names, and stars, depend on: equal maps do not show it."""
    return tuple(column.name for column in columns)


def _kept(columns: Sequence[Column], read: frozenset[str] | None) -> list[Column]:
    return [column for column in columns if read is None or column.name.lower() in read]


def _files_input(
    name: str, files: Attributes, references: References, project: Project, diagnostics: Diagnostics
) -> FilesInput:
    at = ("input", name, "files")
    columns = columns_of(files.get("column"), diagnostics, (*at, "column"))
    for column, text in (files.get("columns") or {}).items():
        try:
            columns.append(Column.declared(column, text))
        except TypeTextError as problem:
            diagnostics.error(
                codes.COLUMN_TYPE_OF_FILES, f"Column {column}: {problem}", attribute=(*at, "columns", column)
            )
    if not columns and files["format"] == "text":
        columns = [VALUE]
    if not columns:
        why = (
            f'Input {name}: write columns = {{ name = "string" }}, or column "name" {{ type = "string" '
            "} for each."
        )
        diagnostics.error(codes.FILE_COLUMNS_MISSING, why, attribute=at)
    options = checked_settings(files.get("options"), (*at, "options"), references, diagnostics)
    for option, why in doubtful_in_batch(options):
        diagnostics.warning(codes.READER_OPTION_LOSES, why, attribute=(*at, "options", option))
    return of_block(
        FilesInput,
        files,
        path=recorded_folder(files["path"], (*at, "path"), project, diagnostics),
        options=options,
        columns=_texts(columns),
        column_order=_order(columns),
    )


def _quarantines(inputs: Mapping[str, Input], references: References) -> dict[str, Output]:
    """The outputs that no one writes down: of each input whose stream quarantines its bad records."""
    outputs: dict[str, Output] = {}
    for name, job_input in inputs.items():
        resolved = references.get(job_input.stream.address) if isinstance(job_input, StreamInput) else None
        bad = StreamDefinition.of(resolved.attributes).bad_records if resolved is not None else None
        if bad is not None and bad.quarantine is not None:
            columns = table_columns(bad.quarantine, references)
            outputs[output_name(name)] = TableOutput(
                table=bad.quarantine,
                source=name,
                mode="append",
                merge=None,
                branch=None,
                rebuild="keep",
                options={},
                columns=_texts(_kept(columns, frozenset(FIELDS))),
                bad_records=True,
            )
    return outputs


def _columns_given(
    steps: Mapping[str, Step], inputs: Mapping[str, Input], references: References
) -> dict[str, Sequence[str] | None]:
    """The columns that each input and step gives, by lower-case name; None where only Spark can tell."""
    known: dict[str, Sequence[str] | None] = {
        name.lower(): [column.name for column in input_columns(job_input, references)] or None
        for name, job_input in inputs.items()
    }
    for name, step in steps.items():
        known[name.lower()] = columns_given(step.sql, known)
    return known


def _conf(conf: Data, checkpoint: Data, references: References, diagnostics: Diagnostics) -> dict[str, str]:
    own = checked_conf(conf, references, diagnostics)
    resolved = references.get(checkpoint.address) if isinstance(checkpoint, Reference) else None
    if resolved is None:
        return own
    implied = conf_of(CheckpointDefinition.of(resolved.attributes))
    for name in sorted(set(own) & set(implied)):
        if own[name] != implied[name] and name != "spark.sql.streaming.minBatchesToRetain":
            diagnostics.error(
                codes.SETTING_SET_TWICE,
                f"{name}: {checkpoint} sets {implied[name]}, and conf sets {own[name]}. Keep the one in the "
                "checkpoint: it is pinned there.",
                attribute=("conf", name),
            )
    return dict(sorted({**implied, **own}.items()))


def _dedup(dedup: Data, at: Path, diagnostics: Diagnostics) -> Dedup | None:
    if not isinstance(dedup, dict):
        return None
    keys = tuple(dedup.get("keys") or ())
    if not keys:
        diagnostics.error(
            codes.DEDUP_WITHOUT_KEYS, 'Write for example dedup = { keys = ["id"] }.', attribute=at
        )
    return of_block(Dedup, dedup, keys=keys)


def _health(health: Data, diagnostics: Diagnostics) -> Health | None:
    if not isinstance(health, dict):
        return None
    limits = _with_durations(Health, health, "health", diagnostics)
    for name in ("max_bad_records", "max_late_rows"):
        given = health.get(name)
        if not isinstance(given, int) or given < 0:
            limits[name] = None
            if given is not None and given is not UNKNOWN:
                diagnostics.error(
                    codes.INVALID_BAD_RECORD_LIMIT,
                    f"{name} is {given}. Write a whole number, 0 or greater.",
                    attribute=("health",),
                )
    return of_block(Health, limits)


def _stability(given: Data, diagnostics: Diagnostics) -> Stability:
    stability = of_block(Stability, _with_durations(Stability, given, "stability", diagnostics))
    on_failure: Data = stability.on_failure
    if on_failure not in ("leave", "rollback") and on_failure is not UNKNOWN:
        why = (
            f'There is no on_failure = {on_failure!r}. Write "leave" (it goes on trying) or "rollback" '
            "(to the last stable definition)."
        )
        diagnostics.error(codes.UNKNOWN_ON_FAILURE, why, attribute=("stability",))
    return stability


def _with_durations(record: type, given: Data, attribute: str, diagnostics: Diagnostics) -> Attributes:
    """An object without the durations that cannot be read, which are reported, and those that are not known:
    they have their defaults.
    """
    written = given if isinstance(given, dict) else {}
    wrong = wrong_durations(record, written)
    for text in wrong.values():
        diagnostics.error(
            codes.INVALID_DURATION,
            f'{text!r} is not a duration. Write for example "90s" or "1h".',
            attribute=(attribute,),
        )
    return {name: None if name in wrong or value is UNKNOWN else value for name, value in written.items()}
