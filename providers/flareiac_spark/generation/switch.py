"""A job on its way to another generation of its checkpoint: its definition before and after, and how the new
one is to begin. Reads what the application was asked to run.
"""

from dataclasses import replace

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.checkpoint_definition import start_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import KnownJob
from flareiac_spark.definition.moved_checkpoint import relocated, relocated_spec
from flareiac_spark.definition.written_schemas import with_registered_ids
from flareiac_spark.engine.application import Applications, read_desired
from flareiac_spark.generation.generation_plan import begins, is_emptied, on_same_checkpoint
from flareiac_spark.start_from import EARLIEST, OLDEST_SNAPSHOT
from flareiac_spark_runtime.control import ControlError, JobSpec, TableOutput, job_spec_from_json


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationSwitch:
    """``before`` and ``old``: the recorded definition, and what was run of it last; None for a job that is
    new on its checkpoint. ``by``: for whom folders are prepared.
    """

    job: KnownJob
    checkpoint: str
    by: str
    number: int
    start_from: str
    before: JobDefinition | None
    after: JobDefinition
    old: JobSpec | None
    new: JobSpec

    @property
    def address(self) -> str:
        return self.job.address

    @property
    def number_before(self) -> int | None:
        return self.before.generation if self.before is not None else None

    @property
    def reads_from_the_start(self) -> bool:
        """Returns True if the position of the generation before does not matter."""
        return self.start_from in (EARLIEST, OLDEST_SNAPSHOT)

    def empties(self, output: TableOutput) -> bool:
        """Only where rows are read again; what replaces everything with each batch needs no emptying."""
        declared = self.after.table_outputs.get(output.name)
        return declared is not None and is_emptied(declared, self.start_from)


def begins_generation(request: ChangeRequest) -> bool:
    """Returns True if an apply begins a generation."""
    return begins(_recorded(request), JobDefinition.of(request.action.planned))


def switch_of(request: ChangeRequest, applications: Applications, *, early: bool = False) -> GenerationSwitch:
    """Only for what ``begins_generation``. ``early``: the tables that it refers to need not be there yet.
    Raises ``Failure``.
    """
    planned = with_registered_ids(request.action.planned, request.action.notes)
    project = applications.project
    after = JobDefinition.of(planned)
    assert after.checkpoint is not None, "only what has a checkpoint has generations"
    assert after.generation is not None, "only what has a checkpoint has generations"
    checkpoint = request.references[after.checkpoint.address]
    return GenerationSwitch(
        job=KnownJob.of(request.address, request.action.recorded),
        checkpoint=checkpoint.address,
        by=f"{project.lineage}/{checkpoint.address}",
        number=after.generation,
        start_from=start_of(after, request.references),
        before=_before(request),
        after=after,
        old=old_spec(request, applications),
        new=spec_of(request.address, planned, request.references, project, analysis=early),
    )


def old_spec(request: ChangeRequest, applications: Applications) -> JobSpec | None:
    """The definition before: what the application was last asked to run, which also an apply that failed may
    have changed; else the recorded one. None for a job that is new on its checkpoint. Raises ``Failure``.
    """
    before, recorded = _before(request), request.action.recorded
    if before is None or recorded is None:
        return None
    attributes = recorded.attributes
    desired = read_desired(applications.control(JobDefinition.of(attributes).runs_in))
    entry = KnownJob.of(request.address, recorded).entry_in(desired)
    if entry is not None:
        try:
            asked = job_spec_from_json(dict(entry.spec))
            return relocated_spec(asked, before, request.references, applications.project)
        except ControlError:
            pass  # of another release: the recorded definition is as good
    return spec_of(request.address, attributes, _references_before(request, before), applications.project)


def _before(request: ChangeRequest) -> JobDefinition | None:
    return on_same_checkpoint(_recorded(request), JobDefinition.of(request.action.planned))


def _recorded(request: ChangeRequest) -> JobDefinition | None:
    """The recorded definition, with its checkpoint where it has moved to."""
    if (recorded := request.action.recorded) is None:
        return None
    planned = JobDefinition.of(request.action.planned)
    return relocated(JobDefinition.of(recorded.attributes), planned, request.references)


def _references_before(request: ChangeRequest, before: JobDefinition) -> dict[str, Resolved]:
    """The references with the checkpoint as it was."""
    place = before.checkpoint
    if place is None or place.address not in request.references:
        return dict(request.references)
    checkpoint = request.references[place.address]
    was = {
        **checkpoint.attributes,
        "generation": before.generation,
        "location": before.checkpoint_location,
    }
    return {**request.references, place.address: replace(checkpoint, attributes=was)}
