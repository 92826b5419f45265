"""Renders declared lineage as events of OpenLineage: one for each dataset and one for each job, sorted, so
that equal declarations make equal lines.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from flareiac.model.lineage import DeclaredJob, DeclaredLineage
from flareiac.sdk.data_flow import EVERY_COLUMN, ColumnFlow
from flareiac.sdk.dataset_names import DatasetName
from flareiac.sdk.lineage import Dataset
from flareiac.sdk.openlineage import (
    dataset_event,
    dataset_facets,
    facet,
    job_event,
    job_of,
    job_type,
    named,
    owned_facet,
    sql_facet,
)
from flareiac.sdk.owner import Owner

_DIRECT: Final = [{"type": "DIRECT"}]


def openlineage_events(lineage: DeclaredLineage, *, time: str) -> Iterator[dict[str, Any]]:
    """The events, datasets first. ``time``: ISO 8601 in UTC."""
    for dataset, owner in _datasets(lineage):
        facets = dataset_facets(dataset) | _ownership(owner, "Dataset")
        yield dataset_event(time, named(dataset.name, facets))
    for job in lineage.jobs:
        yield _job_event(job, lineage, time)


def _datasets(lineage: DeclaredLineage) -> list[tuple[Dataset, Owner | None]]:
    """Every dataset once, sorted. A topic has no columns but those that streams declare of it."""
    owned = [(dataset, lineage.owners.get(address)) for address, dataset in lineage.datasets.items()]
    known: dict[DatasetName, tuple[Dataset, Owner | None]] = {
        each.name: (each, owner) for each, owner in owned
    }
    for job in lineage.jobs:
        for part in job.job.outputs:
            if isinstance(part, Dataset):
                known.setdefault(part.name, (part, None))
        for origin in job.job.origins:
            for _part, read in _known(origin.parts, lineage):
                dataset, owner = known.setdefault(read.name, (read, None))
                known[read.name] = (
                    dataset if dataset.fields else replace(dataset, fields=origin.fields),
                    owner,
                )
    return [known[name] for name in sorted(known, key=lambda name: (name.namespace, name.name))]


def _job_event(declared: DeclaredJob, lineage: DeclaredLineage, time: str) -> dict[str, Any]:
    job = declared.job
    facets = (
        job_type(is_streaming=job.is_streaming) | sql_facet(job.queries) | _ownership(declared.owner, "Job")
    )
    inputs = (part for origin in job.origins for part in origin.parts)
    outputs = [
        named(dataset.name, _column_lineage(declared, part, lineage))
        for part, dataset in _known(job.outputs, lineage)
    ]
    return job_event(
        time,
        job_of(job.namespace or lineage.namespace, declared.address, facets),
        [named(dataset.name) for _part, dataset in _known(inputs, lineage)],
        outputs,
    )


def _known(parts: Iterable[str | Dataset], lineage: DeclaredLineage) -> list[tuple[str | Dataset, Dataset]]:
    """The datasets of parts, each once."""
    known: dict[object, tuple[str | Dataset, Dataset]] = {}
    for part in parts:
        dataset = lineage.datasets.get(part) if isinstance(part, str) else part
        if dataset is not None:
            known.setdefault(dataset.name, (part, dataset))
    return list(known.values())


def _column_lineage(
    declared: DeclaredJob, target: str | Dataset, lineage: DeclaredLineage
) -> dict[str, dict[str, Any]]:
    """The facet of an output; none where no column can be followed."""
    origins = {origin.address: origin.parts for origin in declared.job.origins}
    fields = {
        flow.column: {"inputFields": made_of}
        for flow in declared.columns
        if flow.target == target and flow.column != EVERY_COLUMN
        if (made_of := list(_made_of(flow, origins, lineage)))
    }
    return facet("columnLineage", fields=fields) if fields else {}


def _made_of(
    flow: ColumnFlow, origins: Mapping[str, tuple[str | Dataset, ...]], lineage: DeclaredLineage
) -> Iterator[dict[str, Any]]:
    for source in flow.sources:
        if source.column == EVERY_COLUMN:
            continue
        for _part, dataset in _known(origins.get(source.address, ()), lineage):
            place = {"namespace": dataset.name.namespace, "name": dataset.name.name}
            yield {**place, "field": source.column, "transformations": _DIRECT}


def _ownership(owner: Owner | None, holder: Any) -> dict[str, dict[str, Any]]:
    if owner is None:
        return {}
    return owned_facet("ownership", holder, owners=[{"name": owner.text, "type": "OWNER"}])
