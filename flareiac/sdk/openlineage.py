"""Events of OpenLineage 2-0-2 and their facets, as JSON. Pure; travels with the driver."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from flareiac.sdk.dataset_names import DatasetName
from flareiac.sdk.lineage import Dataset, Field

Facets: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Facets by name."""
EventType: TypeAlias = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL"]

PRODUCER: Final = "https://flareiac.dev/flareiac"
"""The same in every release, so that equal declarations make equal events."""
NO_FACETS: Final[Facets] = MappingProxyType({})
_SPEC: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/"
_SCHEMAS: Final = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "dataSource": "1-0-1/DatasourceDatasetFacet",
    "datasetType": "1-0-1/DatasetTypeDatasetFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "inputStatistics": "1-0-0/InputStatisticsInputDatasetFacet",
    "jobType": "2-0-4/JobTypeJobFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "parent": "1-2-0/ParentRunFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "sql": "1-1-0/SQLJobFacet",
    "storage": "1-0-1/StorageDatasetFacet",
    "symlinks": "1-0-1/SymlinksDatasetFacet",
    "version": "1-0-1/DatasetVersionDatasetFacet",
}
"""Version and name of the schema of each facet that has one name everywhere."""
_BY_OWNER: Final = {"documentation": "1-1-0/Documentation", "ownership": "1-0-1/Ownership"}
"""The facets whose schema is one for jobs and one for datasets."""


def facet(name: str, /, **content: Any) -> dict[str, dict[str, Any]]:
    """A facet under its name; fields that are None are left out. One of our own has no schema that says more
    than that of any facet of a run.
    """
    path = _SCHEMAS.get(name)
    if path is None:
        return _facet(name, f"{_EVENT}RunFacet", content)
    return _facet(name, f"{_SPEC}/facets/{path}.json#/$defs/{path.partition('/')[2]}", content)


def owned_facet(name: str, holder: Literal["Job", "Dataset"], /, **content: Any) -> dict[str, dict[str, Any]]:
    """The facet ``documentation`` or ``ownership`` of a job or a dataset."""
    version, _, kind = _BY_OWNER[name].partition("/")
    schema = f"{_SPEC}/facets/{version}/{kind}{holder}Facet.json#/$defs/{kind}{holder}Facet"
    return _facet(name, schema, content)


def _facet(name: str, schema: str, content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    given = {key: value for key, value in content.items() if value is not None}
    return {name: {"_producer": PRODUCER, "_schemaURL": schema, **given}}


def dataset_facets(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """The facets that describe a dataset whatever is done to it."""
    facets = facet("dataSource", name=dataset.source.name, uri=dataset.source.namespace)
    if dataset.fields:
        facets |= facet("schema", fields=[_field(each) for each in dataset.fields])
    if dataset.known_as is not None:
        table = {"namespace": dataset.known_as.namespace, "name": dataset.known_as.name, "type": "TABLE"}
        facets |= facet("symlinks", identifiers=[table])
    if dataset.storage:
        facets |= facet("storage", storageLayer=dataset.storage)
    if dataset.description:
        facets |= owned_facet("documentation", "Dataset", description=dataset.description)
    return facets


def job_type(*, is_streaming: bool) -> dict[str, dict[str, Any]]:
    """The facet that says how a job works."""
    kind = "STREAMING" if is_streaming else "BATCH"
    return facet("jobType", processingType=kind, integration="FLAREIAC", jobType="JOB")


def sql_facet(steps: Iterable[tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """The facet with the queries of steps, by name and text; none without a query."""
    query = "\n".join(f"-- {name}\n{text.strip()};" for name, text in steps)
    return facet("sql", query=query, dialect="spark") if query else {}


def named(name: DatasetName, facets: Facets = NO_FACETS, **more: Facets) -> dict[str, Any]:
    """A dataset in an event. ``more``: ``inputFacets`` or ``outputFacets``; empty ones are left out."""
    parts: dict[str, Facets] = {"facets": facets, **more}
    given = {key: dict(value) for key, value in parts.items() if value}
    return {"namespace": name.namespace, "name": name.name, **given}


def job_of(namespace: str, name: str, facets: Facets = NO_FACETS) -> dict[str, Any]:
    """A job in an event."""
    return {"namespace": namespace, "name": name, **({"facets": dict(facets)} if facets else {})}


def dataset_event(time: str, dataset: Mapping[str, Any]) -> dict[str, Any]:
    """An event that declares a dataset. ``time``: ISO 8601 in UTC."""
    return {**_event("DatasetEvent", time), "dataset": dict(dataset)}


def job_event(
    time: str,
    job: Mapping[str, Any],
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """An event that declares a job."""
    return {**_event("JobEvent", time), "job": dict(job), "inputs": list(inputs), "outputs": list(outputs)}


def run_event(
    kind: EventType,
    time: str,
    run: Mapping[str, Any],
    job: Mapping[str, Any],
    datasets: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]] = ((), ()),
) -> dict[str, Any]:
    """An event of a run. ``datasets``: inputs and outputs."""
    inputs, outputs = datasets
    return {
        "eventType": kind,
        **_event("RunEvent", time),
        "run": dict(run),
        "job": dict(job),
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def _event(kind: str, time: str) -> dict[str, Any]:
    return {"eventTime": time, "producer": PRODUCER, "schemaURL": f"{_EVENT}{kind}"}


def _field(each: Field) -> dict[str, Any]:
    field: dict[str, Any] = {"name": each.name, "type": each.type}
    if each.description:
        field["description"] = each.description
    if each.fields:
        field["fields"] = [_field(inside) for inside in each.fields]
    return field
