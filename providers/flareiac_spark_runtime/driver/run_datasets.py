"""The datasets of a job that runs, as OpenLineage names them, and what a batch did to each. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias, assert_never

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.dataset_names import DatasetName, TableNames, files_dataset, topic_dataset
from flareiac.sdk.lineage import Dataset, Field
from flareiac.sdk.openlineage import dataset_facets, facet, named
from flareiac_spark_runtime.control import (
    FilesInput,
    Input,
    JobSpec,
    KafkaOutput,
    Output,
    StreamInput,
    TableInput,
    TableOutput,
)
from flareiac_spark_runtime.driver.progress import SourceReport
from flareiac_spark_runtime.sources.kafka_client import SERVERS
from flareiac_spark_runtime.sources.resolved import SpecColumn

NamesOf: TypeAlias = Callable[[tuple[str, ...]], TableNames]
"""The names of a table by its identifier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The change of a table by one commit; None where that is not known."""

    snapshot_id: int | None
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFacts:
    """The numbers of a batch, read and written. ``scans``: how often Spark read its sources, None where that
    is not known. ``written`` by output.
    """

    sources: tuple[SourceReport, ...] = ()
    scans: int | None = None
    written: Mapping[str, Written] = field(default_factory=dict)


NOTHING: Final = BatchFacts()


def inputs_of(spec: JobSpec, names_of: NamesOf, facts: BatchFacts = NOTHING) -> list[dict[str, Any]]:
    """The inputs in an event, each dataset once."""
    reports = _matched(spec.inputs, facts.sources)
    parts: dict[DatasetName, dict[str, Any]] = {}
    for job_input in spec.inputs:
        datasets = list(_read(job_input, names_of))
        for dataset in datasets:
            report = reports.get(job_input.name)
            more: dict[str, Any] = {}
            facets = dataset_facets(dataset)
            if report is not None and isinstance(job_input, StreamInput):
                facets |= _version(job_input.source.version_read(report.end))
                rows = _once(report.rows, facts.scans) if len(datasets) == 1 else None
                more = {"inputFacets": facet("inputStatistics", rowCount=rows)} if rows is not None else {}
            parts.setdefault(dataset.name, named(dataset.name, facets, **more))
    return list(parts.values())


def outputs_of(spec: JobSpec, names_of: NamesOf, facts: BatchFacts = NOTHING) -> list[dict[str, Any]]:
    """The outputs in an event, each dataset once: also those that a batch did not change, since some programs
    forget what an event leaves out.
    """
    parts: dict[DatasetName, dict[str, Any]] = {}
    for output in spec.outputs:
        dataset, written = _target(output, names_of), facts.written.get(output.name)
        more: dict[str, Any] = {}
        facets = dataset_facets(dataset)
        if written is not None:
            facets |= _version(None if written.snapshot_id is None else str(written.snapshot_id))
            if written.rows is not None:
                statistics = {"rowCount": written.rows, "size": written.bytes, "fileCount": written.files}
                more = {"outputFacets": facet("outputStatistics", **statistics)}
        if written is not None or dataset.name not in parts:
            parts[dataset.name] = named(dataset.name, facets, **more)
    return list(parts.values())


def _read(job_input: Input, names_of: NamesOf) -> Iterator[Dataset]:
    match job_input:
        case StreamInput(source=source):
            if source.table is not None:
                yield _table(source.table.identifier, names_of, source.columns)
            for name in source.datasets:
                yield _plain(name, source.columns)
        case TableInput(identifier=identifier, columns=columns):
            yield _table(identifier, names_of, columns)
        case FilesInput(path=path, columns=columns):
            yield _plain(files_dataset(path), columns)
        case _:
            assert_never(job_input)


def _target(output: Output, names_of: NamesOf) -> Dataset:
    match output:
        case TableOutput(identifier=identifier, columns=columns):
            return _table(identifier, names_of, columns)
        case KafkaOutput(client=client, topic=topic):
            return _plain(topic_dataset(client.get(SERVERS, ""), topic), ())
        case _:
            assert_never(output)


def _table(identifier: tuple[str, ...], names_of: NamesOf, columns: Sequence[SpecColumn]) -> Dataset:
    names = names_of(identifier)
    where = names.known_as or names.name
    return Dataset(
        name=names.name,
        known_as=names.known_as,
        source=DatasetName(namespace=where.namespace, name=identifier[0]),
        fields=_fields(columns),
        storage="iceberg",
    )


def _plain(name: DatasetName, columns: Sequence[SpecColumn]) -> Dataset:
    source = DatasetName(namespace=name.namespace, name=name.namespace.rpartition("://")[2])
    return Dataset(name=name, source=source, fields=_fields(columns))


def _fields(columns: Sequence[SpecColumn]) -> tuple[Field, ...]:
    return tuple(Field(name=column.name, type=column.type) for column in columns)


def _matched(inputs: Sequence[Input], reports: Sequence[SourceReport]) -> dict[str, SourceReport]:
    """Spark's report on each streamed input, where it is certain which one that is: Spark names neither."""
    streams = [each for each in inputs if isinstance(each, StreamInput)]
    matched = {}
    for report in reports:
        said = {each.name: each.source.is_reported(report.description or "", report.end) for each in streams}
        certain = [name for name, answer in said.items() if answer]
        own = certain or [name for name, answer in said.items() if answer is None]
        if len(own) == 1:
            matched[own[0]] = report
    return matched


def _version(version: str | None) -> dict[str, dict[str, Any]]:
    return {} if version is None else facet("version", datasetVersion=version)


def _once(rows: int, scans: int | None) -> int | None:
    return rows // scans if scans and rows % scans == 0 else None
