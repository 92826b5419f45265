"""The recorded definition and the observed facts of a job, as its planner compares them. Pure."""

from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present
from flareiac_spark.change.changes import (
    Restart,
)
from flareiac_spark.change.diff import is_fresh
from flareiac_spark.change.left_definition import last_user
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity, recorded_identity
from flareiac_spark.definition.moved_checkpoint import follows_move, relocated
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.observation.job import JobFacts, OutputFacts, observed_facts


def recorded_job(request: PlanRequest) -> JobDefinition | None:
    """The recorded definition; where its checkpoint moves to the declared place, as if it were there."""
    if request.recorded is None:
        return None
    recorded = JobDefinition.of(request.recorded.attributes)
    if request.desired is None:
        return recorded
    return relocated(recorded, JobDefinition.of(request.desired), request.references)


def checkpoint_move(case: JobCase) -> Restart | None:
    """The change of the place of its checkpoint, where that moves."""
    if case.request.recorded is None:
        return None
    recorded = JobDefinition.of(case.request.recorded.attributes)
    if not follows_move(recorded, case.desired, case.request.references):
        return None
    old, new = recorded.checkpoint_location, case.desired.checkpoint_location
    why = f"its files are moved from {old} to {new} meanwhile, and it goes on there where it stood"
    return Restart(path=("checkpoint_location",), text="the place of its checkpoint", why=why)


def facts_of(request: PlanRequest) -> JobFacts:
    facts = observed_facts(request.observed)
    if facts is None:
        facts = _assumed(request) if isinstance(request.observed, Present) else JobFacts()
    identity = request.recorded.identity if request.recorded is not None else _left_identity(request)
    if "proofs" not in identity:
        return facts  # as nearly always: an identity is not decoded for it
    return replace(facts, proofs=JobIdentity.of(identity).proofs)


def _left_identity(request: PlanRequest) -> Attributes:
    """The identity of the job that left the checkpoint of a new one; empty where none did."""
    user = last_user(request, JobDefinition.of(request.desired)) if request.desired is not None else None
    return user.identity if user is not None else {}


def _assumed(request: PlanRequest) -> JobFacts:
    """The facts where nothing was looked at (-refresh=none): queries that are recorded count as having run,
    since a refusal must not get lost.
    """
    queries = recorded_identity(request.recorded).queries
    return JobFacts(
        checkpoints={
            name: OutputFacts(query_id=query.id or "", started=0, committed=0)
            for name, query in queries.items()
        }
    )


def begins_generation(case: JobCase) -> bool:
    """Returns True if apply prepares a generation for a job that is made: one that was raised, or later than
    the first and not begun.
    """
    recorded = recorded_job(case.request)
    if recorded is not None:
        return is_fresh(recorded, case.desired)
    return (case.desired.generation or 1) > 1 and not case.facts.started
