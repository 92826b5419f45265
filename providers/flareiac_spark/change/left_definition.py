"""The definition with which a job left a checkpoint that it can go on from. Pure.

The state keeps the record of a job that is dropped with its checkpoint. A job that is put back there is
compared with it, like a job with its own record, whatever its address is now.
"""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Mismatch
from flareiac.sdk.references import LastUser
from flareiac.sdk.requests import PlanRequest
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity
from flareiac_spark.definition.moved_checkpoint import relocated
from flareiac_spark.generation.job_case import JobCase


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftDefinition:
    """``address``: that of the job which left it."""

    address: str
    job: JobDefinition


def last_user(request: PlanRequest, desired: JobDefinition) -> LastUser | None:
    """The job that left the state and can go on from the checkpoint of this one."""
    if desired.checkpoint is None:
        return None
    checkpoint = request.references.get(desired.checkpoint.address)
    return checkpoint.last_user if checkpoint is not None else None


def left_generation(request: PlanRequest, desired: JobDefinition) -> int | None:
    """The generation in which that job left the checkpoint."""
    user = last_user(request, desired)
    try:
        return JobDefinition.of(user.attributes).generation if user is not None else None
    except Mismatch:
        return None


def left_definition(case: JobCase) -> LeftDefinition | None:
    """None for a recorded job, and where another query than the one that was left has run there, another
    generation is asked for, or the record is of a release that is not understood.
    """
    user = last_user(case.request, case.desired)
    if case.request.recorded is not None or user is None or case.facts.digest is not None:
        return None
    try:
        queries = _queries(user)
        job = relocated(JobDefinition.of(user.attributes), case.desired, case.request.references)
    except Mismatch:
        return None
    same_place = (job.checkpoint_location, job.generation) == (
        case.desired.checkpoint_location,
        case.desired.generation,
    )
    known = all(
        checkpoint.query_id == queries.get(name) for name, checkpoint in case.facts.checkpoints.items()
    )
    return LeftDefinition(address=user.address, job=job) if same_place and known else None


def _queries(user: LastUser) -> dict[str, str | None]:
    """The ids of its queries, by their names."""
    return {name: query.id for name, query in JobIdentity.of(user.identity).queries.items()}
