"""The lineage that a configuration declares, for other programs. Pure."""

from collections.abc import Iterator, Mapping

from flareiac.kernel.addresses import block_type
from flareiac.model.desired import Desired
from flareiac.model.lineage import DeclaredJob, DeclaredLineage
from flareiac.sdk.lineage import job_namespace
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType


def declared_lineage(
    desired: Desired, types: Mapping[str, ResourceType], references: Mapping[str, Resolved], project: Project
) -> DeclaredLineage:
    """Every declared dataset, used or not, and every job."""
    named = (
        (address, types[block_type(address)].relations.dataset(resource.attributes, references, project))
        for address, resource in sorted(desired.resources.items())
    )
    datasets = {address: dataset for address, dataset in named if dataset is not None}
    owners = {address: desired.resources[address].owner for address in datasets}
    return DeclaredLineage(
        namespace=job_namespace(project.workspace),
        datasets=datasets,
        owners={address: owner for address, owner in owners.items() if owner is not None},
        jobs=tuple(_jobs(desired, types, references, project)),
    )


def _jobs(
    desired: Desired, types: Mapping[str, ResourceType], references: Mapping[str, Resolved], project: Project
) -> Iterator[DeclaredJob]:
    for address, resource in sorted(desired.resources.items()):
        relations = types[block_type(address)].relations
        job = relations.lineage_job(resource.attributes, references, project)
        if job is not None:
            flow = relations.data_flow
            columns = () if flow is None else flow(address, resource.attributes, references).columns
            yield DeclaredJob(address=address, job=job, columns=columns, owner=resource.owner)
