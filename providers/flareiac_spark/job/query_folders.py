"""The folders of the checkpoints of a job's queries. Touches the disk, by reading only."""

from collections.abc import Iterable

from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark.checkpoint_files.generations import layout_of
from flareiac_spark.checkpoint_files.layout import folder_of, recorded_layout
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.moved_checkpoint import standing_location
from flareiac_spark.places import place_of
from flareiac_spark_runtime.storage import Place


def query_folders(
    job: JobDefinition, references: References, project: Project, names: Iterable[str]
) -> dict[str, Place]:
    """The folder of the checkpoint of each query, by name. Raises ``Damaged``."""
    checkpoint = references.get(job.checkpoint.address) if job.checkpoint is not None else None
    standing = standing_location(job, references)
    if checkpoint is None or standing is None or job.generation is None:
        return {}
    location, generation = place_of(standing, project), job.generation
    layout = layout_of(location, generation, recorded_layout(checkpoint.identity))
    return {name: folder_of(location, layout, name, generation) for name in names}
