"""Builds the spec that the application runs, from canonical attributes and what was observed of tables.
Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TypeVar, assert_never

from flareiac.kernel.data import Attributes, Reference, digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.records import Mismatch
from flareiac.sdk.lakehouse_views import TableView, TopicView
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.layout import folder_of, recorded_layout
from flareiac_spark.column_types import Column, table_columns
from flareiac_spark.definition import input_definition, output_definition, step_definition
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.definition.code import code_place
from flareiac_spark.definition.input_columns import input_columns
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.places import absolute_place, place_of
from flareiac_spark.sources.file_formats import in_order
from flareiac_spark.stream import stream_definition as declared
from flareiac_spark_runtime.control import (
    AvroValue,
    Dedup,
    FilesInput,
    Header,
    Input,
    JobSpec,
    KafkaOutput,
    Merge,
    Output,
    Restart,
    Step,
    StreamInput,
    TableInput,
    TableOutput,
    Trigger,
    Watermark,
    job_spec_to_json,
)
from flareiac_spark_runtime.sources.resolved import ResolvedSource, SpecColumn

R = TypeVar("R")


def spec_of(
    address: str, attributes: Attributes, references: References, project: Project, *, analysis: bool = False
) -> JobSpec:
    """The spec. ``analysis``: with every declared column, and without asking for tables that are not there
    yet. Raises ``Failure``.
    """
    job = JobDefinition.of(attributes)
    build, code = _Build(job, references, project, analysis), code_place(job, project)
    spec = _as_run(
        JobSpec,
        job,
        address=address,
        trigger=_as_run(Trigger, job.trigger),
        inputs=tuple(build.input(name, job_input) for name, job_input in sorted(job.inputs.items())),
        steps=tuple(build.step(name, step) for name, step in job.ordered_steps.items()),
        outputs=tuple(build.output(name, output) for name, output in sorted(job.outputs.items())),
        restart=_as_run(Restart, job.restart),
        code=None if code is None else str(code),
        pool=job.pool or "",
    )
    if build.problems:
        raise Failure(*(problem.at(address=address) for problem in build.problems))
    return spec


def digest_of(spec: JobSpec, attributes: Attributes) -> str:
    """Changes exactly when something else would run: unread columns, unfilled target columns and the restart
    budget are no part of it.
    """
    job = JobDefinition.of(attributes)
    data = job_spec_to_json(replace(spec, outputs=tuple(_as_filled(output, job) for output in spec.outputs)))
    del data["restart"], data["run_id"]
    streams = job.streams
    for spec_input in data["inputs"]:
        for name in streams[spec_input["name"]].source.first_start if spec_input["name"] in streams else ():
            del spec_input["source"][name]
    catalogs = job.application.catalogs if job.application is not None else None
    return digest([data, job.restart_nonce, catalogs])


def _as_filled(output: Output, job: JobDefinition) -> Output:
    """With the columns of the table that the job fills."""
    match output:
        case TableOutput():
            filled = job.table_outputs[output.name].columns
            return replace(
                output, columns=tuple(column for column in output.columns if column.name in filled)
            )
        case KafkaOutput():
            return output
        case _:
            assert_never(output)


def query_digest(spec: JobSpec) -> str:
    """The digest of a job's computation, and so of the meaning of its state: steps, watermarks, and the rows
    of them that each output takes. No place, no limit, and no tombstones: they take the rows of their output.
    """
    data = job_spec_to_json(spec)
    outputs = [
        [output.name, output.source, output.mode] for output in spec.outputs if not output.tombstones_of
    ]
    return digest(
        [
            data["steps"],
            [[spec_input["name"], spec_input.get("watermark")] for spec_input in data["inputs"]],
            outputs,
        ]
    )


def by_folder(spec: JobSpec, queries: Mapping[str, str | None]) -> dict[str, str]:
    """The ids of queries, given by their names, by the folder of the checkpoint that each uses."""
    return {folder: query for folder, name in spec.query_names.items() if (query := queries.get(name))}


class _Build:
    """Builds the parts of one spec and keeps what is missing for it."""

    def __init__(self, job: JobDefinition, references: References, project: Project, analysis: bool) -> None:
        self._job, self._references, self._project, self._analysis = job, references, project, analysis
        self.problems: list[Diagnostic] = []

    def input(self, name: str, job_input: input_definition.Input) -> Input:
        match job_input:
            case input_definition.StreamInput():
                return _as_run(
                    StreamInput,
                    job_input,
                    name=name,
                    source=self._source(job_input),
                    watermark=_watermark(job_input.watermark),
                )
            case input_definition.TableInput():
                identifier, uuid = self.table(job_input.table)
                return TableInput(
                    name=name, identifier=identifier, uuid=uuid, columns=self._columns(job_input)
                )
            case input_definition.FilesInput():
                return _as_run(
                    FilesInput,
                    job_input,
                    name=name,
                    path=self.path(job_input.path),
                    columns=in_order(self._columns(job_input), job_input.column_order),
                )
            case _:
                assert_never(job_input)

    def step(self, name: str, step: step_definition.Step) -> Step:
        return _as_run(
            Step,
            step,
            name=name,
            sql=step.sql if step.python is None else None,
            params=step.params or {},
            dedup=_as_run(Dedup, step.dedup) if step.dedup else None,
            watermark=_watermark(step.watermark),
        )

    def output(self, name: str, output: output_definition.Output) -> Output:
        match output:
            case output_definition.TableOutput():
                return self._table_output(name, output)
            case output_definition.KafkaOutput():
                return self._kafka_output(name, output)
            case _:
                assert_never(output)

    def _table_output(self, name: str, output: output_definition.TableOutput) -> TableOutput:
        identifier, uuid = self.table(output.table)
        columns = _spec_columns(table_columns(output.table, self._references))
        if not columns:
            why = (
                f"This version writes tables whose columns are declared. Add column blocks to {output.table}."
            )
            at = ("output", output.tombstones_of or name, "merge" if output.tombstones_of else "table")
            self.problems.append(error(codes.OUTPUT_COLUMNS_UNKNOWN, why, attribute=at))
        return _as_run(
            TableOutput,
            output,
            name=name,
            identifier=identifier,
            uuid=uuid,
            columns=columns,
            checkpoint=self._checkpoint(self._job.query_of(name)),
            merge=_as_run(Merge, output.merge) if output.merge else None,
        )

    def _kafka_output(self, name: str, output: output_definition.KafkaOutput) -> KafkaOutput:
        declared = TopicView.at(output.resource, self._references)
        return _as_run(
            KafkaOutput,
            output,
            name=name,
            topic_id=declared.id if declared is not None else None,
            headers=tuple(Header(name=header, column=column) for header, column in output.headers.items()),
            checkpoint=self._checkpoint(self._job.query_of(name)),
            avro=self._avro_value(name, output),
        )

    def _avro_value(self, name: str, output: output_definition.KafkaOutput) -> AvroValue | None:
        """While the SQL is analysed, a schema need not be registered yet."""
        if output.format != "avro":
            return None
        written = self._job.avro.get(name)
        if self._analysis:
            return AvroValue(id=written.id or 0, schema=written.schema) if written is not None else None
        if written is None or written.id is None:
            why = f"The schema of output {name} is not registered under the subject {output.subject}."
            self.problems.append(
                error(codes.SCHEMA_NOT_REGISTERED, why, attribute=("output", name, "kafka", "schema"))
            )
            return None
        return AvroValue(id=written.id, schema=written.schema)

    def _source(self, stream_input: input_definition.StreamInput) -> ResolvedSource:
        try:
            return stream_input.source.resolve(self._columns(stream_input), stream_input.column_order, self)
        except Mismatch as mismatch:
            raise mismatch.within(f"attributes.inputs.{stream_input.stream}") from None

    def _columns(self, job_input: input_definition.Input) -> tuple[SpecColumn, ...]:
        columns = input_columns(job_input, self._references)
        if not self._analysis:
            # A recorded type may be spelled otherwise than the declared one, and keeps its spelling.
            texts = job_input.columns
            columns = [Column.of_text(each.name, texts[each.name]) for each in columns if each.name in texts]
        return _spec_columns(columns)

    def _checkpoint(self, output: str) -> str | None:
        reference = self._job.checkpoint
        checkpoint = self._references.get(reference.address) if reference is not None else None
        if checkpoint is None:
            return None
        definition, layout = (
            CheckpointDefinition.of(checkpoint.attributes),
            recorded_layout(checkpoint.identity),
        )
        location = place_of(definition.location, self._project)
        return str(folder_of(location, layout, output, definition.generation))

    def path(self, recorded: str) -> str:
        """See ``Places``."""
        return str(absolute_place(recorded, self._project))

    def table(self, reference: Reference) -> tuple[tuple[str, ...], str | None]:
        """See ``Places``."""
        table = TableView.of(self._references[reference.address], self._references)
        if table.identifier is None:
            raise KeyError(reference.address)
        if table.uuid is None and not self._analysis:
            why = (
                f"{reference} is not applied, so the job could write to another table. Apply the table first."
            )
            self.problems.append(error(codes.TABLE_NOT_IDENTIFIED, why))
        return table.identifier, table.uuid


def _as_run(record: type[R], defined: object, **others: object) -> R:
    """The record that crosses to the application, of the one in the definition: fields of one name have one
    meaning, and ``others`` are those that are made of something else.
    """
    names = {each.name for each in fields(record)} & {each.name for each in fields(defined)}  # type: ignore[arg-type]  # both are records
    return record(**{name: getattr(defined, name) for name in names - others.keys()}, **others)


def _spec_columns(columns: Iterable[Column]) -> tuple[SpecColumn, ...]:
    return tuple(
        SpecColumn(name=column.name, type=column.type, required=column.required) for column in columns
    )


def _watermark(watermark: declared.Watermark | None) -> Watermark | None:
    if watermark is None:
        return None
    return Watermark(column=watermark.column, delay=f"{watermark.delay_ms} milliseconds")
