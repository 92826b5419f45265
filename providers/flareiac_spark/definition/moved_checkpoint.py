"""Relates a job to a checkpoint that is at another place than the job was recorded with, because it moves or
has moved. Pure.

The location in a job's record is that of its last apply. The checkpoint's own record says where the folder
is: an apply that was interrupted between the two leaves the older one in the job.
"""

from dataclasses import replace

from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark.checkpoint_files.layout import CheckpointLayout, recorded_layout
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.places import place_of
from flareiac_spark_runtime.control import JobSpec


def relocated(recorded: JobDefinition, desired: JobDefinition, references: References) -> JobDefinition:
    """The recorded definition with its checkpoint at the declared place, where that is the same checkpoint:
    whatever else differs is then a difference between definitions on one checkpoint.
    """
    if not follows_move(recorded, desired, references):
        return recorded
    return replace(recorded, checkpoint_location=desired.checkpoint_location)


def follows_move(recorded: JobDefinition, desired: JobDefinition, references: References) -> bool:
    """Returns True where the checkpoint of the recorded definition moves to the declared location."""
    old, new = recorded.checkpoint_location, desired.checkpoint_location
    layout = _layout(desired, references)
    if layout is None or old is None or new is None or old == new:
        return False
    if layout.location is None:
        return recorded.checkpoint == desired.checkpoint
    return old in (layout.location, *layout.left)


def standing_location(job: JobDefinition, references: References) -> str | None:
    """The location of the checkpoint of a recorded or declared job, by the recorded moves."""
    layout, location = _layout(job, references), job.checkpoint_location
    return layout.location if layout is not None and location and layout.has_left(location) else location


def relocated_spec(spec: JobSpec, job: JobDefinition, references: References, project: Project) -> JobSpec:
    """The spec that an application was asked to run, in the folders that the checkpoint has moved to."""
    layout = _layout(job, references)
    if layout is None or layout.location is None:
        return spec
    for location in layout.left:
        if location != layout.location:
            spec = _in_folders_of(spec, location, layout.location, project)
    return spec


def before_the_move(
    spec: JobSpec,
    recorded: JobDefinition,
    desired: JobDefinition,
    references: References,
    project: Project,
) -> JobSpec:
    """The spec of the declared definition in the folders that its checkpoint still has, where it is yet to
    move: its queries are then those of the spec before.
    """
    old, new = standing_location(recorded, references), desired.checkpoint_location
    if not follows_move(recorded, desired, references) or old is None or new is None:
        return spec
    return _in_folders_of(spec, new, old, project)


def _in_folders_of(spec: JobSpec, old: str, new: str, project: Project) -> JobSpec:
    """A spec with each folder below the one location at the same place below the other."""
    before, after = str(place_of(old, project)), str(place_of(new, project))

    def there(folder: str | None) -> str | None:
        if folder is None or not f"{folder}/".startswith(f"{before}/"):
            return folder
        return f"{after}{folder.removeprefix(before)}"

    return replace(
        spec, outputs=tuple(replace(output, checkpoint=there(output.checkpoint)) for output in spec.outputs)
    )


def _layout(job: JobDefinition, references: References) -> CheckpointLayout | None:
    """That of the checkpoint of a job; None where it is not recorded."""
    checkpoint = references.get(job.checkpoint.address) if job.checkpoint is not None else None
    return recorded_layout(checkpoint.identity) if checkpoint is not None and checkpoint.identity else None
