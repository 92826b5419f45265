"""The type ``job``. What reads queries, the SQL parser among it, is loaded when there is a query to read."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.addresses import block_type
from flareiac.kernel.articles import with_article
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.changes import Usage
from flareiac.sdk.data_flow import DataFlow
from flareiac.sdk.importing import WrittenBlock
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.lineage import LineageJob
from flareiac.sdk.maintenance import Hold
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.results import Recorded
from flareiac.sdk.type_roles import Locating, Planner, Planning, Recording, Relations, Showing
from flareiac.sdk.upgrades import without_identity
from flareiac_spark.definition.schema import SCHEMA
from flareiac_spark.definition.written_path import written_path


def _planner() -> Planner:
    from flareiac_spark.job.plan import JobPlanner

    return JobPlanner()


def _examine(recorded: Recorded) -> object:
    from flareiac_spark.definition.job_definition import JobDefinition
    from flareiac_spark.definition.job_identity import JobIdentity
    from flareiac_spark.definition.streamed_tables import streamed_tables
    from flareiac_spark_runtime.control.timestamps import start_timestamp

    definition = JobDefinition.of(recorded.attributes)
    for reference, kind in ((definition.checkpoint, "checkpoint"), (definition.engine, "engine")):
        if reference is not None and block_type(reference.address) != kind:
            raise ValueError(f"{reference.address} is not the address of {with_article(kind)}")
    starts = [
        start_timestamp(streamed_table.start_from, now=0.0) for streamed_table in streamed_tables(definition)
    ]
    return definition, definition.runs_in, JobIdentity.of(recorded.identity), starts


def _written(label: str, attributes: Attributes) -> WrittenBlock:
    from flareiac_spark.definition.written_block import written_block

    return written_block(label, attributes)


def _canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    from flareiac_spark.definition.canonical import canonical

    return canonical(decoded, references, project, diagnostics)


def _usages(address: str, attributes: Attributes, references: References) -> tuple[Usage, ...]:
    from flareiac_spark.definition.usages import usages

    return usages(address, attributes, references)


def _data_flow(address: str, attributes: Attributes, references: References) -> DataFlow:
    from flareiac_spark.change.data_flow import data_flow

    return data_flow(address, attributes, references)


def _lineage_job(attributes: Attributes, references: References, project: Project) -> LineageJob | None:
    from flareiac_spark.change.lineage_job import lineage_job

    return lineage_job(attributes, references, project)


def _holds(address: str, attributes: Attributes, references: References, facts: object) -> tuple[Hold, ...]:
    from flareiac_spark.generation.snapshot_holds import holds

    return holds(address, attributes, references, facts)


def _kept_by(attributes: Attributes) -> str | None:
    from flareiac_spark.generation.snapshot_holds import kept_by

    return kept_by(attributes)


def _renamed(identity: Attributes, address: str, moves: Mapping[str, str]) -> Attributes:
    from flareiac_spark.definition.job_identity import identity_renamed

    return identity_renamed(identity, address, moves)


def _earlier_states(address: str, identity: Attributes) -> tuple[EarlierState, ...]:
    from flareiac_spark.generation.emptied_tables import earlier_states

    return earlier_states(address, identity)


def _sources(attributes: Attributes, project: Project) -> tuple[str, ...]:
    from flareiac_spark.definition.canonical import sources

    return sources(attributes, project)


JOB: Final = ResourceType(
    name="job",
    kind=Kind.MANAGED,
    schema=SCHEMA,
    description="A streaming or batch query: inputs, steps, outputs.",
    canonical=_canonical,
    planning=Planning(planner=_planner),
    recording=Recording(
        examine=_examine,
        kept_by=_kept_by,
        renamed=_renamed,
        # Version 1 recorded what only an observation says.
        upgrades=(without_identity("observed"),),
    ),
    relations=Relations(
        usages=_usages,
        data_flow=_data_flow,
        lineage_job=_lineage_job,
        holds=_holds,
        earlier_states=_earlier_states,
    ),
    locating=Locating(read=_sources),
    showing=Showing(written=_written, written_path=written_path, import_ids=""),
)
